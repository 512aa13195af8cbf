"""Platform configuration data (PCD) partition 1 of a DIMM: how ipmctl and the firmware talk.

    DMHD   header: where the other three are
    CCUR   current configuration, written by POST
    CIN_   configuration input: the goal, written by ipmctl, which then empties COUT
    COUT   configuration output: POST's answer to CIN_, carrying the same sequence number

A goal is pending while its CIN_ has no COUT with its sequence number.  Source of every structure:
ipmctl, DcpmPkg/common/PcdCommon.h; of the pending rule: RetrieveGoalConfigsFromPlatformConfigData
in DcpmPkg/driver/Core/Region.c.  Sizes in bytes.
"""
import struct
from dataclasses import dataclass

from . import acpi, mailbox
from .state import BAD_CHECKSUM, BAD_REVISION, Answer, DimmConfig, Region
from .topology import Dimm, Topology

REVISION = 0x12                         # 1.2: also PCAT's, the two must agree
SUPPORTED_REVISIONS = (0x11, 0x12)
MANUFACTURER = 0x8980                   # Intel's 8089, byte-swapped as JEDEC writes it
MADE_AT, MADE_WHEN = 0x21, 0x2120

_SPANS = struct.Struct("<6I")           # DMHD: size, offset of CCUR, CIN_, COUT
_CURRENT = struct.Struct("<H2xQQ")      # CCUR: status, volatile mapped, persistent mapped
_SEQUENCE = struct.Struct("<I8x")       # CIN_
_OUTPUT = struct.Struct("<IB7x")        # COUT: sequence, validation status
_RECORD = struct.Struct("<HH")          # type, length with this header
_PARTITION = struct.Struct("<HHIQ")     # type 4: header, change status, size of PM partition
_SET = struct.Struct("<HHHBBBB3xB10x")  # type 5: header, index, members, kind, line sizes, status
_MEMBER = struct.Struct("<HBHI5B3x15xQQ")   # of type 5: unique id, location, offset, size
_SET_STATUS_AT = 13

TYPE_PARTITION, TYPE_SET = 4, 5
APP_DIRECT = 2
LINE_4K = 1                             # bit 0 of an interleave size: 4 KiB


@dataclass(frozen=True)
class Member:
    serial: int
    offset: int
    size: int


@dataclass(frozen=True)
class GoalSet:
    """An interleave set that a goal asks for."""
    index: int
    channel_line: int
    controller_line: int
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Goal:
    """One DIMM's pending goal."""
    dimm: Dimm
    cin: bytes
    persistent: int | None              # size of the PM partition; None: leave it as it is
    sets: tuple[GoalSet, ...]

    @property
    def own(self) -> list[tuple[GoalSet, Member]]:
        """The parts of the goal's sets that lie on this DIMM."""
        return [(s, m) for s in self.sets for m in s.members if m.serial == self.dimm.serial]


class BadInput(ValueError):
    """A CIN_ that the firmware cannot read; `status` is the CCUR status that says why."""

    def __init__(self, status: int, why: str):
        super().__init__(why)
        self.status = status


@dataclass(frozen=True)
class Partition:
    """PCD partition 1, its tables as they are stored; an empty one is absent."""
    ccur: bytes = b""
    cin: bytes = b""
    cout: bytes = b""

    @classmethod
    def parse(cls, data: bytes) -> "Partition":
        """Split a partition; one without a good DMHD holds nothing."""
        end = acpi.HEADER.size + _SPANS.size
        if len(data) < end or not acpi.is_table(data[:end], b"DMHD"):
            return cls()
        spans = _SPANS.unpack_from(data, acpi.HEADER.size)
        return cls(*(data[at:at + size] for size, at in zip(spans[::2], spans[1::2])))

    def pack(self) -> bytes:
        spans, at = [], acpi.HEADER.size + _SPANS.size
        for part in (self.ccur, self.cin, self.cout):
            spans += [len(part), at if part else 0]
            at += len(part)
        header = acpi.table(b"DMHD", REVISION, _SPANS.pack(*spans))
        data = header + self.ccur + self.cin + self.cout
        if len(data) > mailbox.PCD_SIZE:
            raise ValueError(f"configuration data of {len(data)} bytes does not fit")
        return data.ljust(mailbox.PCD_SIZE, b"\0")

    @property
    def pending(self) -> bool:
        """Whether there is a goal that no COUT answers."""
        at = acpi.HEADER.size
        return bool(self.cin) and self.cin[at:at + 4] != self.cout[at:at + 4]


def _records(data: bytes):
    """Yield (type, offset, length) of the records in a CIN_ or COUT."""
    at = acpi.HEADER.size + _SEQUENCE.size
    while at + _RECORD.size <= len(data):
        kind, length = _RECORD.unpack_from(data, at)
        if length < _RECORD.size or at + length > len(data):
            raise ValueError(f"record at {at:#x} has length {length}")
        yield kind, at, length
        at += length


def _goal_set(cin: bytes, at: int, length: int) -> GoalSet:
    _, _, index, count, _, channel, controller, _ = _SET.unpack_from(cin, at)
    if length != _SET.size + count * _MEMBER.size:
        raise ValueError(f"interleave set {index}: {count} members in {length} bytes")
    starts = range(at + _SET.size, at + length, _MEMBER.size)
    members = (_MEMBER.unpack_from(cin, start) for start in starts)
    return GoalSet(index, channel, controller, tuple(Member(m[3], m[9], m[10]) for m in members))


def parse_goal(dimm: Dimm, cin: bytes) -> Goal:
    """Read a CIN_; raises BadInput."""
    if not acpi.is_table(cin, b"CIN_"):
        raise BadInput(BAD_CHECKSUM, "configuration input has a bad checksum")
    if cin[8] not in SUPPORTED_REVISIONS:
        raise BadInput(BAD_REVISION, f"configuration input has revision {cin[8]:#x}")
    persistent, sets = None, []
    try:
        for kind, at, length in _records(cin):
            if kind == TYPE_PARTITION:
                persistent = _PARTITION.unpack_from(cin, at)[3]
            elif kind == TYPE_SET:
                sets.append(_goal_set(cin, at, length))
    except (ValueError, struct.error) as error:
        raise BadInput(BAD_CHECKSUM, f"configuration input is garbled: {error}") from error
    return Goal(dimm, cin, persistent, tuple(sets))


def _member(topology: Topology, region: Region, handle: int) -> bytes:
    dimm = topology.by_handle(handle)
    return _MEMBER.pack(MANUFACTURER, MADE_AT, MADE_WHEN, dimm.serial, dimm.socket, 0,
                        dimm.controller, dimm.channel, 1, region.offset, region.share)


def _set(topology: Topology, region: Region) -> bytes:
    members = b"".join(_member(topology, region, handle) for handle in region.members)
    return _SET.pack(TYPE_SET, _SET.size + len(members), region.index, len(region.members),
                     APP_DIRECT, LINE_4K, LINE_4K, 0) + members


def current(topology: Topology, config: DimmConfig, regions: list[Region]) -> bytes:
    """CCUR of a DIMM that is a member of these regions.

    It holds type 5 records only: with one of type 4 in it, ipmctl 03.00.00.0468 fails with
    "Error 2 - Command not run".
    """
    body = _CURRENT.pack(config.status, config.volatile_mapped, config.persistent_mapped)
    return acpi.table(b"CCUR", REVISION, body + b"".join(_set(topology, r) for r in regions))


def output(cin: bytes, answer: Answer) -> bytes:
    """COUT: the goal's records with the result of each."""
    sequence, = struct.unpack_from("<I", cin, acpi.HEADER.size)
    body = _OUTPUT.pack(sequence, answer.validation)
    for kind, at, length in _records(cin):
        record = bytearray(cin[at:at + length])
        if kind == TYPE_PARTITION:
            struct.pack_into("<I", record, _RECORD.size, answer.partition)
        elif kind == TYPE_SET:
            record[_SET_STATUS_AT] = answer.interleave
        body += record
    return acpi.table(b"COUT", cin[8], body)
