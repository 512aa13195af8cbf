"""Records of profiles, written by the format's description, for the tests of pmreport."""
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pmreport"))
sys.dont_write_bytecode = True

from pmprofile import records  # noqa: E402

MIB = 1 << 20
LARGE, EVERY, GRANULE, FIRST = 256 << 10, MIB, 64 << 10, 2 * MIB


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def record(kind: int, number: int, body: bytes) -> bytes:
    body = padded(body)
    return struct.pack("<HHI", kind, 8 + len(body), number) + body


def program(version: int = 1, budget: int = 64 * MIB) -> bytes:
    return record(1, version, struct.pack("<16s7QII", b"pmprofile", 0xabc, budget, LARGE, EVERY, GRANULE, FIRST, 0, 4711, 3) + b"/bin/app\0")


def frames_of(frames: tuple[tuple[int, str], ...], room: int) -> tuple[list[int], bytes]:
    """The numbers of a record's frames, with zeros up to its room, and their files."""
    return ([number for offset, _ in frames for number in (7, offset)] + [0, 0] * (room - len(frames)),
            b"".join(name.encode() + b"\0" for _, name in frames))


def site(key: int, *frames: tuple[int, str]) -> bytes:
    """With more than three frames, the others are in a record of their own before it."""
    places, files = frames_of(frames[:3], 3)
    own = record(2, len(frames[:3]), struct.pack("<7Q", key, *places) + files)
    places, files = frames_of(frames[3:], len(frames[3:]))
    return (record(8, len(frames[3:]), struct.pack(f"<{1 + len(places)}Q", key, *places) + files) if places else b"") + own


def thing(key: int, size: int, begin: int, end: int, space: int = 3) -> bytes:
    return record(3, space, struct.pack("<4Q2I", key, size, begin, end, 0, 0))


def mark(number: int, ns: int) -> bytes:
    return record(4, number, struct.pack("<Q", ns))


def end(ns: int, slabs: int = 0) -> bytes:
    return record(6, 0, struct.pack("<3Q", ns, 0, slabs))


def source(count: int, running: int = 0, kind: int = records.BURSTS, not_samples: int = 0) -> bytes:
    return record(9, kind, struct.pack("<10Q", 0, running // max(1, count), 0, running, 0, 0, 0, count, not_samples, 0))


def accesses(key: int, read: int, written: int = records.ABSENT, burst: int = 1, begin: int = 0, length: int = 1, large: bool = True,
             count: int = 1) -> bytes:
    return record(10, burst, struct.pack("<QIIQQQQQQ", key, 0, 0, begin, length, large, read, written, count))


def read(*parts: bytes) -> records.Profile:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "host.3.4711.pmprof"
        path.write_bytes(b"".join(parts))
        return records.read(path)


def counters(ns: int, *values: int) -> bytes:
    return record(7, 0, struct.pack("<6Q", ns, *values))


def phase(number: int, ns: int, name: str) -> bytes:
    return record(5, number, struct.pack("<Q", ns) + name.encode().ljust(64, b"\0"))
