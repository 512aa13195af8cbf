"""Reads a profile's file: runtime/profile/profile_format.h has the format."""
from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, NamedTuple

VERSION = 1
HEAD = struct.Struct("<HHI")
PROGRAM, SITE, OBJECT, ITERATION, PHASE, END, COUNTER, FURTHER_FRAMES, SOURCE, ACCESSES = range(1, 11)
PROGRAM_FIELDS = struct.Struct("<16s7QII")
OBJECT_FIELDS = struct.Struct("<QQQQII")
SITE_FRAMES = 3         # in a site's own record
SPACES = ("metadata", "temporary", "migration", "free", "pmem", "lent")
COUNTERS = ("cpu_ns", "page_faults", "instructions", "read_misses", "write_misses")
BURSTS, SAMPLES, FAULTS, COUNTS = range(1, 5)    # COUNTS: of no record, but of counts.py
SOURCES = {BURSTS: "bursts", SAMPLES: "samples", FAULTS: "faults", COUNTS: "counts"}
ABSENT = 0xffffffffffffffff
LARGEST = 1 << 57        # bytes of an address space
NO_RANK = 0xffffffff


class ProfileError(Exception):
    """A file that is not a profile, or cannot be read."""


class Frame(NamedTuple):
    build: int
    offset: int
    file: str


def site_key(frames: tuple[Frame, ...]) -> int:
    """The runtime's key of a call site: FNV-1a of builds and offsets."""
    found = 0xcbf29ce484222325
    for byte in b"".join(struct.pack("<QQ", frame.build, frame.offset) for frame in frames):
        found = (found ^ byte) * 0x100000001b3 % (1 << 64)
    return found


class Object(NamedTuple):
    space: int
    site: int
    bytes: int
    from_ns: int
    to_ns: int              # 0: live at the end
    from_iteration: int
    to_iteration: int


class Source(NamedTuple):
    """How accesses were measured: the record's number and fields."""
    kind: int
    event: int
    period: int
    enabled_ns: int
    running_ns: int
    cpu_ns: int
    lost: int
    throttled: int
    count: int              # epochs, or samples
    not_samples: int        # errno: why the processor does not sample
    elsewhere: int


class Accesses(NamedTuple):
    """Accesses to the objects of a site in a burst, or in a window of samples."""
    burst: int
    site: int
    iteration: int
    phases: int
    from_ns: int            # its begin; the epochs together, or the window
    length_ns: int
    is_large: int
    read_bytes: int         # with those that were written
    written_bytes: int | None
    count: int              # epochs of the burst, or samples of the site


@dataclass
class Profile:
    """The profile of one process."""
    path: Path
    build: int = 0
    budget_bytes: int = 0
    large_bytes: int = 0
    every_bytes: int = 0
    granule_bytes: int = 1
    start_ns: int = 0
    pid: int = 0
    rank: int = NO_RANK
    program: str = ""
    sites: dict[int, tuple[Frame, ...]] = field(default_factory=dict)
    further: dict[int, tuple[Frame, ...]] = field(default_factory=dict)     # of sites with more than their own record holds
    objects: list[Object] = field(default_factory=list)
    iterations: list[tuple[int, int]] = field(default_factory=list)     # number, ns
    phases: list[tuple[int, str]] = field(default_factory=list)         # ns, name
    counters: list[tuple[int, tuple[int | None, ...]]] = field(default_factory=list)    # ns, since the process began
    source: Source | None = None
    accesses: list[Accesses] = field(default_factory=list)
    end_ns: int = 0
    is_whole: bool = False
    lost_sites: int = 0
    first_slab_bytes: int = 0
    slab_bytes: int = 0


def texts(data: bytes) -> list[str]:
    return [text.decode(errors="replace") for text in data.split(b"\0")]


def split(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Kind, number and the rest of each record. An incomplete last record is left out: the process was killed."""
    at = 0
    while at + HEAD.size <= len(data):
        kind, size, number = HEAD.unpack_from(data, at)
        if size < HEAD.size or at + size > len(data):
            return
        yield kind, number, data[at + HEAD.size:at + size]
        at += size


def check(sound: bool) -> None:
    if not sound:
        raise ValueError


def take_program(profile: Profile, number: int, body: bytes) -> None:
    if number != VERSION:
        raise ProfileError(f"'{profile.path}': version {number}, this pmreport reads {VERSION}")
    (_, profile.build, profile.budget_bytes, profile.large_bytes, profile.every_bytes,
     profile.granule_bytes, profile.first_slab_bytes, profile.start_ns, profile.pid, profile.rank) = PROGRAM_FIELDS.unpack_from(body)
    profile.program = texts(body[PROGRAM_FIELDS.size:])[0]
    check(profile.every_bytes > 0 and profile.granule_bytes > 0)


def frames_in(body: bytes, number: int, room: int) -> tuple[Frame, ...]:
    """So many frames, behind the key; there is room for more before their files' names."""
    places = struct.unpack_from(f"<{2 * room}Q", body, 8)
    files = texts(body[8 + 16 * room:])
    return tuple(Frame(places[2 * i], places[2 * i + 1], files[i]) for i in range(number))


def take_site(profile: Profile, number: int, body: bytes) -> None:
    key, = struct.unpack_from("<Q", body)
    profile.sites[key] = frames_in(body, number, SITE_FRAMES)


def take_further_frames(profile: Profile, number: int, body: bytes) -> None:
    key, = struct.unpack_from("<Q", body)
    profile.further[key] = frames_in(body, number, number)


def take_object(profile: Profile, number: int, body: bytes) -> None:
    site, size, *rest = OBJECT_FIELDS.unpack_from(body)
    o = Object(number, site, size, *rest)
    check(o.space < len(SPACES) and 0 < o.bytes < LARGEST and (not o.to_ns or o.from_ns <= o.to_ns))
    profile.objects.append(o)


def take_iteration(profile: Profile, number: int, body: bytes) -> None:
    profile.iterations.append((number, *struct.unpack_from("<Q", body)))


def take_phase(profile: Profile, _: int, body: bytes) -> None:
    profile.phases.append((*struct.unpack_from("<Q", body), texts(body[8:])[0]))


def take_end(profile: Profile, _: int, body: bytes) -> None:
    profile.end_ns, profile.lost_sites, profile.slab_bytes = struct.unpack_from("<QQQ", body)
    profile.is_whole = True


def take_counters(profile: Profile, _: int, body: bytes) -> None:
    ns, *values = struct.unpack_from(f"<{1 + len(COUNTERS)}Q", body)
    profile.counters.append((ns, tuple(None if value == ABSENT else value for value in values)))


def take_source(profile: Profile, number: int, body: bytes) -> None:
    profile.source = Source(number, *struct.unpack_from("<10Q", body))


def take_accesses(profile: Profile, number: int, body: bytes) -> None:
    *fields, written, count = struct.unpack_from("<QIIQQQQQQ", body)
    profile.accesses.append(Accesses(number, *fields, None if written == ABSENT else written, count))


TAKERS = {PROGRAM: take_program, SITE: take_site, OBJECT: take_object, ITERATION: take_iteration, PHASE: take_phase,
          END: take_end, COUNTER: take_counters, FURTHER_FRAMES: take_further_frames,
          SOURCE: take_source, ACCESSES: take_accesses}


def last_time(profile: Profile) -> int:
    """The end of a process that was killed: the last time in its records."""
    return max([0] + [max(o.from_ns, o.to_ns) for o in profile.objects] + [ns for _, ns in profile.iterations])


def read(path: Path) -> Profile:
    profile = Profile(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ProfileError(f"'{path}': {error.strerror}") from None
    if not data[HEAD.size:].startswith(b"pmprofile\0"):
        raise ProfileError(f"'{path}' is not a profile of the placement runtime: give the directory that PM_PROFILE named")
    try:
        for kind, number, body in split(data):
            TAKERS.get(kind, lambda *_: None)(profile, number, body)
    except (struct.error, IndexError, ValueError):
        raise ProfileError(f"'{path}' is damaged") from None
    profile.sites = {key: frames + profile.further.get(key, ()) for key, frames in profile.sites.items()}
    profile.iterations.sort(key=lambda mark: mark[1])
    profile.end_ns = profile.end_ns or last_time(profile)
    return profile
