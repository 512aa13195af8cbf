"""PCAT: the platform's capabilities with PMem, for ipmctl.

Revision 1.2; source: ipmctl, DcpmPkg/common/NvmTables.h.  In an interleave format each DIMM of a
socket has a bit, 2 * channel + controller on a board of two memory controllers.
"""
import struct

from .. import acpi, pcd
from ..state import State
from ..topology import ALIGNMENT, Topology

CAPABILITY, INTERLEAVES, SOCKET_SKU = 0, 1, 6
GOALS_SUPPORTED = 1
ONE_LEVEL, MEMORY_MODE, APP_DIRECT, MIXED = 1 << 0, 1 << 1, 1 << 2, 1 << 4
PERSISTENT_APP_DIRECT, EITHER_VOLATILE = 1 << 2, 1 << 4
SETS_PER_DIE, SETS_PER_DIMM = 8, 2
KIND_APP_DIRECT = 3
RECOMMENDED = 1 << 16


def _sets_limit() -> int:
    return SETS_PER_DIMM << 4 | SETS_PER_DIE


def _capability(topology: Topology, state: State) -> bytes:
    can = ONE_LEVEL | MEMORY_MODE | APP_DIRECT | MIXED
    mode = (int(state.two_level) | PERSISTENT_APP_DIRECT
            | (EITHER_VOLATILE if topology.allows_memory_mode else 0))
    return struct.pack("<HHBBBHIB2x", CAPABILITY, 16, GOALS_SUPPORTED, can, mode, _sets_limit(),
                       0, 1)


def dimm_bit(topology: Topology, controller: int, channel: int) -> int:
    return 1 << (channel * topology.controllers + controller)


def _formats(topology: Topology) -> list[int]:
    """Interleave formats: all DIMMs of the socket (recommended), then each alone."""
    single = [dimm_bit(topology, d.controller, d.channel) for d in topology.dimms_of(0)]
    return [sum(single) | RECOMMENDED] + (single if len(single) > 1 else [])


def _interleaves(topology: Topology) -> bytes:
    formats = _formats(topology)
    head = struct.pack("<HHB3xHBBHH", INTERLEAVES, 16 + 4 * len(formats), KIND_APP_DIRECT,
                       ALIGNMENT.bit_length() - 1, pcd.LINE_4K, pcd.LINE_4K, _sets_limit(),
                       len(formats))
    return head + struct.pack(f"<{len(formats)}I", *formats)


def _socket(topology: Topology, state: State, socket: int) -> bytes:
    """Memory that the socket's CPU can map, has mapped, and uses as cache."""
    configs = [state.dimms[d.name] for d in topology.dimms_of(socket)]
    mapped = sum(c.volatile_mapped + c.persistent_mapped for c in configs)
    cache = topology.dram_per_socket if state.two_level else 0
    return struct.pack("<HHHHQQQ", SOCKET_SKU, 32, socket, 0, topology.mapped_limit,
                       mapped + topology.dram_per_socket - cache, cache)


def pcat(topology: Topology, state: State) -> bytes:
    sockets = (_socket(topology, state, s) for s in range(topology.sockets))
    body = _capability(topology, state) + _interleaves(topology) + b"".join(sockets)
    return acpi.table(b"PCAT", pcd.REVISION, bytes(4) + body)
