"""What holds for a window of a trace: tests/economy/window.py, and what bench_policy_slurm.py reads from a run."""
import sys
from datetime import datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from bench_policy_slurm import measured  # noqa: E402
from cluster import ALL  # noqa: E402
from policies import Policy  # noqa: E402
from real_cluster import Settings, boots_of, names_of, scaled  # noqa: E402
from traces import Job, trace  # noqa: E402
from window import HOUR_S, Window, simulate, timing, whole_minutes, window  # noqa: E402

SPEED = 12
PLAIN = Policy("plain")


@pytest.fixture(name="some", scope="module")
def some_hours() -> Window:
    return window("70/20/10", .8, 1, 82, 6, SPEED)


def test_each_node_has_one_mode_and_no_two_jobs_run_on_it(some):
    assert sum(some.modes) == ALL
    taken = 0
    for job in some.jobs[:some.carried]:
        assert not taken & job.mask
        assert not job.mask & ~some.modes[job.mode]
        taken |= job.mask


def test_jobs_of_the_window_are_those_of_the_trace(some):
    there = [job for job in trace("70/20/10", .8, 1) if 82 * HOUR_S < job.submit <= 88 * HOUR_S]
    own = some.jobs[some.carried:]
    assert [(job.nodes, job.run, job.mode) for job in own] == [(job.nodes, job.run, job.mode) for job in there]
    assert all(0 < job.submit <= 6 * HOUR_S for job in own)


def test_limits_are_whole_minutes_of_the_faster_clock(some):
    assert whole_minutes(900, SPEED) == 1440
    assert all(job.limit % (60 * SPEED) == 0 and job.limit >= job.run for job in some.jobs)


def test_a_simulation_repeats_and_leaves_the_window_as_it_is(some):
    first, second = (simulate(some, PLAIN, 1, timing(SPEED, 0, 0)) for _ in range(2))
    assert first == second
    assert first["reboots"] > 0 and first["begun"] > 0


def test_jobs_of_the_warm_up_are_not_counted_and_waits_end_with_the_window():
    played = Window([Job(0, 1, 60, 720, 0), Job(10, 1, 60, 720, 0), Job(100, 1, 60, 720, 0)], [ALL, 0, 0], 1000.0, 1)
    rows = [{"id": 0, "submit_s": 0.0, "begin_s": 900.0}, {"id": 1, "submit_s": 10.0, "begin_s": 110.0},
            {"id": 2, "submit_s": 100.0, "begin_s": None}]
    assert measured(played, {"jobs": rows, "reboots": [(5.0, "n1")]}) == {"reboots": 1, "wait_s": 500.0, "begun": 1}


def test_a_reboot_in_the_simulator_is_counted_for_each_node():
    played = Window([Job(0, 3, 60, 720, 1)], [ALL, 0, 0], HOUR_S, 0)
    result = simulate(played, PLAIN, 1, timing(SPEED, 0, 0))
    assert result["reboots"] == 3 and 300 <= result["wait_s"] <= 900


def test_times_of_slurm_are_divided_by_the_speed():
    text = "ResumeTimeout=40\nHealthCheckInterval=2\nSchedulerParameters=salloc_wait_nodes,sched_interval=2,bf_interval=2\n"
    assert scaled(text, Settings(Path(), Path(), SPEED, 0, Path())) == (
        "ResumeTimeout=150\nHealthCheckInterval=60\n"
        "SchedulerParameters=salloc_wait_nodes,sched_interval=5,bf_interval=2,bf_resolution=5\n")


def test_a_boot_lasts_until_slurmctld_has_the_node_again():
    log = "".join(f"[2026-11-27T12:00:{second:02}.500] Node {node} now responding\n" for second, node in
                  ((1, "n1"), (32, "n2"), (40, "n1"), (41, "n1")))
    begun = datetime.fromisoformat("2026-11-27T12:00:00").timestamp()
    assert boots_of(log, [(0.5, "n1"), (2.5, "n2"), (9.0, "n3")], begun) == [40.0, 30.0]


def test_nodes_are_counted_from_one():
    assert names_of(0b101) == "n1,n3"
