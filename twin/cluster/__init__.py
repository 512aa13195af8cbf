"""The emulated cluster: one head node and N compute nodes, each a QEMU guest, under one supervisor."""
