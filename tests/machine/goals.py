"""Goals as ipmctl leaves them in a DIMM: bytes made here, not by the code under test."""
import struct

from machine import GIB, MIB
from machine.image import Image

LINE_4K = 1
WHOLE = 2 * GIB                 # usable on a DIMM of the twin's node
RAW = WHOLE + 64 * MIB


def table(signature: bytes, body: bytes, revision: int = 0x12) -> bytes:
    data = bytearray(signature + struct.pack("<IBB26x", 36 + len(body), revision, 0) + body)
    data[9] = -sum(data) & 0xFF
    return bytes(data)


def member(serial: int, size: int, offset: int = 0) -> bytes:
    uid = struct.pack("<HBHI", 0x8980, 0x21, 0x2120, serial)
    return uid + bytes(8 + 15) + struct.pack("<QQ", offset, size)


def interleave_set(index: int, members: list[bytes], line: int = LINE_4K) -> bytes:
    body = b"".join(members)
    return struct.pack("<HHHBBBB3xB10x", 5, 24 + len(body), index, len(members), 2, line, line,
                       0) + body


def cin(persistent: int, sets: list[bytes] = (), sequence: int = 1, revision: int = 0x12) -> bytes:
    partition = struct.pack("<HHIQ", 4, 16, 0, persistent)
    return table(b"CIN_", struct.pack("<I8x", sequence) + partition + b"".join(sets), revision)


def memory(node) -> dict:
    """All PMem is main memory."""
    overhead = node.topology.pmem_overhead
    return {d: cin(overhead) for d in node.topology.dimms}


def app_direct(node) -> dict:
    """One set a socket over all of its DIMMs."""
    topology, goals = node.topology, {}
    size = topology.pmem_per_dimm
    for socket in range(topology.sockets):
        dimms = topology.dimms_of(socket)
        whole = interleave_set(socket + 1, [member(d.serial, size) for d in dimms])
        goals.update((d, cin(topology.pmem_raw, [whole])) for d in dimms)
    return goals


def mixed(node) -> dict:
    """About half of each DIMM is main memory."""
    topology, goals = node.topology, {}
    half = topology.pmem_per_dimm // 2 // GIB * GIB
    for dimm in topology.dimms:
        dimms = topology.dimms_of(dimm.socket)
        whole = interleave_set(dimm.socket + 1, [member(d.serial, half) for d in dimms])
        goals[dimm] = cin(half + topology.pmem_overhead, [whole])
    return goals


def stage(node, goals: dict) -> None:
    """What create -goal does: keep CCUR, put the goal in, empty COUT, blank the labels."""
    with Image(node.image_path, node.topology) as image:
        for dimm, goal in goals.items():
            old = image.read(dimm.mailbox, 0x20000)
            size, at = struct.unpack_from("<II", old, 36)
            ccur = old[at:at + size]
            spans = struct.pack("<6I", len(ccur), 60, len(goal), 60 + len(ccur), 0, 0)
            partition = table(b"DMHD", spans) + ccur + goal
            image.write(dimm.mailbox, partition.ljust(0x20000, b"\0"))
            image.write(dimm.mailbox + 0x20000, bytes(0x20000))


def stored(node, dimm) -> dict[str, bytes]:
    """CCUR, CIN and COUT as they lie in the DIMM."""
    with Image(node.image_path, node.topology) as image:
        data = image.read(dimm.mailbox, 0x20000)
    assert data[:4] == b"DMHD" and sum(data[:60]) & 0xFF == 0
    spans = struct.unpack_from("<6I", data, 36)
    return {name: data[at:at + size]
            for name, size, at in zip(("ccur", "cin", "cout"), spans[::2], spans[1::2])}


def status(node, dimm) -> int:
    """CCUR ConfigStatus as it lies in the DIMM."""
    return struct.unpack_from("<H", stored(node, dimm)["ccur"], 36)[0]


def validation(node, dimm) -> int | None:
    """COUT ValidationStatus as it lies in the DIMM; None: the goal was not answered."""
    cout = stored(node, dimm)["cout"]
    return cout[40] if cout else None
