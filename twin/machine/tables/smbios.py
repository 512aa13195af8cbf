"""SMBIOS 3.2: a memory device structure (type 17) for each DDR and each PMem DIMM.

QEMU takes them one a file; on the bench ipmctl reads them as `DMI` behind `smbios_entry_point`.
"""
import struct

from .. import acpi
from ..topology import MIB, Dimm, Topology

MEMORY_DEVICE, END_OF_TABLE = 17, 127
ARRAY_HANDLE, NO_ERROR_INFO, END_HANDLE = 0x10, 0xFFFE, 0xFEFF
FORM_DIMM, DDR4, LOGICAL_NON_VOLATILE = 9, 0x1A, 0x1F
SYNCHRONOUS, NON_VOLATILE = 1 << 7, 1 << 12
EXTENDED = 0x7FFF                       # size in MiB from which the extended field counts
TOTAL_BITS, DATA_BITS, SPEED, MILLIVOLT = 72, 64, 3200, 1200
ENTRY_POINT_SIZE, ENTRY_CHECKSUM_AT = 24, 5


def _memory_device(handle: int, size: int, kind: int, detail: int, strings: list[str]) -> bytes:
    """The strings are: locator, bank, maker, serial, asset tag, part number."""
    mib = size // MIB
    extended = mib if mib >= EXTENDED else 0
    fixed = struct.pack("<BBHHHHHHBBBBBHHBBBBBIHHHH", MEMORY_DEVICE, 40, handle, ARRAY_HANDLE,
                        NO_ERROR_INFO, TOTAL_BITS, DATA_BITS, min(mib, EXTENDED), FORM_DIMM, 0,
                        1, 2, kind, detail, SPEED, 3, 4, 5, 6, 0, extended, SPEED,
                        MILLIVOLT, MILLIVOLT, MILLIVOLT)
    return fixed + b"".join(s.encode() + b"\0" for s in strings) + b"\0"


def _pair(topology: Topology, dimm: Dimm) -> list[bytes]:
    """A channel's DDR DIMM, in slot 1, and its PMem DIMM, in slot 2."""
    letter = chr(ord("A") + dimm.index % topology.dimms_per_socket)
    bank, locator = f"NODE {dimm.socket}", f"CPU{dimm.socket}_DIMM_{letter}"
    ddr = [f"{locator}1", bank, "Samsung", f"{dimm.index:08}", "none", "M393A2K40DB3"]
    pmem = [f"{locator}2", bank, "Intel", f"{dimm.serial:08x}", "none", "NMB1XXD128GPS"]
    devices = [_memory_device(dimm.ddr_smbios, topology.ddr_size, DDR4, SYNCHRONOUS, ddr)]
    if dimm in topology.dimms:
        devices.append(_memory_device(dimm.pmem_smbios, topology.pmem_raw, LOGICAL_NON_VOLATILE,
                                      SYNCHRONOUS | NON_VOLATILE, pmem))
    return devices


def structures(topology: Topology) -> list[bytes]:
    return [s for dimm in topology.slots for s in _pair(topology, dimm)]


def dmi(topology: Topology) -> bytes:
    """The whole structure table."""
    end = struct.pack("<BBH", END_OF_TABLE, 4, END_HANDLE) + b"\0\0"
    return b"".join(structures(topology)) + end


def entry_point(topology: Topology) -> bytes:
    """64-bit entry point."""
    entry = b"_SM3_" + struct.pack("<BBBBBBxIQ", 0, ENTRY_POINT_SIZE, 3, 2, 0, 1,
                                   len(dmi(topology)), 0)
    return acpi.checksummed(entry, ENTRY_CHECKSUM_AT)
