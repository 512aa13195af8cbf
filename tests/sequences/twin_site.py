"""Sequences on the twin: guests with their own kernel, ipmctl, ndctl, daxctl and file systems.

The evidence is the guests' kernels', as a job's processes see them, and that of the emulated DIMMs on
the host. The twin of PMTWIN_DIR must be up, with two or more compute nodes; all sequences share it.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import Cluster, goals_in, jobs_in, nodes_in
import twinsite
from cluster import paths
from cluster.control import ask
from cluster.events import read
from cluster.state import State
from image.recipe import DEFAULT_SUITE
from times import BOOT_S, TWIN, Times
from twinsite import FOLDER, PMTWIN, Stuck, Twin, pmtwin, wait_for
from world import ENDED

GUEST = Path(__file__).with_name("guest")
HERE = "/home/sequences"        # shared by all guests
USERS = {1001: "user1", 1002: "user2"}
UP_S, CLEAN_S = 900, 120
STOPPED = ("DOWN", "DRAIN", "FAIL", "INVAL")

# ipmctl may be slow, as it is on real machines: a file says by how much. Users open /dev/fuse, as udev lets them elsewhere.
PREPARE = f"""\
grep -q slow {FOLDER}/bin/ipmctl || sed -i '1a [ ! -e {FOLDER}/slow ] || sleep "$(cat {FOLDER}/slow)"' {FOLDER}/bin/ipmctl
cat >/etc/systemd/system/open-fuse.service <<'END'
[Unit]
Before=slurmd.service
[Service]
Type=oneshot
ExecStart=-modprobe fuse
ExecStart=chmod 666 /dev/fuse
[Install]
WantedBy=multi-user.target
END
systemctl enable --now open-fuse
sync
"""
# Jobs may name one node by a feature of its own. On a busy machine a guest boots in minutes, and no node is broken for it.
CONFIGURE = """\
grep -q Feature=rack1 /etc/slurm/slurm.conf && exit
sed -i -E 's/^ResumeTimeout=.*/ResumeTimeout=600/' /etc/slurm/*.conf
sed -i -E 's/^(NodeName=n1) /\\1 Feature=rack1 /; s/^(NodeName=n)([2-9]) /\\1\\2 Feature=rack\\2,rack-\\2,c++ /' /etc/slurm/slurm.conf
systemctl restart slurmctld
"""
HEAL = """\
pmctl verify; pmctl recover
pmctl health --clear || { ipmctl delete -goal; pmctl verify; pmctl health --clear; }
"""
KILL = """\
for ((i = 0; i < $1 * 10; i++)); do
	pid=$(pgrep -xo pmctl) && kill -KILL "$pid" 2>/dev/null && { echo "$pid"; exit; }
	sleep 0.1
done
"""
# The program that removes what jobs have left runs for a tenth of a second in three; never stopped for long, since it
# may hold a lock.
SLOW_REMOVAL = """\
systemctl --quiet is-active slow-removal && exit
systemd-run --quiet --collect --unit=slow-removal -p RuntimeMaxSec="$1" \
	-p ExecStopPost="-pkill -CONT -xf 'pmctl sweep( .*)?'" bash -c '
	while sleep 1; do
		pids=$(pgrep -xf "pmctl sweep( .*)?") || continue
		while kill -STOP $pids 2>/dev/null; do
			sleep 3
			kill -CONT $pids
			sleep 0.1
		done
	done'
"""
# Directories of jobs that are gone, what was mounted in them, and trash.
LEFT = """\
shopt -s nullglob
ls -A /mnt/slurm-pmem/socket*/ 2>/dev/null | grep -E '^(job|trash)_'
grep -oE '/mnt/slurm-pmem/socket[0-9]+/[^ ]+' /proc/self/mountinfo
ls -A /run/slurm-pmem/jobs /var/lib/slurm-pmem/jobs 2>/dev/null | grep -E '^[0-9]'
true
"""


class TwinSite(Cluster):
    """The first node can be broken."""

    place = "twin"
    has_kernel = restarts_at_reconfigure = gives_back_misread = True
    breakable = "n1"
    twins: dict[str, Twin] = {}     # made ready once for all sequences

    def __init__(self):
        self.state = State(Path(os.environ.get("PMTWIN_DIR") or paths.default_state(DEFAULT_SUITE)).absolute())
        self.nodes = twinsite.compute_nodes()
        self.home = self.state.directory
        self.folder = self.home / HERE.lstrip("/")
        self.first_job = 0          # of this sequence
        self.owners: dict[str, str] = {}
        if not self.twins:
            self._make_ready()

    @property
    def slowness(self) -> float:
        """By how long the last boots took."""
        return max(1, slowest_boot(read(self.state.events, follow=False)) / BOOT_S)

    @property
    def times(self) -> Times:
        return TWIN.scaled(self.slowness)

    # --- what makes the nodes ours -------------------------------------------------------------
    def _make_ready(self) -> None:
        self.folder.mkdir(mode=0o777, exist_ok=True)
        self.folder.chmod(0o777)
        for name in ("job", "mess"):
            shutil.copy(GUEST / name, self.folder / name)
        wait_for(UP_S, lambda: all(self._is_ready(node) for node in self.nodes))    # jobs of an earlier run reboot them
        with ThreadPoolExecutor() as pool:
            self.twins |= dict(zip(self.nodes, pool.map(Twin, self.nodes)))
            list(pool.map(lambda twin: twin.sh(PREPARE), self.twins.values()))
        self.head(CONFIGURE)
        self._await_controller()

    def head(self, script: str, *words: str) -> twinsite.Done:
        return pmtwin("exec", "head", "--", "bash", "-c", script, "bash", *words)

    def tidy(self) -> None:
        """A cluster as a sequence wants to find it: in service, idle, its queue empty."""
        for node, twin in self.twins.items():
            twin.inject("none")
            twin.disarm()
            self.slow_down(node, 0)
        self.head("for r in $(scontrol -o show reservation | grep -oP '(?<=ReservationName=)\\S+'); do "
                  "scontrol delete reservationname=$r; done; "
                  "for u in user1 user2; do scancel --full --user=$u; scancel --user=$u; done; "
                  "systemctl restart pm-controller")
        self._bring_back()
        shown = super().jobs_shown()
        self.first_job = max((int(fields["JobId"]) for fields in shown), default=0)
        for path in self.folder.glob("s*.*"):
            path.unlink()

    def _bring_back(self) -> None:
        for wanted in (STOPPED, ("",)):
            for node, fields in self.nodes_shown().items():
                if fields["State"] != "IDLE" and any(word in fields["State"] for word in wanted):
                    self.repair_node(node)
                    self.admin("scontrol", "update", f"nodename={node}", "state=resume")
            if wait_for(UP_S, self._is_tidy):
                return
        raise Stuck(f"nodes are {[fields['State'] for fields in self.nodes_shown().values()]}")

    def _is_tidy(self) -> bool:
        jobs, nodes = self._all_shown()
        return (not any(fields["JobState"] not in ENDED for fields in jobs)
                and all(fields["State"] == "IDLE" for fields in nodes.values()))

    # --- commands ------------------------------------------------------------------------------
    def admin(self, *argv: str) -> subprocess.CompletedProcess:
        done = pmtwin("exec", "head", "--", *argv)
        return subprocess.CompletedProcess(argv, done.status, done.out, done.err)

    def _user_of(self, argv: list[str]) -> str:
        """Jobs are of two users in turns; who changes one is its owner."""
        name = re.search(r"--job-name=s(\d+)", " ".join(argv))
        if name:
            return USERS[1001 + int(name[1]) % 2]
        named = (self.owners[number] for number in re.findall(r"\d+", " ".join(argv)) if number in self.owners)
        return next(named, "user1")

    def _as_user(self, argv: list[str], env: dict[str, str]) -> list[str]:
        words = ["env", *(f"{name}={value}" for name, value in env.items())] if env else []
        return ["run", "--user", self._user_of(argv), "--", *words, *argv]

    def user(self, argv: list[str], env: dict[str, str]) -> subprocess.CompletedProcess:
        done = pmtwin(*self._as_user(argv, env))
        return subprocess.CompletedProcess(argv, done.status, done.out, done.err)

    def start(self, argv: list[str], env: dict[str, str], words: Path) -> subprocess.Popen:
        """A client that waits for its job; signals that pmtwin gets are passed on to it."""
        with open(words, "wb") as file:
            return subprocess.Popen([PMTWIN, *self._as_user(argv, env)], stdin=subprocess.DEVNULL, stdout=file, stderr=file)

    def job_command(self, log: Path, seconds: float, *mess: str) -> list[str]:
        return [f"{HERE}/job", f"{HERE}/{log.name}", str(seconds), *mess]

    def modes(self) -> list[str]:
        return ["appdirect", "memory", "mixed", "flat"]

    # --- what happens to nodes -----------------------------------------------------------------
    def slow_down(self, node: str, seconds: float) -> None:
        path = f"{FOLDER}/slow"
        self.twins[node].sh(f"echo {seconds} >{path}" if seconds else f"rm -f {path}", timeout=30)

    def power_cycle(self, node: str) -> None:
        pmtwin("power-cycle", node)

    def restart_slurmd(self, node: str) -> None:
        self.twins[node].sh("systemctl restart slurmd")

    def restart_controller(self) -> None:
        self.head("systemctl restart slurmctld")
        self._await_controller()

    def _await_controller(self) -> None:
        wait_for(60, lambda: self.admin("scontrol", "ping").returncode == 0)

    def restart_service(self) -> None:
        """pm-controller, in the middle of whatever it does."""
        self.head("systemctl kill --signal=KILL pm-controller; systemctl reset-failed pm-controller; "
                  "systemctl start pm-controller")

    def stop_service(self) -> None:
        self.head("systemctl kill --signal=KILL pm-controller; systemctl stop pm-controller")

    def kill_pmctl(self, node: str, seconds: int) -> str:
        """Its process ID, "" when none ran."""
        return pmtwin("exec", node, "--", "bash", "-c", KILL, "bash", str(seconds), timeout=60).out.strip()

    def slow_removal(self, node: str) -> None:
        """For longer than a job's end may take."""
        pmtwin("exec", node, "--", "bash", "-c", SLOW_REMOVAL, "bash", f"{2 * self.times.ending:.0f}", timeout=60)

    def break_goal(self, fault: str) -> None:
        self.twins[self.breakable].inject(fault)

    def break_tool(self, how: str, label: str) -> None:
        self.twins[self.breakable].arm(spoil=f"{how} 1 {label}")

    def repair_node(self, node: str) -> None:
        """What an administrator does: power cycle, look at the node, clear what was noted; not: resume."""
        twin = self.twins[node]
        twin.inject("none")
        if not self._is_ready(node):
            wait_for(60, lambda: self._is_ready(node))
        twin.disarm()
        before = self._guest(node)["boots"]
        self.power_cycle(node)
        wait_for(UP_S, lambda: self._is_ready(node) and self._guest(node)["boots"] > before)
        twin.disarm()
        twin.sh(HEAL)

    # --- evidence ------------------------------------------------------------------------------
    def _guest(self, node: str) -> dict:
        return next(guest for guest in ask(self.state, "status")["nodes"] if guest["name"] == node)

    def _is_ready(self, node: str) -> bool:
        return self._guest(node)["ready"]

    def boot_id(self, node: str) -> str:
        """The machine's own count, "" while it boots."""
        guest = self._guest(node)
        return str(guest["boots"]) if guest["ready"] else ""

    def uptime(self, node: str) -> float:
        guest = self._guest(node)
        return time.time() - guest["since"] if guest["ready"] else 0

    def goals(self, node: str) -> list[str]:
        return goals_in(self.home / node / "machine")

    def mode_of(self, seen: str) -> str:
        """Of a node of the twin: 2 sockets, each with 1 GiB of DRAM and 4 GiB of persistent memory."""
        cache, regions, mib = (seen.split("/") + ["", "", ""])[:3]
        if not mib.isdigit():
            return seen
        known = {("yes", "0", True): "memory", ("no", "2", True): "appdirect", ("no", "2", False): "appdirect",
                 ("yes", "2", False): "mixed"}
        return known.get((cache, regions, int(mib) > 4200), seen)

    def _all_shown(self) -> tuple[list[dict[str, str]], dict[str, dict[str, str]]]:
        """By one command: each takes seconds in a guest."""
        text = self.head("scontrol -o show job; scontrol -o show node").out
        return jobs_in(text), nodes_in(text)

    def shown(self) -> tuple[list[dict[str, str]], dict[str, dict[str, str]]]:
        """The jobs are those of this sequence."""
        jobs, nodes = self._all_shown()
        return self._of_this_sequence(jobs), nodes

    def jobs_shown(self) -> list[dict[str, str]]:
        return self._of_this_sequence(super().jobs_shown())

    def _of_this_sequence(self, jobs: list[dict[str, str]]) -> list[dict[str, str]]:
        shown = [fields for fields in jobs if int(fields["JobId"]) > self.first_job]
        for fields in shown:
            owner = fields["UserId"].partition("(")[0]
            self.owners |= {fields["JobId"]: owner, fields.get("ArrayJobId", fields["JobId"]): owner}
        return shown

    def _left_on(self, node: str) -> str:
        done = self.twins[node].sh(LEFT)
        return " ".join(done.out.split()) if done.status == 0 else ""

    def left_behind(self) -> list[str]:
        """Trash goes by itself, but it goes."""
        for twin in self.twins.values():
            twin.sh("systemctl stop slow-removal")
        found = {}
        def is_clean() -> bool:
            found.update((node, self._left_on(node)) for node in self.nodes)
            return not any(found.values())
        wait_for(CLEAN_S * self.slowness, is_clean)
        return [f"{node} has still {left}" for node, left in found.items() if left]

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.glob("s*.*"):
            (folder / path.name).write_bytes(path.read_bytes())
        (folder / "slurmctld.log").write_text(self.head("cat /var/log/slurm/slurmctld.log").out)
        (folder / "controller").write_text(self.head("journalctl -u pm-controller -u slurmctld").out)
        (folder / "events").write_text(pmtwin("events").out)
        for node in self.nodes:
            (folder / node).write_text(self.twins[node].sh("journalctl; cat /var/log/slurm/slurmd.log; pmctl health").out)


def slowest_boot(events: Iterable[dict]) -> float:
    """Of the last boots that each node has ended."""
    since, took = {}, {}
    for event in events:
        node = event["node"]
        if event["event"] == "boot":
            since[node] = event["time"]
        elif event["event"] == "ready" and node in since:
            took[node] = event["time"] - since.pop(node)
    return max(took.values(), default=0)
