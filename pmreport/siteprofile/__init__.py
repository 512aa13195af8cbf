"""Reports on site profiles, the measured bandwidths of nodes: pmem-profile(5)."""
