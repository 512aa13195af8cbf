"""The emulated node's hardware: topology, firmware, ACPI and SMBIOS tables, PMem DIMMs.

A node is a directory.  `Node.power_on()` is its power-on self-test (POST): it reads the goals that
ipmctl left in the DIMMs, applies or refuses them by `rules.py`, and writes the tables that the next
boot sees.  The caller starts QEMU, with `Node.qemu_args()` and `Node.kernel_args()`.
"""
from .faults import FAULTS
from .node import Node, NodeError
from .post import Post
from .rules import NoBoot
from .topology import GIB, KIB, MIB, Topology

__all__ = ["FAULTS", "GIB", "KIB", "MIB", "NoBoot", "Node", "NodeError", "Post", "Topology"]
