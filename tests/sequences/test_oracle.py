"""The oracle's own pieces, on what jobs printed and what Slurm showed."""

import time
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import pytest
import sequence
from common import fields_of
from oracle import Look, Oracle, Violation, looks_of, wrong_looks
from request import read, update
from times import BENCH
from world import NEVER, Submission, Version, World, nodes_of


def job_of(line: str, tmp_path, *looks: str) -> Submission:
    log = tmp_path / "log"
    log.write_text("".join(f"{look}\n" for look in looks))
    return Submission(1, line.split(), {}, [Version(read(line.split(), {}), 10, 10)], log, tmp_path / "words")


def kinds(job: Submission) -> list[str]:
    return [violation.kind for violation in wrong_looks(job, looks_of(job, str))]


def test_a_look_is_read(tmp_path):
    job = job_of("sbatch", tmp_path, "start 11.5 7 0 n1 memory", "start 12")
    assert looks_of(job, str) == [Look("start", 11.5, "7", "0", "n1", "memory")]


@pytest.mark.parametrize("line, look, found", [
    ("sbatch --pm-mode=memory", "n1 memory", []),
    ("sbatch --pm-mode=memory", "n1 appdirect", ["wrong mode"]),
    ("sbatch", "n1 appdirect", []),
    ("sbatch -x n1", "n1 appdirect", ["wrong node"]),
    ("sbatch -C rack2", "n1 appdirect", ["wrong node"]),
    ("sbatch -C rack2 --prefer=rack1", "n1 appdirect", []),
    ("sbatch -C pm_memory --prefer=pm_appdirect", "n1 appdirect", ["wrong mode"]),
])
def test_a_start_is_judged(tmp_path, line, look, found):
    assert kinds(job_of(line, tmp_path, f"start 11 7 0 {look}")) == found


def test_an_update_counts_from_its_answer_on(tmp_path):
    job = job_of("sbatch -C pm_memory", tmp_path)
    job.versions.append(Version(update(job.request, {"features": "pm_mixed"}), 20, 22))
    asked = [{mode for request in job.asked_at(at) for mode in request.modes()} for at in (15, 21, 23)]
    assert asked == [{"memory"}, {"memory", "mixed"}, {"mixed"}]


@pytest.mark.parametrize("dependency, states, for_ever", [
    ("after:1_*(unfulfilled)", ["CANCELLED"], True),
    ("after:1_*(unfulfilled)", ["CANCELLED", "PENDING"], False),
    ("after:1_*(unfulfilled)", ["COMPLETED"], False),
    ("after:11_*(unfulfilled)", ["CANCELLED"], False),
    ("afterany:1_*(unfulfilled)", ["CANCELLED"], False),
])
def test_a_job_behind_a_cancelled_array(tmp_path, dependency, states, for_ever):
    array, job = job_of("sbatch --array=0-1", tmp_path), job_of("sbatch", tmp_path)
    array.records = [{"JobId": "1", "ArrayJobId": "1", "JobState": state} for state in states]
    job.records = [{"JobId": "2", "JobState": "PENDING", "Reason": "Dependency", "Dependency": dependency}]
    assert World(None, {1: array, 2: job}).waits_for_ever(job) == for_ever


def test_an_update_that_took_some_tasks_of_an_array_may_count(tmp_path):
    job = job_of("sbatch --array=0-2 -C pm_memory", tmp_path)
    job.versions.append(Version(update(job.request, {"features": "pm_mixed"}), 20, NEVER))
    assert [{mode for request in job.asked_at(at) for mode in request.modes()} for at in (15, 30)] == [
        {"memory"}, {"memory", "mixed"}]
    assert job.request.modes() == {"memory"}
    job.versions.append(Version(update(job.request, {"excnodelist": "n1"}), 30, NEVER))
    assert job.can_be_served({"n1", "n2"}) and not job.can_be_served({"n1"})


def test_an_end_is_judged_by_what_was_asked_at_the_start(tmp_path):
    job = job_of("sbatch -C pm_memory", tmp_path, "start 11 7 0 n1 memory", "end 30 7 0 n1 memory")
    job.versions.append(Version(update(job.request, {"features": "pm_mixed"}), 20, 20))
    assert kinds(job) == []


@pytest.mark.parametrize("text, nodes", [
    ("n1", ["n1"]), ("n[1-3]", ["n1", "n2", "n3"]), ("n[1,3]", ["n1", "n3"]), ("(null)", []), ("", [])])
def test_node_lists(text, nodes):
    assert nodes_of({"NodeList": text}) == nodes


def test_a_reason_goes_on_to_the_end_of_its_line():
    fields = fields_of("NodeName=n1 State=IDLE+DRAIN Weight=1 Reason=pm: no goal [root@2026-11-23T21:16:36]")
    assert (fields["State"], fields["Reason"]) == ("IDLE+DRAIN", "pm: no goal")


@pytest.mark.parametrize("other, marks, found", [
    ("sbatch", {}, ["shared"]), ("sbatch", {"shares": True}, []), ("sbatch -C pm_memory", {}, ["shared"]),
    ("sbatch", {"stood": True}, [])])
def test_two_jobs_on_a_node(tmp_path, other, marks, found):
    judge = Oracle(None)
    lines = ("start 11 7 0 n1 memory", "end 20 7 0 n1 memory"), ("start 19 8 0 n1 memory", "end 21 8 0 n1 memory")
    (tmp_path / "other").mkdir()
    jobs = [job_of("sbatch --pm-mode=memory", tmp_path, *lines[0]), job_of(other, tmp_path / "other", *lines[1])]
    vars(jobs[0]).update(marks)
    seen = [violation.kind for job in jobs for violation in judge._check_shared(job, looks_of(job, str))]
    assert seen == found


@pytest.mark.parametrize("client, outranked, found", [
    ("salloc", True, []), ("salloc", False, ["shared"]), ("srun", True, ["shared"])])
def test_the_command_of_a_salloc_that_gave_way_is_on_no_node(tmp_path, client, outranked, found):
    judge = Oracle(None)
    (tmp_path / "other").mkdir()
    low = job_of(f"{client} --pm-mode=memory", tmp_path, "start 11 7 0 n1 memory", "end 20 7 0 n1 memory")
    high = job_of("sbatch", tmp_path / "other", "start 16 8 0 n1 memory", "end 17 8 0 n1 memory")
    low.outranked = outranked
    low.records = [{"JobId": "7", "JobState": "PREEMPTED", "EndTime": datetime.fromtimestamp(15).isoformat()}]
    assert [violation.kind for job in (low, high) for violation in judge._check_shared(job, looks_of(job, str))] == found


@pytest.mark.parametrize("repairs, broken, found", [(2, {"n1"}, []), (3, set(), ["drained"])])
def test_a_node_that_drains_again_and_again_does_so_by_itself(repairs, broken, found):
    world = World(SimpleNamespace(times=replace(BENCH, drain=-1), gives_back_misread=False),
                  nodes={"n1": {"State": "IDLE+DRAIN"}})
    for _ in range(repairs):
        world.note_repair("n1")
    judge = Oracle(world)
    assert [violation.kind for violation in judge._check_out("n1", "IDLE+DRAIN")] == found
    assert world.broken == broken
    world.disturb("n1")
    world.broken.clear()
    assert not judge._check_out("n1", "IDLE+DRAIN") and world.broken


@pytest.mark.parametrize("given_back, lasts, broken, found", [
    (True, 120, set(), []), (True, -1, set(), ["drained"]), (False, 120, {"n1"}, [])])
def test_a_node_that_slurmctld_took_for_too_small_is_given_back(given_back, lasts, broken, found):
    reason = "Low RealMemory (reported:1911 < 100.00% of configured:9500)"
    world = World(SimpleNamespace(times=replace(BENCH, misread=lasts), gives_back_misread=given_back),
                  nodes={"n1": {"State": "IDLE+DRAIN", "Reason": reason}})
    world.disturb("n1")
    assert [violation.kind for violation in Oracle(world)._check_out("n1", "IDLE+DRAIN")] == found
    assert world.broken == broken


@pytest.mark.parametrize("state, found", [
    ("IDLE+POWERED_DOWN", []), ("IDLE+POWERING_DOWN", []), ("MIXED+DRAIN+POWER_DOWN", []), ("IDLE+DRAIN+POWERED_DOWN", []),
    ("DOWN*+POWERED_DOWN", ["drained"]), ("DOWN", ["drained"]), ("DOWN*", ["drained"]), ("IDLE+DRAIN", ["drained"]),
    ("IDLE+FAIL", ["drained"])])
def test_a_node_that_is_off_is_not_down(state, found):
    world = World(SimpleNamespace(times=replace(BENCH, drain=-1, down=-1), gives_back_misread=False), nodes={"n1": {"State": state}})
    assert [violation.kind for violation in Oracle(world)._check_out("n1", state)] == found


@pytest.mark.parametrize("state, found", [("IDLE", ["stuck"]), ("IDLE+POWERED_DOWN", ["stuck"]), ("IDLE+POWERING_DOWN", [])])
def test_a_job_waits_while_a_node_that_is_off_could_serve_it(tmp_path, state, found):
    site = SimpleNamespace(times=replace(BENCH, idle=-1), nodes=["n1"], turned_away=list)
    job = job_of("sbatch --pm-mode=memory", tmp_path)
    world = World(site, {1: job}, nodes={"n1": {"State": state}})
    record = {"JobId": "1", "JobState": "PENDING", "Priority": "7"}
    assert [violation.kind for violation in Oracle(world)._check_pending(job, record)] == found


@pytest.mark.parametrize("line, status, records, found", [
    ("sbatch", 0, [], ["lost"]), ("sbatch", 0, [{"JobState": "CANCELLED", "JobId": "1"}], ["lost"]), ("sbatch --bad", 1, [], ["refused"])])
def test_a_job_that_slurm_forgets_is_lost(tmp_path, line, status, records, found):
    job = job_of(line, tmp_path)
    job.seen, job.status, job.records = True, status, records
    site = SimpleNamespace(mode_of=str, turned_away=list, has_kernel=False)
    assert [violation.kind for violation in Oracle(World(site, {1: job}))._check_end(job)] == found


@pytest.mark.parametrize("lines, outranked", [
    (["sbatch", "sbatch --partition=urgent"], [True, False]), (["srun --partition=cheap", "sbatch"], [True, False]),
    (["sbatch", "sbatch --partition=main"], [False, False]), (["sbatch --partition=urgent"], [False])])
def test_who_gives_way(tmp_path, lines, outranked):
    for order in (1, -1):
        world, jobs = World(None), [replace(job_of(line, tmp_path), number=number) for number, line in enumerate(lines)]
        for job in jobs[::order]:
            world.add(job)
        assert [job.outranked for job in jobs] == outranked


def test_no_controller_answers(tmp_path):
    job = job_of("sbatch", tmp_path)
    job.records = [{"JobName": "s1", "JobId": "1", "JobState": "RUNNING"}]
    world = World(SimpleNamespace(shown=lambda: ([], {})), {1: job}, nodes={"n1": {"State": "IDLE"}})
    world.observe()
    assert job.live() and world.state("n1") == "IDLE"


def test_shrinking_keeps_what_fails():
    steps = [{"do": "wait", "for": n} for n in range(40)]
    def fails(some):
        return {3, 31} <= {step["for"] for step in some}
    assert [step["for"] for step in sequence.shrink(steps, fails, 60)] == [3, 31]


def test_the_steps_of_what_is_named():
    steps = [{"do": "sbatch", "job": 1}, {"do": "sbatch", "job": 12}, {"do": "drain", "node": "n2"}, {"do": "wait"}]
    assert sequence.about(steps, [Violation("held", "s12 (sbatch) waits for n2")]) == steps[1:3]


@pytest.mark.parametrize("started, registered", [(-10, False), (10, True), (None, False)])
def test_slurm_knows_of_a_boot(started, registered):
    """A node that was booted 20 s ago, and a slurmd that was started so many seconds before or after that."""
    site = SimpleNamespace(times=BENCH, uptime=lambda node: 20)
    said = "Unknown" if started is None else datetime.fromtimestamp(time.time() - 20 + started).isoformat(timespec="seconds")
    assert World(site, nodes={"n1": {"SlurmdStartTime": said}}).has_registered("n1") == registered
