"""What holds for every submission of job_families.py, and its cost function on submissions made by hand."""
import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import job_families
from job_families import (CACHE_MIB, DIES_AFTER, GIB, MODES, NODES, USABLE_MIB, Cluster, Family, Faults, Submission, admits,
                          always_default, as_json, cost, costs, factor, oracle, reboots, second_mode, trace)

PROGRAM = Path(__file__).with_name("job_families.py")
DEFAULTS = ("memory", "appdirect")
ALL = Faults(missing=.3, other_input=.3, wrong_memory=.3, sick_node=.3)
STATES = {"COMPLETED", "TIMEOUT", "OUT_OF_MEMORY", "FAILED", "CANCELLED"}

CLUSTER = Cluster(in_mode={"memory": 40, "appdirect": 20, "mixed": 4}, idle={"memory": 5, "appdirect": 3, "mixed": 0},
                  rebootable={"memory": 3, "appdirect": 5, "mixed": 8}, reboot_s=600)
FAR = Submission("f", "u", [], None, 2, 1, CLUSTER, {"memory": 1000.0, "appdirect": None, "mixed": 800.0}, "appdirect")


@pytest.fixture(scope="module", params=[(seed, default) for seed in (1, 2, 3) for default in DEFAULTS])
def some(request) -> list[Submission]:
    return list(trace(request.param[0], 200, request.param[1], Faults(.1, .1, .1, .1)))


def test_seed_decides():
    first, again, other = (list(trace(seed, 50, "memory", ALL)) for seed in (1, 1, 2))
    assert first == again != other


def test_default_and_faults_leave_the_truth():
    plain = list(trace(1, 100, "memory"))
    for same in (trace(1, 100, "memory", ALL), trace(1, 100, "appdirect")):
        assert [one.truth for one in same] == [one.truth for one in plain]


def test_oracle_is_never_worse(some):
    for one in some:
        assert admits(one, oracle(one))
        assert cost(one, oracle(one)) == min(costs(one).values()) <= cost(one, always_default(one))


def test_costs_are_positive(some):
    for one in some:
        assert all(0 < value < math.inf for value in costs(one).values())


def test_does_not_fit_is_consistent(some):
    """A mode with more memory fits if a smaller one does; the request covers the run; memory mode takes every job."""
    for one in some:
        fitting = [one.truth[mode] is not None for mode in sorted(MODES, key=USABLE_MIB.get)]
        assert fitting == sorted(fitting) and one.truth["memory"]
        assert all(one.truth[mode] for mode in MODES if one.asked_mib and admits(one, mode))
        assert one.truth[oracle(one)]


def test_clusters_are_whole(some):
    for state in (one.cluster for one in some):
        assert sum(state.in_mode.values()) == NODES
        for mode in MODES:
            assert 0 <= state.idle[mode] <= state.in_mode[mode]
            assert 0 <= state.rebootable[mode] <= sum(state.idle.values()) - state.idle[mode]
            assert all(0 <= reboots(state, mode, nodes) <= min(nodes, NODES - state.in_mode[mode]) for nodes in (1, 16, 999))


@pytest.mark.parametrize("default", DEFAULTS)
def test_records_without_faults(default):
    """A run that does not fit ends OUT_OF_MEMORY with the mode's memory, no other does, and no mode has more than 8."""
    for one in trace(4, 300, default):
        for kept in one.history:
            assert kept.state in STATES and kept.seconds > 0
            assert (kept.memory_mib == USABLE_MIB[kept.mode]) == (kept.state == "OUT_OF_MEMORY")
            assert kept.memory_mib <= USABLE_MIB[kept.mode]
        assert all(sum(kept.mode == mode for kept in one.history) <= 8 for mode in MODES)


def test_growing_jobs_were_smaller(monkeypatch):
    """Each run needs 1.5 times the memory of the one before, the runs to be decided as well."""
    job = Family("f", "u", 1, 1, 100 * GIB, 0, 1.5, 1000, .05, "regular", 0, 1, .5, 1.02)
    monkeypatch.setattr(job_families, "family", lambda rng, number: job)
    for one, later in zip(*[trace(1, 40, "memory")] * 2):
        assert [one.asked_mib, later.asked_mib] == [math.ceil(1.02 * 100 * GIB), math.ceil(1.02 * 150 * GIB)]
        expected = [round(100 * GIB * 1.5 ** -ago) for ago in range(len(one.history), 0, -1)]
        assert [kept.memory_mib for kept in one.history] == expected


@pytest.mark.parametrize("name", ["missing", "other_input", "wrong_memory", "sick_node"])
def test_fault_at_share_one(name):
    for plain, one in zip(trace(1, 50, "memory"), trace(1, 50, "memory", Faults(**{name: 1}))):
        if name == "missing":
            assert not one.history
            continue
        for was, kept in zip(plain.history, one.history, strict=True):
            ratio = kept.seconds / was.seconds
            low, high = {"other_input": (.1, 10), "wrong_memory": (1, 1), "sick_node": (3, 3)}[name]
            assert low * .99 <= ratio <= high * 1.01
            assert (kept.memory_mib != was.memory_mib) == (name == "wrong_memory")


@pytest.mark.parametrize("mode, nodes, expected", [
    ("memory", 5, 0),       # all idle in the mode
    ("memory", 7, 2),       # two idle ones reboot
    ("memory", 43, 3),      # 5 idle, 3 reboot, 35 wait for busy ones
    ("memory", 44, 4),      # and one more, which is busy in another mode
    ("mixed", 2, 2),
    ("mixed", 999, 60)])    # an array: every node but the mode's own, once
def test_reboots(mode, nodes, expected):
    assert reboots(CLUSTER, mode, nodes) == expected


def test_cost_by_hand():
    assert cost(FAR, "memory") == 2 * 1000
    assert cost(FAR, "mixed") == 2 * 800 + 2 * 600
    assert second_mode(FAR) == "memory"
    assert cost(FAR, "appdirect") == 2 * 1000 * DIES_AFTER + 2 * 1000
    many = replace(FAR, tasks=10)
    assert cost(many, "appdirect") == 20 * 1000 * DIES_AFTER + 5 * 600 + 20 * 1000 + 3 * 600
    assert oracle(FAR) == "memory" and always_default(FAR) == "appdirect"


def test_second_run_prefers_the_default():
    assert second_mode(replace(FAR, default="mixed")) == "mixed"


def test_a_mode_that_the_request_excludes():
    one = replace(FAR, asked_mib=300 * GIB)
    assert always_default(one) == "memory" and cost(one, "appdirect") == cost(one, "memory")
    assert as_json(one)["excluded"] == ["appdirect"]


def test_factors():
    job = Family("f", "u", 1, 1, 100 * GIB, .02, 1, 1000, .05, "random", .6, 1, .5, 0)
    assert factor(job, "memory", CACHE_MIB) == factor(job, "memory", 2 * CACHE_MIB) == 1.6
    assert factor(job, "appdirect", GIB) == 1 < factor(job, "mixed", GIB) < factor(job, "memory", GIB) < 1.01
    files = replace(job, files_factor=.7)
    assert .7 == factor(files, "appdirect", GIB) < factor(files, "mixed", GIB) < factor(files, "memory", GIB)


def test_command_line():
    argv = [sys.executable, "-B", PROGRAM, "--seed", "3", "--families", "20", "--default", "appdirect", "--faults", "0.1"]
    lines = [json.loads(line) for line in subprocess.run(argv, capture_output=True, check=True, text=True).stdout.splitlines()]
    assert lines == [json.loads(json.dumps(as_json(one))) for one in trace(3, 20, "appdirect", Faults(.1, .1, .1, .1))]
    assert len(lines) == 40 and all(set(line["costs"]) == set(MODES) for line in lines)
