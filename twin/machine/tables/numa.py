"""SRAT, SLIT and HMAT: which memory belongs to which socket, how far it is and how fast.

Latency and bandwidth are those of the Purley platform in the WarpX-PM paper ("The Intel Optane DC
PM"): a socket's PMem reads at 39 GB/s and writes at 13 GB/s after 174 ns, its DRAM at 104 and
80 GB/s after 79 ns.  The paper gives no figures for the other socket's memory: those are assumed.
SLIT's distances are those of such boards (10, 21, 17, 28); without SLIT the kernel puts every
region on node 0.
"""
import struct
from dataclasses import dataclass

from .. import acpi, rules
from ..state import State
from ..topology import Topology

SAME, REMOTE, PMEM, REMOTE_PMEM = 10, 21, 17, 28


@dataclass(frozen=True)
class Speed:
    latency_ns: int
    read_gb_s: int
    write_gb_s: int


SPEEDS = {SAME: Speed(79, 104, 80), PMEM: Speed(174, 39, 13),
          REMOTE: Speed(139, 34, 33), REMOTE_PMEM: Speed(232, 18, 7)}     # remote: assumed

# SRAT, ACPI 6.5, 5.2.16
CPU_AFFINITY, MEMORY_AFFINITY = 0, 1
ENABLED, HOT_PLUG, NONVOLATILE = 1, 2, 4
# HMAT, ACPI 6.5, 5.2.28
PROXIMITY, LATENCY_BANDWIDTH, SIDE_CACHE = 0, 1, 2
READ_LATENCY, WRITE_LATENCY, READ_BANDWIDTH, WRITE_BANDWIDTH = 1, 2, 4, 5
INITIATOR_VALID = 1
PICOSECONDS_PER_NS, MB_PER_GB = 1000, 1024
ONE_LEVEL, DIRECT_MAPPED, WRITE_BACK, LINE = 1, 1 << 8, 1 << 12, 64


def distance(topology: Topology, a: int, b: int) -> int:
    """SLIT distance between two proximity domains."""
    if a == b:
        return SAME
    same_socket = a % topology.sockets == b % topology.sockets
    if max(a, b) < topology.sockets:
        return REMOTE
    return PMEM if same_socket else REMOTE_PMEM


def pmem_domains(topology: Topology, state: State) -> list[int]:
    return sorted({topology.pmem_domain(r.socket) for r in state.regions})


def _cpu(socket: int, apic_id: int) -> bytes:
    return struct.pack("<BBBBIB3xI", CPU_AFFINITY, 16, socket, apic_id, ENABLED, 0, 0)


def _memory(domain: int, base: int, size: int, flags: int) -> bytes:
    return struct.pack("<BBI2xQQ4xI8x", MEMORY_AFFINITY, 40, domain, base, size, flags)


def srat(topology: Topology, state: State) -> bytes:
    body = b"".join(_cpu(socket, apic) for socket, apic in topology.cpus())
    for socket in range(topology.sockets):
        for r in rules.visible_memory(topology, state, socket):
            body += _memory(socket, r.base, r.size, ENABLED)
    for region, r in rules.region_ranges(topology, state):
        body += _memory(topology.pmem_domain(region.socket), r.base, r.size,
                        ENABLED | HOT_PLUG | NONVOLATILE)
    return acpi.table(b"SRAT", 3, struct.pack("<I8x", 1) + body)


def slit(topology: Topology, state: State) -> bytes:
    """Covers every domain number up to the highest one, present or not."""
    count = max([topology.sockets - 1, *pmem_domains(topology, state)]) + 1
    cells = bytes(distance(topology, a, b) for a in range(count) for b in range(count))
    return acpi.table(b"SLIT", 1, struct.pack("<Q", count) + cells)


def _proximity(topology: Topology, domain: int) -> bytes:
    return struct.pack("<HHIHHII20x", PROXIMITY, 0, 40, INITIATOR_VALID, 0,
                       domain % topology.sockets, domain)


def _matrix(kind: int, unit: int, initiators: list[int], targets: list[int], cells) -> bytes:
    """`unit`: picoseconds or MB/s that a cell counts."""
    lists = struct.pack(f"<{len(initiators)}I{len(targets)}I", *initiators, *targets)
    lists += struct.pack(f"<{len(initiators) * len(targets)}H", *cells)
    return struct.pack("<HHIBBBBII4xQ", LATENCY_BANDWIDTH, 0, 32 + len(lists), 0, kind, 0, 0,
                       len(initiators), len(targets), unit) + lists


def _matrices(topology: Topology, initiators: list[int], targets: list[int]) -> bytes:
    speeds = [SPEEDS[distance(topology, i, t)] for i in initiators for t in targets]
    latency = [s.latency_ns for s in speeds]
    kinds = ((READ_LATENCY, PICOSECONDS_PER_NS, latency),
             (WRITE_LATENCY, PICOSECONDS_PER_NS, latency),
             (READ_BANDWIDTH, MB_PER_GB, [s.read_gb_s for s in speeds]),
             (WRITE_BANDWIDTH, MB_PER_GB, [s.write_gb_s for s in speeds]))
    return b"".join(_matrix(kind, unit, initiators, targets, cells) for kind, unit, cells in kinds)


def _side_cache(topology: Topology, domain: int) -> bytes:
    """Memory Mode: the socket's DRAM is a direct-mapped write-back cache."""
    attributes = ONE_LEVEL | ONE_LEVEL << 4 | DIRECT_MAPPED | WRITE_BACK | LINE << 16
    return struct.pack("<HHII4xQI2xH", SIDE_CACHE, 0, 32, domain, topology.dram_per_socket,
                       attributes, 0)


def hmat(topology: Topology, state: State) -> bytes:
    initiators = list(range(topology.sockets))
    targets = initiators + pmem_domains(topology, state)
    body = b"".join(_proximity(topology, d) for d in targets)
    body += _matrices(topology, initiators, targets)
    if state.two_level:
        body += b"".join(_side_cache(topology, s) for s in initiators)
    return acpi.table(b"HMAT", 2, bytes(4) + body)
