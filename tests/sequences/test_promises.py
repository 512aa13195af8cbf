"""The further promises, on what a cluster showed."""

from types import SimpleNamespace

import controllers
import pytest
from meddling import Meddling
from promises import Promises, beside, has_too_much
from request import read
from world import Submission, Version


def job_of(line: str, number: int = 1, **said) -> Submission:
    job = Submission(number, line.split(), {}, [Version(read(line.split(), {}), 10, 10)], None, None)
    job.records = [{"JobId": str(number), "JobState": "RUNNING"} | said]
    return job


def promises(**site) -> Promises:
    given = {"given": lambda number: [], "has_said": lambda node, text: False, "turned_away": list, "cycled": {},
             "nodes": ["n1"]} | site
    world = SimpleNamespace(site=SimpleNamespace(**given), more=Meddling(), up=set, live=list, is_disturbed=lambda node: False)
    return Promises(world, lambda *_: False)


def kinds(broken) -> list[str]:
    return [kind for kind, _ in broken]


@pytest.mark.parametrize("lines, found", [
    ("begin 1 5 change, end 1 9, begin 2 10 look", []),
    ("begin 1 5 change, begin 2 6 look, end 1 9", [("process 1", "process 2")]),
    ("begin 1 5 look, begin 2 6 look", []),
    ("begin 1 5 change, begin 2 6 change, end 1 9, end 2 7", [("process 1", "process 2")]),
    ("begin 1 5 change, begin 2 6 look", []),
])
def test_tools_beside_each_other(lines, found):
    assert beside(lines.split(", ")) == found


@pytest.mark.parametrize("first, second, mode, found", [
    ("srun --pm-mode=appdirect --mem=1200", "srun -C pm_appdirect --mem=1200", "appdirect", ["memory"]),
    ("srun --pm-mode=appdirect --mem=600", "srun -C pm_appdirect --mem=1200", "appdirect", []),
    ("srun --pm-mode=memory --mem=1200", "srun --pm-mode=memory --mem=1200", "memory", []),
    ("srun --pm-mode=appdirect --mem=1200", "srun --mem=1200", "appdirect", []),
])
def test_memory_of_two(first, second, mode, found):
    judge = promises()
    modes = {("1", "n1"): mode, ("2", "n1"): mode}
    judge.check_memory(job_of(first, 1), [("n1", 1, 5, "1")], modes)
    assert kinds(judge.check_memory(job_of(second, 2), [("n1", 4, 6, "2")], modes)) == found
    assert not judge.check_memory(job_of(second, 3), [("n1", 7, 8, "1")], modes)


def test_memory_of_a_job_that_lost_its_node():
    judge = promises(cycled={"n1": 3})
    judge.check_memory(job_of("salloc --pm-mode=appdirect --mem=1200", 1), [("n1", 1, 9, "1")], {("1", "n1"): "appdirect"})
    assert not judge.check_memory(
        job_of("sbatch --pm-mode=appdirect --mem=1200", 2), [("n1", 4, 6, "2")], {("2", "n1"): "appdirect"})


def test_what_a_job_was_not_given():
    judge = promises(given=lambda number: [f"{number} /of/another/job"])
    assert kinds(judge.check_job(job_of("sbatch --pm-mode=memory"))) == ["foreign"]


@pytest.mark.parametrize("line, found", [
    ("sbatch --pm-mode=memory --pm-dram=100G", ["accepted"]), ("sbatch --pm-mode=memory --pm-dram=64M", [])])
def test_more_than_exists(line, found):
    assert kinds(promises().check_job(job_of(line))) == found


@pytest.mark.parametrize("line, lost", [
    ("srun --pm-dram=100G", True), ("sbatch --pm-dram=100G", False), ("salloc --pm-dram=100G", False),
    ("srun --pm-mode=memory --pm-dram=100G", False), ("srun --pm-dram=64M", False)])
def test_who_may_be_lost_for_its_dram(line, lost):
    judge = promises()
    judge.world.site.has_kernel = False
    assert judge.may_be_lost(job_of(line)) == lost


@pytest.mark.parametrize("line, outranked, lost", [
    ("srun", True, True), ("srun", False, False), ("sbatch", True, False), ("sbatch --partition=cheap", True, True),
    ("sbatch --partition=cheap", False, False), ("salloc --partition=urgent", False, False)])
def test_who_may_be_lost_to_a_higher_partition(line, outranked, lost):
    judge, job = promises(has_kernel=True), job_of(line)
    job.outranked = outranked
    assert judge.may_be_lost(job) == lost


@pytest.mark.parametrize("line, refused, excused", [
    ("sbatch --pm-mode=appdirect", "pm_memory", True), ("sbatch --pm-mode=memory", "pm_appdirect", False),
    ("sbatch --pm-mode=mixed", "pm_mixed", False), ("sbatch --pm-mode=mixed --mem=600", "pm_memory", False),
    ("sbatch -C pm_memory|pm_appdirect", "pm_mixed", True), ("sbatch", "pm_memory", False)])
def test_memory_of_a_refused_mode(line, refused, excused):
    assert has_too_much(read(line.split(), {}), refused) == excused


@pytest.mark.parametrize("state, stays, found", [
    ("PENDING", True, ["revived"]), ("RUNNING", True, ["revived"]), ("RUNNING", False, []), ("CANCELLED", True, [])])
def test_who_was_cancelled_stays_so(state, stays, found):
    job = job_of("sbatch --pm-mode=memory")
    job.records[0]["JobState"] = state
    job.stays_cancelled = stays
    judge = promises()
    judge.lasts = lambda _seconds, is_so, *_: is_so
    assert kinds(judge.check_job(job)) == found
    judge.world.site.has_said = lambda node, text: text == "[job 1] prolog failed"
    assert not judge.check_job(job), "Slurm has put it back"


@pytest.mark.parametrize("turned, uncounted, found", [
    ("1 2 1 2", False, []), ("1 1 1", False, ["requeued"]), ("1 1 1", True, []), ("1,1 1,1", False, [])])
def test_turned_away_too_often(turned, uncounted, found):
    """Every ten seconds; "1,1" by two nodes at once."""
    times = [(job_id, 10 * at) for at, word in enumerate(turned.split()) for job_id in word.split(",")]
    judge = promises(turned_away=lambda: times)
    judge.world.more.uncounted |= {1} if uncounted else set()
    assert kinds(judge.check_job(job_of("sbatch --pm-mode=memory"))) == found


@pytest.mark.parametrize("restarts, turned, disturbed, found", [
    ("0", 0, False, []), ("1", 1, False, []), ("1", 0, False, ["restarted"]), ("2", 1, False, ["restarted"]),
    ("1", 0, True, [])])
def test_started_anew_for_what_happened_to_another(restarts, turned, disturbed, found):
    judge = promises(turned_away=lambda: [("1", 10 * at) for at in range(turned)] + [("2", 5)])
    judge.world.is_disturbed = lambda node: disturbed
    job = job_of("sbatch --pm-mode=memory", Restarts=restarts)
    assert kinds(judge.check_job(job)) == found
    judge.world.is_disturbed = lambda node: False
    assert kinds(judge.check_job(job)) == found, "what was excused once stays so"


def test_what_the_service_could_not_count():
    judge = promises(turned_away=lambda: [("1", at) for at in (10, 20, 30, 40)])
    judge.world.more.gaps = [(18, 33)]
    assert not judge.check_job(job_of("sbatch --pm-mode=memory"))
    judge.world.more.gaps = [(31, 39)]
    assert kinds(judge.check_job(job_of("sbatch --pm-mode=memory"))) == ["requeued"]


@pytest.mark.parametrize("shared, said, told, found", [
    (False, {"OverSubscribe": "NO"}, False, []),
    (False, {"OverSubscribe": "OK"}, False, ["shared"]),
    (True, {"JobState": "FAILED", "NodeList": "n1"}, False, ["shared"]),
    (True, {"JobState": "FAILED", "NodeList": "n1"}, True, []),
    (True, {"JobState": "PENDING"}, False, []),
])
def test_flat_memory_is_one_jobs_alone(shared, said, told, found):
    judge = promises(has_said=lambda node, text: told)
    judge.world.more.on_shared[1] = shared
    assert kinds(judge.check_job(job_of("sbatch --pm-mode=flat", **said))) == found


def test_a_hold_that_a_killed_slurmctld_lost(monkeypatch):
    """Job 1 was turned away just before, job 2 long ago."""
    monkeypatch.setattr(controllers.time, "time", lambda: 100)
    world = promises(turned_away=lambda: [("2", 80), ("1", 95)]).world
    jobs = [job_of("sbatch --pm-mode=memory", number) for number in (1, 2)]
    world.live = lambda: jobs
    controllers.note_lost_holds(world)
    assert world.more.uncounted == {1}
