"""The meter: what programs and guests load and store, counted by QEMU, whatever they say of themselves."""
