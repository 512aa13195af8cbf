"""What is read of the twin's guests, without one."""

import random
from types import SimpleNamespace

import pytest
from oracle import told, looks_of
from request import read
from times import TWIN
from twin_actions import ON_NODES
from twin_site import TwinSite, slowest_boot
from world import Submission, Version, World


def site() -> TwinSite:
    made = TwinSite.__new__(TwinSite)
    made.owners = {"41": "user2"}
    return made


@pytest.mark.parametrize("seen, mode", [
    ("yes/0/8190", "memory"), ("no/2/1800", "appdirect"), ("no/2/9700", "appdirect"), ("yes/2/3500", "mixed"),
    ("no/0/8190", "no/0/8190"), ("yes/2/8190", "yes/2/8190"), ("yes", "yes")])
def test_modes(seen, mode):
    assert site().mode_of(seen) == mode


@pytest.mark.parametrize("argv, user", [
    (["sbatch", "--job-name=s3", "/home/sequences/job"], "user2"), (["sbatch", "--job-name=s4"], "user1"),
    (["scancel", "41"], "user2"), (["scontrol", "update", "jobid=41", "timelimit=3"], "user2"), (["scancel", "7"], "user1")])
def test_users(argv, user):
    assert site()._user_of(argv) == user


def job_with(tmp_path, **logs: str) -> Submission:
    for node, text in logs.items():
        (tmp_path / f"s1.log.{node}").write_text(text)
    return Submission(1, ["sbatch"], {}, [Version(read(["sbatch"], {}), 10, 10)], tmp_path / "s1.log", tmp_path / "s1.words")


def test_each_node_has_its_log(tmp_path):
    job = job_with(tmp_path, n1="start 11 7 0 n1 memory\n", n2="start 12 7 0 n2 memory\n! dirty job 7 on n2: a b\n")
    assert [look.node for look in looks_of(job, str)] == ["n1", "n2"]
    assert told(job) == [("dirty", "s1 (sbatch): job 7 on n2: a b")]


def test_what_a_job_says_is_no_look(tmp_path):
    assert looks_of(job_with(tmp_path, n1="! mess a b c d\n"), str) == []


def test_what_a_mess_complains_of_is_no_look(tmp_path):
    job = job_with(tmp_path, **{"n1": "start 11 7 0 n1 memory\n", "n1.deep": '  File "/home/sequences/mess", line 215, in main\n'})
    assert [look.node for look in looks_of(job, str)] == ["n1"]


def test_clocks_differ(tmp_path):
    job = job_with(tmp_path)
    job.clock_s = TWIN.clock
    job.versions.append(Version(read(["sbatch", "-x", "n1"], {}), 20, 21))
    assert [len(job.asked_at(at)) for at in (17, 18.5, 22.5, 24)] == [1, 2, 2, 1]


def test_a_slow_machine_has_more_time():
    lines = [("n1", "boot", 0), ("n2", "boot", 1), ("n1", "ready", 90), ("n1", "boot", 100), ("n2", "ready", 21), ("n1", "ready", 140)]
    events = [{"node": node, "event": event, "time": time} for node, event, time in lines]
    assert [slowest_boot(events), slowest_boot(events[:4]), slowest_boot([])] == [40, 90, 0]
    assert (TWIN.scaled(2).held, TWIN.scaled(2).pace) == (2 * TWIN.held, TWIN.pace)


@pytest.mark.parametrize("name, mode", [
    ("mess", ("appdirect", "mixed")), ("flat memory", ("flat",)), ("devices", ("appdirect",))])
def test_each_action_asks_for_the_memory_that_it_is_about(name, mode):
    world = World(SimpleNamespace(nodes=["n1", "n2"], modes=lambda: ["memory"]), nodes={"n1": {}, "n2": {}})
    action = next(action for action in ON_NODES if action.name == name)
    for seed in range(20):
        assert action.choose(world, random.Random(seed))["argv"][1] in [f"--pm-mode={one}" for one in mode]
