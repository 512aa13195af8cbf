"""Configuration data: ipmctl's is read, POST's can be read, garbage is refused."""
import struct

import goals
import pytest
from machine import GIB, MIB, Topology, pcd
from machine.state import BAD_CHECKSUM, BAD_REVISION, CONFIGURED, Answer, DimmConfig, Region

TOPOLOGY = Topology()
DIMM, OTHER = TOPOLOGY.dimms[:2]


def a_set(index: int = 1, size: int = 2 * GIB) -> bytes:
    return goals.interleave_set(index, [goals.member(d.serial, size) for d in (DIMM, OTHER)])


def test_goal_is_read():
    goal = pcd.parse_goal(DIMM, goals.cin(goals.RAW, [a_set(7)]))
    assert goal.persistent == goals.RAW
    members = tuple(pcd.Member(d.serial, 0, 2 * GIB) for d in (DIMM, OTHER))
    assert goal.sets == (pcd.GoalSet(7, 1, 1, members),)
    assert goal.own == [(goal.sets[0], members[0])]


def test_goal_of_memory_mode_has_no_sets():
    goal = pcd.parse_goal(DIMM, goals.cin(64 * MIB))
    assert (goal.persistent, goal.sets) == (64 * MIB, ())


@pytest.mark.parametrize("at", [0, 4, 9, 36, 50, 60, -1])
def test_a_flipped_bit_is_noticed(at):
    broken = bytearray(goals.cin(goals.RAW, [a_set()]))
    broken[at] ^= 0x10
    with pytest.raises(pcd.BadInput) as caught:
        pcd.parse_goal(DIMM, bytes(broken))
    assert caught.value.status == BAD_CHECKSUM


def test_a_foreign_revision_is_refused():
    with pytest.raises(pcd.BadInput) as caught:
        pcd.parse_goal(DIMM, goals.cin(goals.RAW, revision=0x41))
    assert caught.value.status == BAD_REVISION


@pytest.mark.parametrize("record", [
    struct.pack("<HH", 4, 0), struct.pack("<HH", 5, 3), struct.pack("<HH", 5, 400),
    struct.pack("<HHHBBBB3xB10x", 5, 24, 1, 2, 2, 1, 1, 0),         # two members said, none there
    struct.pack("<HHI", 4, 8, 0),                                   # cut off
])
def test_garbled_records_are_refused(record):
    with pytest.raises(pcd.BadInput, match="garbled"):
        pcd.parse_goal(DIMM, goals.table(b"CIN_", struct.pack("<I8x", 1) + record))


def test_unknown_records_are_skipped():
    unknown = struct.pack("<HH", 9, 8) + bytes(4)
    cin = goals.table(b"CIN_", struct.pack("<I8x", 1) + unknown
                      + struct.pack("<HHIQ", 4, 16, 0, GIB))
    assert pcd.parse_goal(DIMM, cin).persistent == GIB


@pytest.mark.parametrize("parts", [
    (b"a" * 40, b"", b""), (b"a" * 40, b"b" * 60, b""), (b"a" * 40, b"b" * 60, b"c" * 50),
    (b"", b"", b"")])
def test_partition_round_trip(parts):
    packed = pcd.Partition(*parts).pack()
    assert len(packed) == 128 * 1024
    assert pcd.Partition.parse(packed) == pcd.Partition(*parts)


def test_partition_without_header_is_empty():
    assert pcd.Partition.parse(bytes(128 * 1024)) == pcd.Partition()
    broken = bytearray(pcd.Partition(b"a" * 40).pack())
    broken[40] ^= 1
    assert pcd.Partition.parse(bytes(broken)) == pcd.Partition()


def test_partition_that_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="does not fit"):
        pcd.Partition(bytes(128 * 1024)).pack()


def test_a_goal_is_pending_until_its_sequence_is_answered():
    cin = goals.cin(goals.RAW, sequence=5)
    assert pcd.Partition(cin=cin).pending
    assert not pcd.Partition().pending
    assert not pcd.Partition(cin=cin, cout=pcd.output(cin, Answer("", 1, 1, 1))).pending
    other = pcd.output(goals.cin(goals.RAW, sequence=4), Answer("", 1, 1, 1))
    assert pcd.Partition(cin=cin, cout=other).pending


def test_output_says_what_became_of_each_record():
    cin = goals.cin(goals.RAW, [a_set(1), a_set(2)], sequence=3)
    cout = pcd.output(cin, Answer("", 6, 5, 11))
    assert cout[:4] == b"COUT" and sum(cout) & 0xFF == 0 and len(cout) == len(cin)
    assert struct.unpack_from("<IB", cout, 36) == (3, 6)
    assert struct.unpack_from("<HHIQ", cout, 48) == (4, 16, 5, goals.RAW)
    for at in (64, 64 + 120):
        assert struct.unpack_from("<HH", cout, at) == (5, 120)
        assert cout[at + 13] == 11                      # InterleaveChangeStatus
        assert cout[at + 24:at + 120] == cin[at + 24:at + 120]


def test_current_configuration():
    region = Region(1, 0, [DIMM.handle, OTHER.handle], 4 * GIB, GIB)
    config = DimmConfig(0, goals.RAW, 0, 2 * GIB, CONFIGURED)
    ccur = pcd.current(TOPOLOGY, config, [region])
    assert ccur[:4] == b"CCUR" and sum(ccur) & 0xFF == 0
    assert struct.unpack_from("<H2xQQ", ccur, 36) == (1, 0, 2 * GIB)
    assert struct.unpack_from("<HHHB", ccur, 56) == (5, 24 + 96, 1, 2)
    serials = [struct.unpack_from("<I", ccur, 80 + 48 * i + 5)[0] for i in range(2)]
    assert serials == [DIMM.serial, OTHER.serial]
    assert struct.unpack_from("<QQ", ccur, 80 + 32) == (GIB, 2 * GIB)
