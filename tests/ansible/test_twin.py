"""The playbooks on an emulated cluster of plain guests, with the packages of 'make deb'. Kernel, tools, systemd and Slurm are real.

One twin for all tests, which follow each other: from nothing to jobs that choose their mode, provisioned, and back. A caller's
PMTWIN_DIR is used and left up. A guest without KVM takes seconds for a task that a machine does in a fraction of one, so each
playbook runs as rarely as can be.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import BUILD, TOP, TWIN_INVENTORY
from debs import bump, index, packages

SUITE = os.environ.get("PM_TWIN_RELEASE", "trixie")
HOSTS = ("head", "n1", "n2")
# What each run of apt, dpkg or adduser leaves behind, and where Ansible works.
NOT_COMPARED = re.compile(r"/(root/.ansible|var/(cache|log)|var/lib/(apt|dpkg|systemd|ucf))/|/etc/(ld\.so\.cache|[^/]*-)$")
OK = {"pmem_reboot_ok": True, "pmem_allow_data_loss": True}
LISTING = """
find /etc /usr /var /opt /root -xdev -type l -printf '%p -> %l\\n'
find /etc /usr /var /opt /root -xdev -type f -print0 | xargs -0 md5sum
dpkg-query --show --showformat '${Package} ${Version} ${db:Status-Abbrev}\\n'
systemctl --no-legend --no-pager list-unit-files
systemctl --no-legend --no-pager --plain --type=service,timer,socket --state=running,waiting,listening,failed list-units
"""


class Twin:
    """Guests in a directory, and playbooks that are run on them."""

    def __init__(self, directory: Path):
        self.environment = os.environ | {
            "PMTWIN_DIR": str(directory), "PMTWIN": str(TOP / "twin/pmtwin"), "ANSIBLE_HOME": str(BUILD / "ansible-home"),
            "ANSIBLE_COLLECTIONS_PATH": str(BUILD / "collections"), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_CONNECTION_PLUGINS": str(TOP / "twin/site/connection")}
        self.before = directory.with_suffix(".before.json")

    def up(self) -> None:
        """Started, with what was in the guests before anything was installed kept in a file, and our packages to be had."""
        self.pmtwin("up", "--plain", "--suite", SUITE, "--timeout", "600")
        if not self.before.exists():
            self.publish(packages(SUITE))
            self.before.write_text(json.dumps(self.contents()))

    def publish(self, *folders: Path) -> None:
        """Gives each guest a repository, in place of an earlier one, with the packages of these folders."""
        with tempfile.TemporaryDirectory() as made:
            repository = Path(made, "slurm-pmem")
            repository.mkdir()
            for package in (package for folder in folders for package in folder.glob("*.deb")):
                shutil.copy(package, repository)
            index(repository)
            for node in HOSTS:
                self.on(node, "rm", "-rf", "/srv/slurm-pmem")
                self.pmtwin("copy", str(repository), f"{node}:/srv/")

    def pmtwin(self, *words: str, check: bool = True) -> str:
        done = subprocess.run([TOP / "twin/pmtwin", *words], env=self.environment, capture_output=True, text=True)
        assert not check or not done.returncode, done.stdout + done.stderr
        return done.stdout if check else done.stdout + done.stderr

    def on(self, node: str, *command: str) -> str:
        return self.pmtwin("exec", "--wait", "120", node, "--", *command)

    def user(self, *command: str) -> str:
        return self.pmtwin("run", "--", *command)

    def start(self, playbook: str, *options: str, **variables) -> subprocess.CompletedProcess:
        return subprocess.run([str(BUILD / "ansible-venv/bin/ansible-playbook"), *TWIN_INVENTORY, f"slurm_pmem.cluster.{playbook}",
                               "--extra-vars", json.dumps(variables), *options],
                              env=self.environment, capture_output=True, text=True)

    def play(self, playbook: str, *options: str, **variables) -> dict[str, int]:
        """How much each host has changed."""
        done = self.start(playbook, *options, **variables)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr
        return {host: int(changed) for host, changed in re.findall(r"^(\w+) +: .*changed=(\d+)", done.stdout, re.M)}

    def contents(self) -> dict[str, list[str]]:
        """Of each guest its files with their contents, packages and units."""
        with ThreadPoolExecutor() as pool:
            listings = pool.map(lambda node: self.on(node, "sh", "-c", LISTING), HOSTS)
        return {node: sorted(line for line in map(single_spaced, text.splitlines()) if not volatile(line))
                for node, text in zip(HOSTS, listings)}

    def nodes(self) -> dict[str, tuple[str, str]]:
        """Name to state and active mode. Slurm 24.11 keeps the reason of the last drain."""
        rows = (line.split("|") for line in self.on("head", "sinfo", "-hN", "-o", "%N|%T|%b").splitlines())
        return {name: (state, features.split(",")[0]) for name, state, features in rows}

    def serves(self, node: str, mode: str) -> bool:
        """Idle in this mode by and by: slurmctld may have begun anew, and asks its nodes first."""
        end = time.monotonic() + 120
        while self.nodes()[node] != ("idle", f"pm_{mode}") and time.monotonic() < end:
            time.sleep(2)
        return self.nodes()[node] == ("idle", f"pm_{mode}")

    def version(self, node: str) -> str:
        return self.on(node, "dpkg-query", "-f", "${Version}", "-W", "slurm-pmem-common")

    def boot(self, node: str) -> str:
        return self.on(node, "cat", "/proc/sys/kernel/random/boot_id")


def single_spaced(line: str) -> str:
    """systemctl's columns are as wide as the longest name."""
    return " ".join(line.split())


def volatile(line: str) -> bool:
    """A line for a file that is not compared; those for packages and units begin with their names."""
    path = re.sub(r"^[0-9a-f]{32} ", "", line)
    return bool(NOT_COMPARED.match(path.split(" -> ")[0]))


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    kept = os.environ.get("PMTWIN_DIR")
    directory = Path(kept) if kept else tmp_path_factory.mktemp("twin") / "twin"
    made = Twin(directory)
    try:
        made.up()
        yield made
    finally:
        if not kept:
            made.pmtwin("down", check=False)
            shutil.rmtree(directory, ignore_errors=True)


def test_check_mode_predicts_and_changes_nothing(twin):
    before = twin.contents()
    assert min(twin.play("site", "--check", "--diff").values()) > 0
    assert twin.contents() == before


def test_site_from_nothing_and_once(twin):
    assert min(twin.play("site").values()) > 0
    assert set(twin.nodes().values()) == {("idle", "pm_appdirect")}
    assert twin.play("site") == dict.fromkeys(HOSTS, 0)


def memory_gib(text: str) -> int:
    return int(re.search(r"MemTotal: +(\d+) kB", text)[1]) >> 20


def test_a_users_job_changes_the_mode(twin):
    assert memory_gib(twin.on("n1", "cat", "/proc/meminfo")) < 2
    boots = twin.boot("n1"), twin.boot("n2")
    out = twin.user("srun", "-w", "n1", "--pm-mode=memory", "sh", "-c", "pmctl mode; grep MemTotal /proc/meminfo; id -un")
    assert out.startswith("memory\n") and memory_gib(out) >= 7 and out.endswith("user1\n")
    assert (twin.boot("n1") == boots[0], twin.boot("n2") == boots[1]) == (False, True)
    twin.user("sh", "-c", "printf '#!/bin/sh\\n#SBATCH --pm-mode=appdirect -w n1 -o job.out\\npmctl mode\\n' | sbatch --wait")
    assert twin.user("cat", "job.out") == "appdirect\n"
    assert memory_gib(twin.on("n1", "cat", "/proc/meminfo")) < 2


def test_validate_finds_what_is_wrong(twin):
    assert twin.play("validate") == dict.fromkeys(HOSTS, 0)
    twin.on("n1", "systemctl", "disable", "pmctl-verify.service")
    done = twin.start("validate", "--limit", "n1,head")
    twin.on("n1", "systemctl", "enable", "pmctl-verify.service")
    assert done.returncode and "Check that pmctl verifies the mode at each boot" in done.stdout


def test_provision_refuses_foreign_namespaces_and_names_them(twin):
    """No job has been on n2, so its regions are free."""
    twin.on("n2", "ndctl", "create-namespace", "--mode=fsdax", "--region=region0", "--name=thesis", "--size=1G")
    before, boot = twin.on("n2", "ndctl", "list", "-Nv"), twin.boot("n2")
    done = twin.start("provision", "--limit", "n2,head", pmem_provision_mode="memory", **OK)
    assert done.returncode and "thesis" in done.stdout
    assert twin.nodes()["n2"] == ("idle", "pm_appdirect")
    assert (twin.on("n2", "ndctl", "list", "-Nv"), twin.boot("n2")) == (before, boot)
    twin.on("n2", "ndctl", "destroy-namespace", "--force", "namespace0.0")


@pytest.fixture
def job(twin):
    """A job that runs on n1, and has nothing to do with what happens meanwhile."""
    number = twin.user("sbatch", "--parsable", "-w", "n1", "--wrap", "sleep 3000", "-o", "/dev/null").strip()
    boot = twin.boot("n1")
    yield number
    shown = twin.on("head", "scontrol", "--oneliner", "show", "job", number)
    twin.user("scancel", number)
    assert "JobState=RUNNING" in shown and "Restarts=0" in shown
    assert twin.boot("n1") == boot


def test_provision_there_and_back_beside_a_job(twin, job):
    for mode, memory in (("memory", 7), ("appdirect", 1)):
        twin.play("provision", "--limit", "n2,head", pmem_provision_mode=mode, **OK)
        assert twin.nodes()["n2"] == ("idle", f"pm_{mode}")
        assert memory_gib(twin.on("n2", "cat", "/proc/meminfo")) == memory
        assert twin.play("provision", "--limit", "n2,head", pmem_provision_mode=mode, **OK)["n2"] == 0


def test_an_upgrade_of_some_nodes_and_back_beside_jobs(twin, job, tmp_path):
    old = twin.version("n1")
    twin.publish(packages(SUITE), bump(packages(SUITE), tmp_path / "newer"))
    twin.play("upgrade", "--limit", "n2,head")
    assert twin.version("head") == twin.version("n2") != old == twin.version("n1")
    assert twin.nodes()["n2"] == ("idle", "pm_appdirect")
    assert twin.user("srun", "-w", "n2", "--pm-mode=appdirect", "pmctl", "mode") == "appdirect\n"
    assert twin.user("srun", "-w", "n1", "--mem=100M", "pmctl", "mode") == "appdirect\n"
    twin.play("rollback", "--limit", "n2,head")
    assert {twin.version(node) for node in HOSTS} == {old}
    assert twin.serves("n2", "appdirect")


def test_uninstall_leaves_all_as_it_was(twin):
    twin.play("uninstall", pmem_purge_state=True)
    before, after = json.loads(twin.before.read_text()), twin.contents()
    for node in HOSTS:
        assert set(before[node]) ^ set(after[node]) == set(), node
    assert twin.play("uninstall", pmem_purge_state=True) == dict.fromkeys(HOSTS, 0)
