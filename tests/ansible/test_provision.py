"""The playbooks provision and validate on tests/cluster: a real Slurm, real ipmctl, nodes that reboot in half a second."""
import json
import os
import re
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import BUILD, TOP, recorded_ndctl

MEMORY = {"pmem_provision_mode": "memory"}
OK = {"pmem_reboot_ok": True}
VALIDATE = "slurm_pmem.cluster.validate"
WITHOUT_UNITS = {"pmem_services_running": False}


def recap_of(said: str) -> dict[str, dict[str, int]]:
    return {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", counts)}
            for host, counts in re.findall(r"^(\w+) +: (.*)$", said, re.M)}


def up_to(run: subprocess.Popen, task: str) -> None:
    """Reads what a playbook prints until it begins a task."""
    for line in run.stdout:
        if line.startswith("TASK [") and line.split("]")[0].endswith(task):
            return


class Cluster:
    """A bench and the command lines that go to it."""

    def __init__(self, pointer: Path):
        self.environment = os.environ | {
            "PM_BENCH": str(pointer), "ANSIBLE_HOME": str(BUILD / "ansible-home"), "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_COLLECTIONS_PATH": str(BUILD / "collections"), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_CONNECTION_PLUGINS": str(TOP / "twin/site/connection")}
        self.environment["PMBENCH"] = self.bench("up", "--build", str(BUILD), "--owner", str(os.getpid())).strip()

    def bench(self, *words: str, check: bool = True) -> str:
        done = subprocess.run([TOP / "tests/cluster/bench", *words], env=self.environment, capture_output=True, text=True)
        assert not check or not done.returncode, done.stdout + done.stderr
        return done.stdout

    def command(self, variables: dict, *options: str, playbook: str = "slurm_pmem.cluster.provision") -> list[str]:
        return [str(BUILD / "ansible-venv/bin/ansible-playbook"), "-i", str(TOP / "tests/ansible/bench.yml"),
                playbook, "--extra-vars", json.dumps(variables), *options]

    def provision(self, *options: str, **variables) -> tuple[str, dict]:
        return self.run(self.command(variables, *options))

    def run(self, command: list[str]) -> tuple[str, dict]:
        """Output, and of each host the counts of the recap."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        return done.stdout + done.stderr, recap_of(done.stdout)

    def nodes(self) -> dict[str, tuple[str, str, str]]:
        """Name to state, active mode and reason."""
        lines = self.bench("exec", "sinfo", "-hN", "-o", "%N|%T|%b|%E").splitlines()
        rows = (line.split("|", 3) for line in lines)
        return {name: (state.rstrip("*"), features.split(",")[0], reason) for name, state, features, reason in rows}

    @contextmanager
    def gone(self, name: str):
        """As long as the block lasts the node does not answer Ansible; Slurm does not notice."""
        mark = Path(self.environment["PMBENCH"]) / name / "gone"
        mark.touch()
        try:
            yield
        finally:
            mark.unlink()

    @contextmanager
    def foreign_namespaces(self, name: str):
        """As long as the block lasts ndctl lists recorded ones on this node; gives the file of what would have changed them."""
        home = Path(self.environment["PMBENCH"]) / name
        configuration, tool = home / "pmem.conf", home / "ndctl"
        own = configuration.read_text()
        mounts = home / "machine/root/proc/self/mountinfo"
        mounts.parent.mkdir(parents=True, exist_ok=True)
        mounts.touch()
        (home / "regions").write_text("foreign")
        tool.write_text("\n".join(("#!/bin/sh", *recorded_ndctl(home), "")))
        tool.chmod(0o755)
        configuration.write_text(own.replace("Provision=no", f"Provision=yes NdctlPath={tool} DaxctlPath={tool}"))
        try:
            yield home / "changed"
        finally:
            configuration.write_text(own)

    def settle(self) -> None:
        """All nodes idle in App Direct, without faults and reasons."""
        for name, (state, mode, _reason) in self.nodes().items():
            self.bench("inject", name, "none")
            self.bench("node", name, "pmctl", "set", "appdirect")
            if mode != "pm_appdirect" or self.bench("node", name, "pmctl", "health", check=False):
                self.bench("node", name, "pmctl", "health", "--clear", check=False)
                self.bench("node", name, "pmctl", "reboot")
            self.bench("exec", "scontrol", "update", f"nodename={name}", "state=resume", check=False)
        end_at = time.monotonic() + 60
        while set(self.nodes().values()) != {("idle", "pm_appdirect", "none")}:
            assert time.monotonic() < end_at, self.nodes()
            time.sleep(0.2)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    if os.geteuid():
        pytest.skip("the bench needs root")
    made = Cluster(tmp_path_factory.mktemp("bench") / "pointer")
    yield made
    made.bench("down")


@pytest.fixture(autouse=True)
def settled(cluster):
    cluster.settle()


def test_to_memory_once_and_not_again(cluster):
    out, recap = cluster.provision("--check", "--diff", **MEMORY, **OK)
    assert "# destroys the labels of 4 modules" in out
    assert [recap[node]["changed"] for node in ("n1", "n2")] == [1, 1]
    assert {node[:2] for node in cluster.nodes().values()} == {("idle", "pm_appdirect")}
    out, recap = cluster.provision(**MEMORY, **OK)
    assert all(counts["changed"] and not counts["failed"] for counts in recap.values()), out
    assert {node[:2] for node in cluster.nodes().values()} == {("idle", "pm_memory")}
    # As Slurm 24.11 keeps it.
    cluster.bench("exec", "scontrol", "update", "nodename=n1", "reason=pmem: ansible: provision memory")
    out, recap = cluster.provision(**MEMORY, **OK)
    assert all(not counts["changed"] for counts in recap.values()), out


def test_without_leave_to_reboot_no_node_is_drained(cluster):
    out, recap = cluster.provision(**MEMORY)
    assert "requires reboot_ok: only a reboot brings the node from appdirect to memory" in out
    assert (recap["n1"]["failed"], recap["n2"]["ok"]) == (1, 1), "one failure stops the roll-out: n2 has only answered"
    assert set(cluster.nodes().values()) == {("idle", "pm_appdirect", "none")}


def test_a_job_on_another_node_is_not_disturbed_and_one_on_the_node_is_waited_for(cluster):
    job = cluster.bench("sbatch", "--parsable", "-w", "n2", "--wrap", "sleep 8", "-o", "/dev/null").strip()
    other = cluster.bench("sbatch", "--parsable", "-w", "n1", "--wrap", "sleep 300", "-o", "/dev/null").strip()
    out, recap = cluster.provision("--limit", "n2,head", **MEMORY, **OK)
    assert recap["n2"]["failed"] == 0, out
    jobs = cluster.bench("exec", "scontrol", "--oneliner", "show", "job", job)
    assert "JobState=COMPLETED" in jobs and "Restarts=0" in jobs
    assert "JobState=RUNNING" in cluster.bench("exec", "scontrol", "--oneliner", "show", "job", other)
    assert cluster.nodes()["n2"][:2] == ("idle", "pm_memory")
    cluster.bench("exec", "scancel", other)


def test_a_rolling_change_in_check_mode_drains_no_node_and_waits_for_no_job(cluster):
    job = cluster.bench("sbatch", "--parsable", "-w", "n1", "--wrap", "sleep 100", "-o", "/dev/null").strip()
    command = cluster.command({}, "--check", "--diff", playbook=str(TOP / "tests/ansible/rolling.yml"))
    out, recap = cluster.run(command)
    assert all(not counts["failed"] for counts in recap.values()) and len(recap) == 2, out
    assert {reason for _state, _mode, reason in cluster.nodes().values()} == {"none"}
    cluster.bench("exec", "scancel", job)


def test_a_node_whose_jobs_do_not_end_is_given_back(cluster):
    job = cluster.bench("sbatch", "--parsable", "-w", "n1", "--wrap", "sleep 100", "-o", "/dev/null").strip()
    out, recap = cluster.provision("--limit", "n1,head", pmem_drain_timeout=3, **MEMORY, **OK)
    assert recap["n1"]["failed"] == 1 and "n1 is as it was" in out
    assert cluster.nodes()["n1"] == ("mixed", "pm_appdirect", "none") or cluster.nodes()["n1"][0] == "allocated"
    cluster.bench("exec", "scancel", job)


def test_a_node_that_an_administrator_drains_meanwhile_stays_drained(cluster):
    job = cluster.bench("sbatch", "--parsable", "-w", "n1", "--wrap", "sleep 100", "-o", "/dev/null").strip()

    def drain_behind_the_playbook():
        while not cluster.nodes()["n1"][2].startswith("pmem: ansible:"):
            time.sleep(0.2)
        cluster.bench("exec", "scontrol", "update", "nodename=n1", "state=drain", "reason=fan of node 1")

    administrator = threading.Thread(target=drain_behind_the_playbook, daemon=True)
    administrator.start()
    out, recap = cluster.provision("--limit", "n1,head", pmem_drain_timeout=10, **MEMORY, **OK)
    administrator.join()
    assert recap["n1"]["failed"] == 1, out
    state, _mode, reason = cluster.nodes()["n1"]
    assert (state, reason) == ("draining", "fan of node 1")
    cluster.bench("exec", "scancel", job)


def test_a_rejected_goal_leaves_the_node_drained_with_the_reason_and_stops_the_roll_out(cluster):
    cluster.bench("inject", "n1", "goal-rejected")
    out, recap = cluster.provision(**MEMORY, **OK)
    assert (recap["n1"]["failed"], recap["n2"]["ok"]) == (1, 1), out
    state, mode, reason = cluster.nodes()["n1"]
    assert (state, mode) == ("drained", "pm_appdirect")
    assert reason.startswith("pmem: ansible: provision memory failed:") and "rejected by the firmware" in reason
    assert cluster.nodes()["n2"] == ("idle", "pm_appdirect", "none")


def test_up_to_the_sites_threshold_the_roll_out_goes_on(cluster):
    cluster.bench("inject", "n1", "goal-rejected")
    out, recap = cluster.provision(pmem_max_fail_percentage=50, pmem_serial=2, **MEMORY, **OK)
    assert (recap["n1"]["failed"], recap["n2"]["failed"]) == (1, 0), out
    assert cluster.nodes()["n2"][:2] == ("idle", "pm_memory")


def test_a_node_that_is_down_is_left_out(cluster):
    with cluster.gone("n1"):
        out, recap = cluster.provision(**MEMORY, **OK)
    assert (recap["n1"]["unreachable"], recap["n2"]["failed"]) == (1, 0), out
    assert cluster.nodes() == {"n1": ("idle", "pm_appdirect", "none"), "n2": ("idle", "pm_memory", "none")}


def test_a_node_that_is_lost_on_the_way_stops_the_roll_out_and_the_next_run_goes_on_with_it(cluster):
    command = cluster.command({**MEMORY, **OK, "pmem_serial": 2})
    with subprocess.Popen(command, env=cluster.environment, stdout=subprocess.PIPE, text=True) as run:
        up_to(run, "Note that from here on the node is not as it was")
        with cluster.gone("n1"):
            out = run.stdout.read()
    recap = recap_of(out)
    assert (recap["n1"]["unreachable"], recap["n2"]["failed"]) == (1, 1), out
    assert "n2 is done, but n1 failed or stopped answering on the way" in out
    assert cluster.nodes()["n1"][2] == "pmem: ansible: provision memory"
    assert cluster.nodes()["n2"] == ("idle", "pm_memory", "none")
    out, recap = cluster.provision(**MEMORY, **OK)
    assert (recap["n1"]["failed"], recap["n2"]["changed"]) == (0, 0), out
    assert cluster.nodes()["n1"] == ("idle", "pm_memory", "none")


def test_the_drain_of_an_admin_stays(cluster):
    cluster.bench("exec", "scontrol", "update", "nodename=n1", "state=drain", "reason=fan is loud")
    out, recap = cluster.provision("--limit", "n1,head", **MEMORY, **OK)
    assert recap["n1"]["failed"] == 0, out
    assert cluster.nodes()["n1"] == ("drained", "pm_memory", "fan is loud")


def test_foreign_namespaces_are_named_and_nothing_is_touched(cluster):
    with cluster.foreign_namespaces("n1") as changed:
        for options in ((), ("--check", "--diff")):
            out, recap = cluster.provision("--limit", "n1,head", *options, pmem_allow_data_loss=True, **MEMORY, **OK)
            assert recap["n1"]["failed"] == 1 and recap["n1"]["changed"] == 0
            assert "namespace0.0" in out and "not slurm-pmem's" in out
        assert not changed.exists()
        assert json.loads(cluster.bench("node", "n1", "pmctl", "show", "--json"))["goal"] == []
    assert cluster.nodes()["n1"] == ("idle", "pm_appdirect", "none")


@pytest.mark.parametrize("tag, hosts", [("controller", {"head"}), ("node", {"n1", "n2"}), ("login", {"head"})])
def test_validate_looks_only(cluster, tag, hosts):
    out, recap = cluster.run(cluster.command(WITHOUT_UNITS, "--tags", tag, playbook=VALIDATE))
    assert {host for host, counts in recap.items() if counts["ok"] > 2} == hosts, "all check their variables"
    assert all(not counts["failed"] and not counts["changed"] for counts in recap.values()), out


def test_validate_finds_a_goal_that_nobody_has_rebooted_for(cluster):
    cluster.bench("node", "n1", "pmctl", "set", "memory")
    out, recap = cluster.run(cluster.command(WITHOUT_UNITS, "--tags", "node", playbook=VALIDATE))
    assert (recap["n1"]["failed"], recap["n2"]["failed"]) == (1, 0)
    assert "a goal is staged and waits for a reboot" in out


SECRET = "hunter2-of-the-bmc"


def test_a_power_cycle_where_a_reboot_does_not_apply_the_goal(cluster, tmp_path):
    """The secret comes over standard input, and nowhere else."""
    script = tmp_path / "power"
    script.write_text(f"""#!/bin/sh
[ "$(cat)" = "$(cat {tmp_path}/secret)" ] || exit 1
grep -lazF -f {tmp_path}/secret /proc/[0-9]*/cmdline /proc/[0-9]*/environ >{tmp_path}/seen 2>/dev/null
{TOP}/tests/cluster/bench inject "$1" none && exec {TOP}/tests/cluster/bench power-cycle "$1"
""")
    script.chmod(0o755)
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "vars.json").write_text(json.dumps({"pmem_provision_power_stdin": SECRET}))
    cluster.bench("inject", "n1", "goal-ignored")
    out, recap = cluster.provision("--limit", "n1,head", "-vvvv", f"--extra-vars=@{tmp_path}/vars.json", **MEMORY, **OK,
                                   pmem_provision_power_command=[str(script), "n1"])
    assert recap["n1"]["failed"] == 0, out
    assert cluster.nodes()["n1"][:2] == ("idle", "pm_memory")
    assert SECRET not in out
    assert (tmp_path / "seen").read_text() == ""


@pytest.mark.parametrize("task", [
    "Ask what is to be done", "Drain it, with a reason", "Wait until its jobs have ended",
    "Note that from here on the node is not as it was", "Change the mode, or stage the goal", "Ask where the boot's number is",
    "Reboot", "Verify, and bring the regions into their state", "Look at the node's persistent memory",
    "Wait until it has registered with the features of its mode", "Note that all went well", "Give the node back"])
def test_killed_at_a_task_and_run_again(cluster, task):
    command = cluster.command({**MEMORY, **OK}, "--limit", "n1,head")
    with subprocess.Popen(command, env=cluster.environment, stdout=subprocess.PIPE, text=True, start_new_session=True) as run:
        up_to(run, task)
        time.sleep(0.2)
        os.killpg(run.pid, signal.SIGKILL)
    state, _mode, reason = cluster.nodes()["n1"]
    assert state == "idle" or reason.startswith("pmem: ansible: provision memory"), reason
    out, recap = cluster.provision("--limit", "n1,head", **MEMORY, **OK)
    assert recap["n1"]["failed"] == 0, out
    assert cluster.nodes()["n1"] == ("idle", "pm_memory", "none")
