"""How the simulated slurmctld chooses nodes: as select/cons_tres does."""
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cluster import Cluster, best_fit, runs_of  # noqa: E402
from policies import Policy, hold  # noqa: E402
from traces import NODES, Job  # noqa: E402

TOP = Path(__file__).resolve().parents[2]


@pytest.fixture(name="hold_rule", scope="module")
def built_hold_rule(tmp_path_factory) -> Path:
    """controller/hold_rule.c as a shared object."""
    library = tmp_path_factory.mktemp("rule") / "hold_rule.so"
    subprocess.run(["cc", "-std=gnu11", "-shared", "-fPIC", "-I", str(TOP), "-o", str(library), str(TOP / "controller/hold_rule.c")],
                   check=True)
    return library


def test_runs_of_consecutive_nodes():
    assert runs_of(0b1110110) == [(2, 1), (3, 4)]
    assert not runs_of(0)


@pytest.mark.parametrize("mask, count, taken", [
    (0b1110110, 2, 0b0000110),  # the smaller run is enough
    (0b1110110, 3, 0b1110000),
    (0b1110111, 3, 0b0000111),  # the first of two
    (0b1110110, 4, 0b1110010),  # the largest run, and the rest of the next one
    (0b1111, 2, 0b0011)])
def test_slurm_takes_the_smallest_run_that_is_enough(mask, count, taken):
    assert best_fit(mask, count) == taken


def jobs_of(*rows: tuple) -> list[Job]:
    jobs = [Job(*row[:5]) for row in rows]
    for number, (job, row) in enumerate(zip(jobs, rows)):
        job.id, job.mask = number, row[5]
    return jobs


def test_a_job_is_planned_on_the_nodes_that_it_would_get_then_not_on_those_that_are_idle_first():
    """Nodes 0 to 31 come free at 1000, node 63 is idle. The first job is planned on nodes 0 to 3, so that the second one may
    have node 63, though it would run beyond 1000."""
    low, rest = (1 << 32) - 1, ((1 << 31) - 1) << 32
    jobs = jobs_of((0, 32, 1000, 1000, 0, low), (0, 31, 5000, 5000, 0, rest), (1, 4, 100, 100, 0, 0), (2, 1, 2000, 2000, 0, 0))
    cluster = Cluster(jobs, Policy("plain"), 1, modes=[(1 << NODES) - 1, 0, 0])
    cluster.run()
    assert jobs[3].begin == 2 and jobs[3].mask == 1 << 63
    assert jobs[2].begin == 1000 and jobs[2].mask == 0b1111


def test_a_job_starts_though_its_last_lease_ends_at_a_look(hold_rule):
    """Held from second 5 on for the longest time, on a cluster on which nothing else happens."""
    jobs = jobs_of((0, NODES, 100, 900, 0, 0), (5000, NODES, 100, 900, 1, 0))
    cluster = Cluster(jobs, hold(hold_rule, "held", 60, 4, 2, 8, guarded=8), 1, modes=[(1 << NODES) - 1, 0, 0])
    cluster.run()
    assert jobs[1].first_held and 3600 <= jobs[1].allocated - jobs[1].first_held <= 3610
