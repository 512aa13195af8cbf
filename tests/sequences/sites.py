"""Where sequences run: what is done to a cluster, and the evidence that it leaves.

The evidence is the machine's own: files of the kernel that its firmware has booted, goals in its
DIMMs, words of Slurm's commands. Nothing of the product is asked.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "faults"), str(TOP / "tests" / "bench"), str(TOP / "twin")]
import benchsite  # noqa: E402
from benchsite import wait_for  # noqa: E402
from bench_supervisor import call  # noqa: E402
from machine.image import Image  # noqa: E402
from machine.node import Node  # noqa: E402
from machine.post import read_goals  # noqa: E402

BREAKABLE = benchsite.NODE
CONTROLLER_S = 20

# Each look of a job is a line: word, time, job, restarts, node, App Direct regions and memory cache.
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
look start
sleep "$2"
look end
"""


class BenchSite(benchsite.Site):
    """A bench of three nodes, of which the first can be broken."""

    breakable = BREAKABLE

    def __init__(self, pointer: Path, nodes: int = 3):
        super().__init__(pointer, nodes)
        self.nodes = self.bench.nodes()
        self.cycled: dict[str, float] = {}      # when the power of each was cut last
        self.look = self.home / "home" / "look"
        self.look.write_text(LOOK.format(home=self.home))
        self.look.chmod(0o755)
        for node in self.nodes:
            self._may_slow_down(node)

    def _may_slow_down(self, node: str) -> None:
        """ipmctl takes seconds on real machines: a file `slow` says how many here."""
        home = self.home / node
        path = home / "real/ipmctl" if node == BREAKABLE else home / "ipmctl"
        head, _, rest = path.read_text().partition("\n")
        path.write_text(f"{head}\n[ ! -e {home}/slow ] || sleep $(cat {home}/slow)\n{rest}")

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
        pid_file = self.home / "run/slurmctld.pid"
        before = pid_file.read_text()
        call(self.bench, self.nodes[0], "controller")
        wait_for(CONTROLLER_S, lambda: pid_file.exists() and pid_file.read_text() != before
                           and self.admin("scontrol", "ping").returncode == 0)

    def restart_service(self) -> None:
        """pm-controller, in the middle of whatever it does."""
        call(self.bench, "start", "service")

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
        """DIMMs in which a goal waits for the next boot."""
        try:
            machine = Node(self.home / node / "machine")
            with Image(machine.image_path, machine.topology) as image:
                waiting, bad = read_goals(machine.topology, image)
        except (OSError, ValueError):
            return []
        return [dimm.name for dimm in (*waiting, *bad)]

    def mode_of(self, seen: str) -> str:
        return benchsite.MODE_OF.get(seen, seen)

    def jobs_shown(self) -> list[dict[str, str]]:
        text = self.admin("scontrol", "-o", "show", "job").stdout
        return [fields for fields in map(fields_of, text.splitlines()) if "JobId" in fields]

    def nodes_shown(self) -> dict[str, dict[str, str]]:
        text = self.admin("scontrol", "-o", "show", "node").stdout
        return {fields["NodeName"]: fields for fields in map(fields_of, text.splitlines())
                if "NodeName" in fields}

    def save(self, folder: Path) -> None:
        self.save_logs(folder, {})
        for path in (self.home / "home").glob("s*.*"):
            (folder / path.name).write_bytes(path.read_bytes())


def fields_of(line: str) -> dict[str, str]:
    """The words NAME=VALUE of a line of scontrol; a node's reason goes on to its end."""
    line, _, reason = line.partition(" Reason=") if line.startswith("NodeName=") else (line, "", "")
    fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
    return fields | ({"Reason": re.sub(r" \[\S+@.*", "", reason)} if reason else {})


def own_environment() -> None:
    """What the caller's shell says of modes is not meant for our jobs."""
    for name in list(os.environ):
        if name.startswith(("PM_", "SLURM_", "SBATCH_", "SRUN_", "SALLOC_")):
            del os.environ[name]
