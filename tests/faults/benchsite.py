"""A bench with a first node that can be broken, and how it looks from outside: Slurm, firmware, files."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "cluster"), str(TOP / "twin")]
from bench_config import Bench, write_script  # noqa: E402
from bench_supervisor import call  # noqa: E402

NODE, SPARE = "n1", "n2"
POLL_S = 0.1
# What a site counts in minutes: until slurmctld gives a boot up, until it gives up a node that does
# not answer, until it misses a batch job that it has started.
IMPATIENT = {"ResumeTimeout": 20, "SlurmdTimeout": 20, "BatchStartTimeout": 1}
CHANGE_S, SETTLE_S, LOST_S = 40, 40, 120
TOOL_TIMEOUT_S = 3
TOOLS = ("ipmctl", "ndctl", "daxctl")

JOB = """\
#!/bin/bash
look() {{
	local root={home}/$SLURMD_NODENAME/machine/root/sys regions cache=no
	regions=$(ls $root/bus/nd/devices | wc -l)
	[ ! -e $root/devices/system/node/node0/memory_side_cache ] || cache=yes
	echo "$1 ${{SLURM_RESTART_COUNT:-0}} $SLURMD_NODENAME $cache/$regions"
}}
look start
sleep {seconds}
look end
"""
# What the machine itself shows in each mode: DRAM is a cache, number of App Direct regions.
MODE_OF = {"yes/0": "memory", "no/2": "appdirect", "yes/2": "mixed"}


class Stuck(Exception):
    """The node did not come to what a test needs before it begins."""


def wait_for(seconds: float, condition) -> bool:
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            return False
        time.sleep(POLL_S)
    return bool(found)


class Site:
    def __init__(self, pointer: Path, nodes: int = 2, *options: str):
        self.pointer = pointer
        self.bench_tool("up", "--nodes", str(nodes), "--owner", str(os.getpid()), *options)
        self.bench = Bench(Path(pointer.read_text().strip()))
        self.home = self.bench.dir
        self.node = self.home / NODE
        self.jobs = 0
        self._install()

    def bench_tool(self, *words: str) -> None:
        subprocess.run([TOP / "tests/cluster/bench", *words], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"PM_BENCH": str(self.pointer)})

    def down(self) -> None:
        self.bench_tool("down")

    # --- what makes the first node breakable ---------------------------------------------------
    def _install(self) -> None:
        home, node = self.home, self.node
        shutil.copy(TOP / "build/tests/pmfault.so", home / "lib")
        shutil.copy(TOP / "tests/faults/tool", home / "lib")
        (node / "real").mkdir()
        write_script(node / "real/ipmctl", f"[ ! -e {node}/trace ] || export PMFAULT={node} "
                     f"PMFAULT_SO={home}/lib/pmfault.so:",
                     f'LD_PRELOAD="$PMFAULT_SO{home}/lib/pmshim.so" PMSHIM_NODE={node}/machine '
                     'exec /usr/bin/ipmctl "$@"')
        for tool in ("ndctl", "daxctl"):
            write_script(node / "real" / tool, f'[ "$1" != list ] || [ ! -e {node}/{tool}.list ] || '
                         f"exec cat {node}/{tool}.list", f'exec /usr/bin/{tool} "$@"')
        for tool in TOOLS:
            write_script(node / tool, f"export SLURMD_NODENAME={NODE}",
                         f'[ -e {node}/calls ] || exec {node}/real/{tool} "$@"',
                         f'exec /usr/bin/python3 -ESs {home}/lib/tool {node} {node}/real/{tool} "$@"')
        write_script(home / "bin/pmctl",
                     f"node={home}/$SLURMD_NODENAME",
                     f'[ ! -e "$node/trace" ] || export PMFAULT="$node" LD_PRELOAD={home}/lib/pmfault.so',
                     f'exec {home}/lib/pmctl --config "$node/pmem.conf" "$@"')
        slurm = home / "etc/slurm-pmem.conf"
        text = re.sub(rf"^({'|'.join(IMPATIENT)})=.*\n", "", slurm.read_text(), flags=re.M)
        slurm.write_text(text + "".join(f"{key}={value}\n" for key, value in IMPATIENT.items()))
        self.root("scontrol", "reconfigure")
        with open(node / "pmem.conf", "a", encoding="utf-8") as conf:
            conf.write(f"NdctlPath={node}/ndctl\nDaxctlPath={node}/daxctl\n"
                       f"ToolTimeout={TOOL_TIMEOUT_S}\n")

    def modes(self) -> list[str]:
        """Those that the bench's nodes offer."""
        text = (self.home / "etc/helpers.conf").read_text()
        return [m for m in ("appdirect", "memory", "mixed") if f"\nFeature=pm_{m} " in text]

    # --- Slurm ---------------------------------------------------------------------------------
    def root(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(words, env=self.bench.environment(), capture_output=True, text=True)
        if check and done.returncode:
            raise Stuck(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def pmctl(self, *words: str, node: str = NODE) -> subprocess.CompletedProcess:
        environment = self.bench.environment() | {"SLURMD_NODENAME": node}
        return subprocess.run([f"{self.home}/bin/pmctl", *words], env=environment,
                              capture_output=True, text=True)

    def order(self, verb: str, node: str = NODE) -> None:
        call(self.bench, node, verb)

    def node_state(self, node: str = NODE) -> tuple[str, str, str]:
        """State, reason, active features."""
        line = self.root("sinfo", "-hN", "-n", node, "-o", "%T|%E|%b").splitlines()[0]
        return tuple(line.split("|", 2))

    def offers_all(self, node: str = NODE) -> bool:
        """Its available features: pm-reachable tells them anew each HealthCheckInterval."""
        features = self.root("sinfo", "-hN", "-n", node, "-o", "%f").split("\n")[0].split(",")
        return {f"pm_{mode}" for mode in self.modes()} <= set(features)

    def update(self, node: str, **what: str) -> None:
        self.root("scontrol", "update", f"nodename={node}", *(f"{k}={v}" for k, v in what.items()),
                  check=False)

    def submit(self, mode: str, *options: str, seconds: float = 0.2) -> "Job":
        self.jobs += 1
        base = self.home / "home" / f"job{self.jobs}"
        base.write_text(JOB.format(home=self.home, seconds=seconds))
        base.chmod(0o755)
        out = base.with_suffix(".out")
        done = subprocess.run(
            ["setpriv", "--reuid", str(self.bench.uid), "--regid", str(self.bench.gid),
             "--clear-groups", "--", "sbatch", "--parsable", "--requeue", "--open-mode=append",
             f"--output={out}", f"--pm-mode={mode}", *options, str(base)],
            env=self.bench.environment(), cwd=self.home / "home", capture_output=True, text=True)
        if done.returncode:
            raise Stuck(f"sbatch: {done.stderr.strip()}")
        return Job(self, done.stdout.strip(), out)

    # --- the machine ---------------------------------------------------------------------------
    def machine_mode(self, node: str = NODE) -> str:
        """By the files of the kernel that the firmware has booted."""
        root = self.home / node / "machine/root/sys"
        try:
            regions = len(os.listdir(root / "bus/nd/devices"))
        except FileNotFoundError:
            return "off"
        cache = (root / "devices/system/node/node0/memory_side_cache").exists()
        seen = f"{'yes' if cache else 'no'}/{regions}"
        return MODE_OF.get(seen, seen)

    def rebuild(self) -> None:
        """The node as it was delivered, with new DIMMs and an empty state directory."""
        for path in (self.node / "state", self.node / "run"):
            for entry in path.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        shutil.rmtree(self.node / "machine")
        subprocess.run([sys.executable, "-B", "-m", "machine", "init", self.node / "machine", "--mode",
                        "appdirect"], cwd=TOP / "twin", check=True, stdout=subprocess.DEVNULL)
        self.order("reboot")

    def log_sizes(self) -> dict[Path, int]:
        return {path: path.stat().st_size for path in (self.home / "log").iterdir()}

    def save_logs(self, folder: Path, since: dict[Path, int]) -> None:
        """What the daemons have logged since then, and pmctl's files."""
        folder.mkdir(parents=True, exist_ok=True)
        for path in (self.home / "log").iterdir():
            with open(path, "rb") as file:
                file.seek(since.get(path, 0))
                (folder / path.name).write_bytes(file.read())
        for path in (self.node / "state/journal.json", self.node / "trace", self.node / "calls"):
            if path.exists():
                shutil.copy(path, folder)

    def boot(self) -> None:
        """A power cycle, until the node has registered again."""
        boot_id = self.node / "machine/root/proc/sys/kernel/random/boot_id"
        before = boot_id.read_text()
        self.order("reboot")
        wait_for(20, lambda: boot_id.exists() and boot_id.read_text() != before)
        time.sleep(2)

    # --- a node as an injection wants it -------------------------------------------------------
    def is_idle(self, node: str = NODE) -> bool:
        return self.node_state(node)[0] == "idle"

    def settled(self) -> bool:
        return self.node_state()[0] in ("idle", "drained", "down", "down*", "drained*")

    def disarm(self) -> None:
        for name in ("plan", "held", "fired", "trace", "calls", "spoil", "spoiled", "fault",
                     "ndctl.list", "daxctl.list"):
            (self.node / name).unlink(missing_ok=True)

    def is_open(self) -> bool:
        """Is there a goal that an injection has left to the next boot?"""
        try:
            state = json.loads((self.node / "state/journal.json").read_text())["state"]
        except (OSError, ValueError, KeyError):
            return False
        return state in ("intent", "staged", "rebooting")

    def is_fit(self) -> bool:
        return self.is_idle() and not self.is_open() and self.pmctl("health").returncode == 0

    def repair(self) -> None:
        """What an administrator does: boot, look at a bad journal and move it away, clear, resume."""
        self.order("reboot")
        time.sleep(1)
        if "read journal" in self.pmctl("health").stdout:
            (self.node / "state/journal.json").unlink(missing_ok=True)
        wait_for(10, lambda: self.pmctl("health", "--clear").returncode == 0)
        self.update(NODE, state="resume")

    def heal(self) -> bool:
        """The node in service again; True when that took new DIMMs."""
        self.disarm()
        if self.is_fit():
            return False
        self.repair()
        if wait_for(15, self.is_fit):
            return False
        self.rebuild()
        self.repair()
        if not wait_for(30, self.is_fit):
            raise Stuck(f"{NODE} is {self.node_state()} even with new DIMMs")
        return True

    def prepare(self, mode: str) -> None:
        """The first node idle in this mode, the second one kept for later."""
        self.root("scancel", "-f", "-u", str(self.bench.uid), check=False)
        self.update(SPARE, state="drain", reason="campaign")
        self.heal()
        wait_for(15, self.offers_all)
        if self.machine_mode() != mode:
            job = self.submit(mode, "-w", NODE)
            if not wait_for(CHANGE_S, job.completed):
                raise Stuck(f"{NODE} did not change to {mode}: {job.show()}, {self.node_state()}")
        if not wait_for(20, self.is_idle):
            raise Stuck(f"{NODE} is {self.node_state()}")

    def release_spare(self) -> None:
        if "drain" in self.node_state(SPARE)[0]:
            self.update(SPARE, state="resume")


class Job:
    def __init__(self, site: Site, number: str, out: Path):
        self.site, self.number, self.out = site, number, out

    def field(self, name: str) -> str:
        line = self.site.root("scontrol", "-o", "show", "job", self.number, check=False)
        return next((word.partition("=")[2] for word in line.split() if word.startswith(f"{name}=")),
                    "")

    def show(self) -> str:
        return f"{self.field('JobState')} ({self.field('Reason')})"

    def completed(self) -> bool:
        return self.field("JobState") == "COMPLETED"

    def ended(self) -> bool:
        return self.field("JobState") in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL",
                                          "BOOT_FAIL")

    def runs(self) -> list[list[str]]:
        """Each line that it printed: start or end, restarts, node, mode of the machine."""
        try:
            lines = [line.split() for line in self.out.read_text(errors="replace").splitlines()]
        except FileNotFoundError:
            return []
        return [[*line[:3], MODE_OF.get(line[3], line[3])] for line in lines
                if len(line) == 4 and line[0] in ("start", "end")]
