"""Where sequences run: what is done to a cluster, and the evidence that it leaves.

The evidence is the machine's own: files of the kernel that its firmware has booted, goals in its
DIMMs, words of Slurm's commands. Nothing of the product is asked.
"""

import os
import re
import subprocess
import time
from pathlib import Path

from common import Cluster, goals_in
import benchsite
from benchsite import wait_for
from bench_supervisor import call
from promises import TURN_AWAY_LIMIT
from times import BENCH

BREAKABLE = benchsite.NODE
CONTROLLER_S, REGISTER_S = 20, 60

# Slurm hands out memory, and believes of each node what it has in Memory Mode.
HARDWARE = ("--consume-memory", "--hardware", "CPUs=2 RealMemory=7900")
MEMORY_OF_JOBS = "DefMemPerCPU=200\n"
# What there is in each mode, so that jobs that ask for more are refused. The kernel keeps some for itself.
OFFERS = "UsableMemory=memory:7900M,appdirect:1900M,flat:1900M,mixed:3900M\nUsableDram=900M\n"
# Jobs seldom come back to the queue more often in a sequence.
LIMIT = f"TurnAwayLimit={TURN_AWAY_LIMIT}\n"
# What an administrator writes into pmem.conf, and beside it into helpers.conf.
POLICIES = {"plain": ("", ""), "shared nodes": ("Exclusive=no\n", ""),
            "no reboots": ("RebootUsers=root\n", "AllowUserBoot=root\n")}
BOOTED_S = 6        # slurmctld 22.05 may show a node that reboots soon after its boot as rebooting for ever

# Each look of a job is a line: word, time, job, restarts, node, App Direct regions and memory cache.
# Which persistent memory it was given goes to another file; the bench's nodes have none for jobs.
LOOK = """\
#!/bin/bash
# look LOG SECONDS
shopt -s nullglob
[ "${{SLURM_PROCID:-0}}" = 0 ] || exec sleep "$2"
look() {{
	local node cache regions root
	for node in $nodes; do
		root={home}/$node/machine/root/sys cache=no
		regions=("$root"/bus/nd/devices/*)
		[ ! -e "$root/devices/system/node/node0/memory_side_cache" ] || cache=yes
		echo "$1 $EPOCHREALTIME $SLURM_JOB_ID ${{SLURM_RESTART_COUNT:-0}} $node $cache/${{#regions[@]}}" >>"$log"
	done
}}
log=$1 nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
[ -z "${{PM_DIR0-}}" ] || echo "$SLURM_JOB_ID $PM_DIR0" >>"${{log%.log}}.given"
look start
sleep "$2"
look end
"""

# In front of what runs ipmctl. A change is not replaced by it: its end is noted.
IPMCTL = """\
export SLURMD_NODENAME={node} # a reset ends what has it in its environment
kind=look exec=exec
case "$*" in create*nvmxml*-goal*|delete*nvmxml*-goal*) kind=change exec= ;; esac
read -r now rest </proc/uptime
echo "begin $$ $now $kind" >>{home}/tools
[ ! -e {home}/slow ] || sleep $(cat {home}/slow)"""
IPMCTL_END = """\
status=$?
read -r now rest </proc/uptime
echo "end $$ $now" >>{home}/tools
exit $status
"""

# In front of what runs pmctl.
PMCTL = """\
node={home}/$SLURMD_NODENAME
case "$*" in
"job begin --job="*)
	if [ -e $node/turns-away ]; then
		id=${{3#--job=}}
		echo "$id $(date +%s.%N)" >>{home}/turned
		echo 'pmctl: job begin: this node takes no jobs now' >&2
		exit 3
	fi ;;
"job end "*)
	boot=$(stat -c %Y $node/machine/root/proc/sys/kernel/random/boot_id)
	# In a prolog, which ends a forgotten job, it would turn the next job away.
	if [ -e $node/end-reboots ] && [ $(($(date +%s) - boot)) -gt {booted} ] && ! grep -qz prolog /proc/$PPID/cmdline; then
		rm $node/end-reboots
		echo 'pmctl: job end: memory stays' >&2
		exit 5
	fi ;;
esac"""


class BenchSite(Cluster, benchsite.Site):
    """A bench of three nodes, of which the first can be broken."""

    place, breakable, times = "bench", BREAKABLE, BENCH
    options: tuple[str, ...] = HARDWARE     # of the bench

    def __init__(self, pointer: Path, nodes: int = 3):
        super().__init__(pointer, nodes, *self.options)
        self.nodes = self.bench.nodes()
        self.folder = self.home / "home"
        self.own = {name: (self.home / "etc" / name).read_text() for name in ("pmem.conf", "helpers.conf")}
        self._write("pmem.conf", OFFERS + LIMIT)
        self.bench_tool("service", "start")     # it reads its limit when it begins, and counts when it answers
        self.cycled: dict[str, float] = {}      # when the power of each was cut last
        self.look = self.home / "home" / "look"
        self.look.write_text(LOOK.format(home=self.home))
        self.look.chmod(0o755)
        self._may_interfere()
        for node in self.nodes:
            self._may_slow_down(node)
        with open(self.home / "etc/slurm-pmem.conf", "a", encoding="utf-8") as conf:
            conf.write(MEMORY_OF_JOBS)
        self._configure()

    def _configure(self) -> None:
        """What else Slurm is told before a sequence begins, and that it is to read all of it."""
        self.root("scontrol", "reconfigure")

    def _may_slow_down(self, node: str) -> None:
        """ipmctl takes seconds on real machines: a file `slow` says how many here. When it works is in `tools`."""
        home = self.home / node
        path = home / "real/ipmctl" if node == BREAKABLE else home / "ipmctl"
        head, _, rest = path.read_text().partition("\n")
        rest = rest.replace("exec /usr/bin/ipmctl", "$exec /usr/bin/ipmctl")
        rewrite(path, f"{head}\n{IPMCTL.format(home=home, node=node)}\n{rest}{IPMCTL_END.format(home=home)}")

    def _may_interfere(self) -> None:
        """A node's `turns-away` has it turn jobs away, its `end-reboots` has one job's end ask for a reboot."""
        path = self.home / "bin/pmctl"
        head, _, rest = path.read_text().partition("\n")
        rewrite(path, f"{head}\n{PMCTL.format(home=self.home, booted=BOOTED_S)}\n{rest}")

    def _write(self, name: str, more: str) -> None:
        """A file of etc/, at once, with more lines than it came with."""
        path = self.home / "etc" / name
        new = path.with_suffix(".new")
        new.write_text(self.own[name] + more)
        new.replace(path)

    def slow_down(self, node: str, seconds: float) -> None:
        path = self.home / node / "slow"
        if seconds:
            path.write_text(f"{seconds}\n")
        else:
            path.unlink(missing_ok=True)

    # --- commands ------------------------------------------------------------------------------
    def as_user(self, argv: list[str]) -> list[str]:
        return ["setpriv", "--reuid", str(self.bench.uid), "--regid", str(self.bench.gid), "--clear-groups",
                "--", *argv]

    def user(self, argv: list[str], env: dict[str, str]) -> subprocess.CompletedProcess:
        return subprocess.run(self.as_user(argv), env=self.bench.environment() | env, cwd=self.home / "home",
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def start(self, argv: list[str], env: dict[str, str], words: Path) -> subprocess.Popen:
        """A client that waits for its job; what it says goes to a file."""
        with open(words, "wb") as file:
            return subprocess.Popen(self.as_user(argv), env=self.bench.environment() | env,
                                    cwd=self.home / "home", stdin=subprocess.DEVNULL, stdout=file, stderr=file)

    def admin(self, *argv: str) -> subprocess.CompletedProcess:
        return subprocess.run(argv, env=self.bench.environment(), capture_output=True, text=True)

    def job_command(self, log: Path, seconds: float) -> list[str]:
        return [str(self.look), str(log), str(seconds)]

    # --- what happens to nodes -----------------------------------------------------------------
    def power_cycle(self, node: str) -> None:
        self.cycled[node] = time.time()
        call(self.bench, node, "reboot")

    def restart_slurmd(self, node: str) -> None:
        call(self.bench, node, "restart")

    def restart_controller(self) -> None:
        before = self._controller_pid()
        call(self.bench, self.nodes[0], "controller")
        wait_for(CONTROLLER_S, lambda: self._controller_pid() not in ("", before)
                           and self.admin("scontrol", "ping").returncode == 0)

    def restart_all(self) -> None:
        """Until all nodes have told their modes."""
        self.restart_controller()
        self.bench_tool("service", "start")
        for node in self.nodes:
            self.restart_slurmd(node)
        wait_for(REGISTER_S, lambda: all(self.offers_all(node) and self.is_idle(node) for node in self.nodes))

    def _controller_pid(self) -> str:
        """It removes its file at its end."""
        try:
            return (self.home / "run/ctld/slurmctld.pid").read_text()
        except FileNotFoundError:
            return ""

    def restart_service(self) -> None:
        """pm-controller, in the middle of whatever it does."""
        call(self.bench, "start", "service")

    def stop_service(self) -> None:
        call(self.bench, "kill", "service")

    def set_policy(self, name: str) -> None:
        site, boots = POLICIES[name]
        self._write("pmem.conf", OFFERS + LIMIT + site)
        if (self.home / "etc/helpers.conf").read_text() != self.own["helpers.conf"] + boots:
            self._write("helpers.conf", boots)
            self.admin("scontrol", "reconfigure")

    def mark(self, node: str, name: str, wanted: bool) -> None:
        path = self.home / node / name
        if wanted:
            path.touch()
        else:
            path.unlink(missing_ok=True)

    def is_marked(self, node: str, name: str) -> bool:
        return (self.home / node / name).exists()

    def leave(self, node: str, job_id: str, record: str, view: str) -> None:
        """Files where pmctl keeps what it noted of a job, and what that was given."""
        for folder, name, mode, text in (("state/jobs", f"{job_id}.json", 0o600, record), ("run/jobs", job_id, 0o644, view)):
            path = self.home / node / folder / name
            path.parent.mkdir(mode=0o700 if mode == 0o600 else 0o755, exist_ok=True)
            new = path.with_name(f".{name}.new")
            new.write_text(text)
            new.chmod(mode)
            new.replace(path)

    def other_processes(self) -> set[str]:
        """Those of the host that have nothing to do with this bench: there are many, and to read them takes long."""
        found = set()
        for name in os.listdir("/proc"):
            try:
                if name.isdecimal() and str(self.home).encode() not in Path(f"/proc/{name}/cmdline").read_bytes():
                    found.add(name)
            except OSError:
                continue
        return found

    def pmctls(self, node: str, others: set[str]) -> list[tuple[int, list[str]]]:
        """The node's running pmctl, none of the others: process and words behind its configuration."""
        mark, found = f"SLURMD_NODENAME={node}".encode(), []
        for entry in (Path("/proc", name) for name in os.listdir("/proc") if name.isdecimal() and name not in others):
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                mine = words[0] == f"{self.home}/lib/pmctl" and mark in (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if mine:
                found.append((int(entry.name), words[3:-1]))
        return found

    def is_changing(self, pid: int) -> bool:
        """Has this pmctl a tool at work that changes something?"""
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            return any(is_change(Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0")) for child in children)
        except OSError:
            return False

    def leave_goal(self, node: str, mode: str) -> None:
        """As slurmd has it staged for a job, long ago."""
        self.pmctl("helper", f"pm_{mode}", node=node)
        path = self.home / node / "state/journal.json"
        if path.exists():       # where it could stage none there may be none
            rewrite(path, re.sub(r'("ordered_s": ?)[0-9]+', r"\g<1>0", path.read_text()))

    def apply_goal(self, node: str) -> None:
        """The machine is in another mode, and its slurmd goes on."""
        self.bench_tool("firmware", node)

    def break_goal(self, fault: str) -> None:
        (self.home / BREAKABLE / "fault").write_text(fault)

    def break_tool(self, how: str, label: str) -> None:
        node = self.home / BREAKABLE
        (node / "calls").write_text("")
        (node / "spoil").write_text(f"{how} 1 {label}\n")

    def repair_node(self, node: str) -> None:
        """What an administrator does: power cycle, look at the node, clear what was noted; not: resume."""
        if node == BREAKABLE:
            self.disarm()
        before = self.boot_id(node)
        self.power_cycle(node)
        wait_for(10, lambda: self.boot_id(node) not in ("", before))
        wait_for(10, lambda: self.pmctl("health", "--clear", node=node).returncode == 0)

    # --- evidence ------------------------------------------------------------------------------
    def tool_times(self, node: str) -> list[str]:
        """Lines "begin PID SECONDS change" or "... look", "end PID SECONDS" of ipmctl on that node."""
        path = self.home / node / "tools"
        return path.read_text().splitlines() if path.exists() else []

    def turned_away(self) -> list[tuple[str, float]]:
        """The job of each time that a node took none, and when."""
        path = self.home / "turned"
        words = path.read_text().split() if path.exists() else []
        return [(job_id, float(at)) for job_id, at in zip(words[::2], words[1::2])]

    def given(self, number: int) -> list[str]:
        """Lines "JOB DIRECTORY": persistent memory that the jobs of this submission were told they have."""
        path = self.home / "home" / f"s{number}.given"
        return path.read_text().splitlines() if path.exists() else []

    def has_said(self, node: str, text: str) -> bool:
        """Has the node's slurmd logged that?"""
        return text in (self.home / "log" / f"slurmd.{node}.log").read_text(errors="replace")

    def boot_id(self, node: str) -> str:
        try:
            return (self.home / node / "machine/root/proc/sys/kernel/random/boot_id").read_text()
        except FileNotFoundError:
            return ""

    def uptime(self, node: str) -> float:
        path = self.home / node / "machine/root/proc/sys/kernel/random/boot_id"
        booted = path.stat().st_mtime if path.exists() else 0
        return time.time() - booted if booted > self.cycled.get(node, 0) else 0

    def goals(self, node: str) -> list[str]:
        return goals_in(self.home / node / "machine")

    def mode(self, node: str) -> str:
        """Of the machine, as the looks of jobs have it."""
        root = self.home / node / "machine/root/sys"
        cache = (root / "devices/system/node/node0/memory_side_cache").exists()
        regions = len(list((root / "bus/nd/devices").glob("*")))
        return self.mode_of(f"{'yes' if cache else 'no'}/{regions}")

    def mode_of(self, seen: str) -> str:
        return benchsite.MODE_OF.get(seen, seen)

    def save(self, folder: Path) -> None:
        self.save_logs(folder, {})
        for path in (self.home / "home").glob("s*.*"):
            (folder / path.name).write_bytes(path.read_bytes())


def rewrite(path: Path, text: str) -> None:
    """A program that may run at this moment."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text)
    new.chmod(path.stat().st_mode)
    new.replace(path)


def is_change(words: list[str]) -> bool:
    """A dry run has no -o."""
    return "-goal" in words and "nvmxml" in words and bool({"create", "delete"} & set(words))
