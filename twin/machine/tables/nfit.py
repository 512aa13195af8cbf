"""NFIT: which DIMMs there are, and how regions are interleaved over them.  ACPI 6.5, 5.2.25."""
import struct

from .. import acpi, pcd, rules
from ..dimm import DEVICE, INTERFACE_APP_DIRECT, SUBSYSTEM_200_SERIES
from ..state import Region, State
from ..topology import INTERLEAVE_LINE, Dimm, Range, Topology

SPA, REGION_MAPPING, INTERLEAVE, CONTROL_REGION, CAPABILITIES = 0, 1, 2, 4, 7
# 66f0d379-b4f3-4074-ac43-0d3318b78cdb
PMEM_GUID = bytes.fromhex("79d3f066f3b47440ac430d3318b78cdb")
PROXIMITY_VALID = 1 << 1
WRITE_BACK, NON_VOLATILE = 0x8, 0x8000                          # EFI memory attributes
UID_VALID = 1                                                   # manufacturing place and date
FLUSH_CPU_CACHE, FLUSH_MEMORY = 1, 2


def _spa(topology: Topology, index: int, region: Region, where: Range) -> bytes:
    return struct.pack("<HHHH4xI16sQQQ", SPA, 56, index, PROXIMITY_VALID,
                       topology.pmem_domain(region.socket), PMEM_GUID, where.base, where.size,
                       WRITE_BACK | NON_VOLATILE)


def _interleave(index: int, position: int) -> bytes:
    """One line of the set lies on each DIMM in turn."""
    return struct.pack("<HHH2xIII", INTERLEAVE, 20, index, 1, INTERLEAVE_LINE, position)


def _mapping(dimm: Dimm, number: int, spa: int, size: int, offset: int, base: int,
             interleave: int, ways: int) -> bytes:
    return struct.pack("<HHIHHHHQQQHHH2x", REGION_MAPPING, 48, dimm.handle, dimm.pmem_smbios,
                       number, spa, dimm.index + 1, size, offset, base, interleave, ways, 0)


def _control_region(dimm: Dimm) -> bytes:
    return struct.pack("<HHHHHHHHHBBH2xIHH", CONTROL_REGION, 32, dimm.index + 1, pcd.MANUFACTURER,
                       DEVICE, 0, pcd.MANUFACTURER, SUBSYSTEM_200_SERIES, 0, UID_VALID,
                       pcd.MADE_AT, pcd.MADE_WHEN, dimm.serial, INTERFACE_APP_DIRECT, 0)


def _member(state: State, dimm: Dimm, number: int, spa: int, region: Region,
            interleave: int) -> bytes:
    """A DIMM's part in a region; its persistent partition begins after the volatile one."""
    position, ways = region.members.index(dimm.handle), len(region.members)
    base = state.dimms[dimm.name].volatile + region.offset
    return _mapping(dimm, number, spa, region.share, position * INTERLEAVE_LINE, base,
                    interleave, ways)


def nfit(topology: Topology, state: State) -> bytes:
    placed = list(enumerate(rules.region_ranges(topology, state), 1))
    body = b"".join(_spa(topology, i, region, where) for i, (region, where) in placed)
    interleaves = 0
    for dimm in topology.dimms:
        mine = [(i, region) for i, (region, _) in placed if dimm.handle in region.members]
        for number, (spa, region) in enumerate(mine):
            interleaved = len(region.members) > 1
            if interleaved:
                interleaves += 1
                body += _interleave(interleaves, region.members.index(dimm.handle))
            body += _member(state, dimm, number, spa, region, interleaves if interleaved else 0)
        if not mine:
            body += _mapping(dimm, 0, 0, topology.pmem_raw, 0, 0, 0, 0)
        body += _control_region(dimm)
    body += struct.pack("<HHB3xI4x", CAPABILITIES, 16, 1, FLUSH_CPU_CACHE | FLUSH_MEMORY)
    return acpi.table(b"NFIT", 1, bytes(4) + body)
