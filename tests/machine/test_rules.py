"""The firmware's rules, one by one: good goals pass, each bad one is refused for its reason."""
from dataclasses import replace

import goals
import pytest
from machine import GIB, MIB, NoBoot, Topology, pcd, rules
from machine.state import CONFIGURED, NOT_CONFIGURED, REVERTED, SET_INCOMPLETE, State

TOPOLOGY = Topology()
A, B, C, D = TOPOLOGY.dimms                     # two of socket 0, two of socket 1
FRESH = State.factory(TOPOLOGY)
OVERHEAD = 64 * MIB


def goal(dimm, persistent, *sets) -> pcd.Goal:
    return pcd.Goal(dimm, b"\1", persistent, tuple(sets))


def a_set(*dimms, size=2 * GIB, offset=0, index=1, line=1) -> pcd.GoalSet:
    return pcd.GoalSet(index, line, line, tuple(pcd.Member(d.serial, offset, size) for d in dimms))


def app_direct(*dimms) -> dict:
    """Each socket's DIMMs in one set."""
    sets = {s: a_set(*(d for d in dimms if d.socket == s)) for s in {d.socket for d in dimms}}
    return {d: goal(d, goals.RAW, sets[d.socket]) for d in dimms}


def memory(*dimms) -> dict:
    return {d: goal(d, OVERHEAD) for d in dimms}


def judge(asked: dict, topology=TOPOLOGY, state=FRESH):
    return rules.judge(topology, state, asked)


@pytest.mark.parametrize("asked", [
    app_direct(A, B), memory(A, B), memory(C, D),
    {d: goal(d, GIB + OVERHEAD, a_set(A, B, size=GIB)) for d in (A, B)},        # mixed
    {d: goal(d, goals.RAW, a_set(d)) for d in (A, B)},                          # not interleaved
    {d: goal(d, goals.RAW) for d in (A, B)},                                    # all reserved
    {d: goal(d, goals.RAW, a_set(A, B, size=GIB), a_set(A, B, size=GIB, offset=GIB, index=2))
     for d in (A, B)},
])
def test_good_goals_pass(asked):
    assert judge(asked) is None


def test_partition_beyond_the_dimm():
    refusal = judge({A: goal(A, goals.RAW + 4096)})
    assert (refusal.partition, refusal.validation) == (rules.PART_TOO_BIG, rules.INVALID)
    assert A.name in refusal.why


def test_sets_beyond_the_partition():
    refusal = judge({d: goal(d, GIB + OVERHEAD, a_set(A, B)) for d in (A, B)})
    assert refusal.partition == rules.PART_TOO_BIG
    assert refusal.interleave == rules.SET_PARTITION_FAILED
    offset = a_set(A, B, size=2 * GIB, offset=GIB)
    assert judge({d: goal(d, goals.RAW, offset) for d in (A, B)}).partition == rules.PART_TOO_BIG


def test_set_with_an_unknown_module():
    ghost = pcd.GoalSet(1, 1, 1, (pcd.Member(A.serial, 0, GIB), pcd.Member(0xDEAD, 0, GIB)))
    assert judge({A: goal(A, goals.RAW, ghost)}).interleave == rules.SET_NO_DIMM


def test_set_over_two_sockets():
    asked = {A: goal(A, goals.RAW, a_set(A, C))}
    assert judge(asked).interleave == rules.SET_NO_DIMM


def test_set_whose_member_has_no_goal():
    refusal = judge({A: goal(A, goals.RAW, a_set(A, B))})
    assert refusal.interleave == rules.SET_NO_INPUT
    assert B.name in refusal.why


def test_members_that_tell_different_sets():
    asked = {A: goal(A, goals.RAW, a_set(A, B)), B: goal(B, goals.RAW, a_set(A, B, size=GIB))}
    assert judge(asked).interleave == rules.SET_MISMATCH


@pytest.mark.parametrize("size, offset", [(GIB + MIB, 0), (GIB, MIB), (0, 0)])
def test_misaligned_sets(size, offset):
    asked = {d: goal(d, goals.RAW, a_set(A, B, size=size, offset=offset)) for d in (A, B)}
    assert judge(asked).interleave == rules.SET_MISALIGNED


def test_formats_that_are_not_offered():
    asked = {d: goal(d, goals.RAW, a_set(A, B, line=2)) for d in (A, B)}
    assert judge(asked).interleave == rules.SET_UNSUPPORTED
    uneven = pcd.GoalSet(1, 1, 1, (pcd.Member(A.serial, 0, GIB), pcd.Member(B.serial, 0, 2 * GIB)))
    assert judge({d: goal(d, goals.RAW, uneven) for d in (A, B)}).interleave \
        == rules.SET_UNSUPPORTED


def test_memory_mode_with_the_bios_at_1lm():
    fixed = replace(TOPOLOGY, allows_memory_mode=False)
    assert "1LM" in judge(memory(A, B), fixed).why
    assert judge(app_direct(A, B), fixed) is None


def test_dram_must_not_exceed_the_memory_behind_it():
    big = replace(TOPOLOGY, dram_per_socket=6 * GIB)
    refusal = judge(memory(A, B), big)
    assert refusal.validation == rules.NEAR_FAR
    assert judge(app_direct(A, B), big) is None
    equal = replace(TOPOLOGY, dram_per_socket=4 * GIB)
    assert judge(memory(A, B), equal) is None


def test_near_and_far_count_the_whole_socket():
    """One DIMM's goal is judged with what the socket's other DIMMs already have."""
    four = replace(TOPOLOGY, dram_per_socket=4 * GIB)
    assert judge(memory(A), four).validation == rules.NEAR_FAR
    with_b = rules.apply(four, FRESH, memory(B))
    assert judge(memory(A), four, with_b) is None


@pytest.mark.parametrize("limit, asked, good", [
    (5 * GIB, app_direct(A, B), True), (4 * GIB, app_direct(A, B), False),     # DRAM counts in 1LM
    (4 * GIB, memory(A, B), True), (3 * GIB, memory(A, B), False),             # and not in 2LM
])
def test_cpu_limit(limit, asked, good):
    refusal = judge(asked, replace(TOPOLOGY, mapped_limit=limit))
    assert (refusal is None) if good else refusal.validation == rules.CPU_LIMIT


def test_memory_mode_on_one_socket_does_not_boot():
    state = rules.apply(TOPOLOGY, FRESH, memory(A, B))
    with pytest.raises(NoBoot, match="socket 0 only"):
        rules.check_boots(TOPOLOGY, state)
    both = rules.apply(TOPOLOGY, state, memory(C, D))
    rules.check_boots(TOPOLOGY, both)
    rules.check_boots(TOPOLOGY, rules.apply(TOPOLOGY, FRESH, app_direct(A, B)))


# --- what applying does --------------------------------------------------------------------------
def test_memory_mode_configuration():
    state = rules.apply(TOPOLOGY, FRESH, memory(A, B, C, D))
    config = state.dimms[A.name]
    assert (config.volatile, config.persistent) == (2 * GIB, OVERHEAD)
    assert (config.volatile_mapped, config.persistent_mapped) == (2 * GIB, 0)
    assert config.status == CONFIGURED
    assert state.two_level and not state.regions
    assert rules.mode_name(state) == "memory mode"


def test_app_direct_configuration():
    state = rules.apply(TOPOLOGY, FRESH, app_direct(A, B, C, D))
    config = state.dimms[A.name]
    assert (config.volatile, config.persistent) == (0, goals.RAW)
    assert (config.volatile_mapped, config.persistent_mapped) == (0, 2 * GIB)
    assert [(r.socket, r.size, r.members) for r in state.regions] == [
        (0, 4 * GIB, [A.handle, B.handle]), (1, 4 * GIB, [C.handle, D.handle])]
    assert not state.two_level
    assert rules.mode_name(state) == "app direct"


def test_mapped_volatile_memory_is_whole_gib():
    state = rules.apply(TOPOLOGY, FRESH, {A: goal(A, 512 * MIB)})
    assert state.dimms[A.name].volatile == GIB + 576 * MIB
    assert state.dimms[A.name].volatile_mapped == GIB


def test_other_dimms_keep_their_configuration():
    state = rules.apply(TOPOLOGY, FRESH, app_direct(A, B, C, D))
    again = rules.apply(TOPOLOGY, state, {d: goal(d, goals.RAW) for d in (A, B)})
    assert [r.socket for r in again.regions] == [1]
    assert again.dimms[C.name] == state.dimms[C.name]
    assert FRESH.dimms[A.name].status == NOT_CONFIGURED, "the state before must not change"


def test_a_region_that_lost_a_member_is_gone():
    state = rules.apply(TOPOLOGY, FRESH, app_direct(A, B))
    after = rules.apply(TOPOLOGY, state, {A: goal(A, goals.RAW, a_set(A))})
    assert [(r.members, r.size) for r in after.regions] == [([A.handle], 2 * GIB)]
    assert after.dimms[B.name].status == SET_INCOMPLETE
    assert after.dimms[B.name].persistent_mapped == 0
    assert after.dimms[B.name].persistent == goals.RAW


def test_a_refused_goal_changes_the_status_alone():
    state = rules.apply(TOPOLOGY, FRESH, app_direct(A, B, C, D))
    after = rules.revert(state, [A.name, B.name])
    assert after.regions == state.regions
    assert after.dimms[A.name] == replace(state.dimms[A.name], status=REVERTED)
    assert after.dimms[C.name] == state.dimms[C.name]


# --- what the operating system sees --------------------------------------------------------------
def visible(state, topology=TOPOLOGY) -> int:
    return sum(r.size for s in range(topology.sockets)
               for r in rules.visible_memory(topology, state, s))


def test_memory_by_mode():
    half = {d: goal(d, GIB + OVERHEAD, a_set(*TOPOLOGY.dimms_of(d.socket), size=GIB))
            for d in (A, B, C, D)}
    assert visible(FRESH) == 2 * GIB
    assert visible(rules.apply(TOPOLOGY, FRESH, app_direct(A, B, C, D))) == 2 * GIB
    assert visible(rules.apply(TOPOLOGY, FRESH, memory(A, B, C, D))) == 8 * GIB
    mixed = rules.apply(TOPOLOGY, FRESH, half)
    assert visible(mixed) == 4 * GIB
    assert [r.size for _, r in rules.region_ranges(TOPOLOGY, mixed)] == [2 * GIB, 2 * GIB]


def test_a_region_keeps_its_place():
    """From App Direct to another size and back, the region begins where it began."""
    state = rules.apply(TOPOLOGY, FRESH, app_direct(A, B, C, D))
    before = rules.region_ranges(TOPOLOGY, state)
    over = rules.apply(TOPOLOGY, state, memory(A, B, C, D))
    again = rules.apply(TOPOLOGY, over, app_direct(A, B, C, D))
    assert rules.region_ranges(TOPOLOGY, again) == before


def test_what_is_forgotten():
    ad = rules.apply(TOPOLOGY, FRESH, app_direct(A, B, C, D))
    mm = rules.apply(TOPOLOGY, FRESH, memory(A, B, C, D))
    kept = {r for _, r in rules.region_ranges(TOPOLOGY, ad)}
    assert not kept & set(rules.forgotten(TOPOLOGY, ad, ad)), "app direct media is kept"
    assert sum(r.size for r in rules.forgotten(TOPOLOGY, ad, ad)) == 2 * GIB
    for before, now in ((ad, mm), (mm, ad), (mm, mm)):
        assert sum(r.size for r in rules.forgotten(TOPOLOGY, before, now)) == 8 * GIB
