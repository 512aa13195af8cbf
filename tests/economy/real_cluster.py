"""A window of a trace on a real slurmctld with 64 `slurmd -N`: tests/cluster/bench, with the times of a faster clock.

Jobs sleep. A node stays off for its time at each reboot (its file "boot_s", see bench_supervisor.py).
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cluster import REBOOT_S, Timing, members
from traces import NODES, Job
from window import Window

TOP = Path(__file__).resolve().parents[2]
MODES = ("appdirect", "memory", "mixed")  # those of traces.py; nodes of the bench begin in the first
SAMPLE_S, PROGRESS_S, TURN_S = 15.0, 60.0, 0.2
DAEMONS = ("pm-controller", "slurmctld")
READY_S = 180
GONE_S = 5  # no boot is shorter
READ_S = 10  # a node that reboots has read its seconds


@dataclass
class Settings:
    build: Path
    service: Path  # pm-controller with the rule's times of the faster clock
    speed: int
    hold_minutes: int  # of the trace; 0: plain helpers
    parent: Path  # of the bench's folder


def scaled(text: str, settings: Settings) -> str:
    """The bench's slurm-pmem.conf: what the trace's clock has in Slurm's defaults, divided by the speed."""
    speed = settings.speed
    text = re.sub(r"^ResumeTimeout=.*$", f"ResumeTimeout={1800 // speed}", text, flags=re.M)
    text = re.sub(r"^HealthCheckInterval=.*$", "HealthCheckInterval=60", text, flags=re.M)
    text = re.sub(r"sched_interval=\d+", f"sched_interval={60 // speed}", text)
    return re.sub(r"bf_interval=\d+", f"bf_interval={30 // speed},bf_resolution={60 // speed}", text)


def names_of(mask: int) -> str:
    return ",".join(f"n{node + 1}" for node in members(mask))


class RealCluster:
    """Ends with the `with`, and with this process, however that ends."""

    def __init__(self, settings: Settings, folder: Path, seed: int):
        self.settings, self.folder = settings, folder
        self.rng = random.Random(f"real boots {seed}")
        self.pointer = folder / "bench.dir"
        self.reboots: list[tuple[float, str]] = []  # seconds of the real clock since the begin, node
        self.set_later: list[tuple[float, str]] = []  # when a node gets the seconds of its next boot
        self.samples: list[dict] = []
        self.pids: dict[str, int] = {}
        self.begun_s = 0.0
        self.log_at = 0

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self.bench("up", "--nodes", str(NODES), "--build", str(self.settings.build), "--owner", str(os.getpid()),
                       "--parent", str(self.settings.parent), "--timeout", str(READY_S))
            self.dir = Path(self.pointer.read_text().strip())
            self.configure()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_what) -> None:
        if self.pointer.exists():
            self.bench("down")

    def bench(self, *words: str, check: bool = True) -> str:
        done = subprocess.run([TOP / "tests/cluster/bench", *words], env=os.environ | {"PM_BENCH": str(self.pointer)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if check and done.returncode:
            print(done.stderr, end="", file=sys.stderr)
            raise SystemExit(f"bench-policy-slurm: 'bench {' '.join(words[:3])}' ended with {done.returncode}")
        return done.stdout

    def edit(self, name: str, change) -> None:
        path = self.dir / "etc" / name
        path.write_text(change(path.read_text()))

    def configure(self) -> None:
        settings = self.settings
        self.bench("service", "kill")
        shutil.copy(settings.service, self.dir / "lib" / "pm-controller.new")
        (self.dir / "lib" / "pm-controller.new").rename(self.dir / "lib" / "pm-controller")
        self.edit("slurm.conf", lambda text: text + f"Licenses=pm_wait:1000000\nJobCompType=jobcomp/filetxt\nJobCompLoc={self.dir}/log/jobcomp\n")
        self.edit("slurm-pmem.conf", lambda text: scaled(text, settings))
        self.edit("helpers.conf", lambda text: re.sub(r"BootTime=\d+", f"BootTime={int(REBOOT_S) // settings.speed}", text))
        self.bench("restart-slurmctld")
        self.bench("idle", "--timeout", str(READY_S))
        self.bench("service", "start")

    # the beginning

    def put_in_modes(self, modes: list[int]) -> None:
        """By jobs. Then the service forgets these reboots."""
        for mode, mask in enumerate(modes):
            if mask:
                self.submit_to(mask, MODES[mode], "true")
        end_at = time.monotonic() + READY_S
        while self.bench("squeue", "-h") and time.monotonic() < end_at:
            time.sleep(1)
        self.bench("idle", "--timeout", str(READY_S))
        self.bench("service", "kill")
        shutil.rmtree(self.dir / "kept")
        (self.dir / "kept").mkdir()
        if self.settings.hold_minutes:
            self.edit("pmem.conf", lambda text: text + f"HoldTime={self.settings.hold_minutes // self.settings.speed}\n")
        self.bench("restart-slurmctld")  # it reads pmem.conf
        self.bench("idle", "--timeout", str(READY_S))
        self.bench("service", "start")
        leases = self.dir / "run" / "controller" / "leases"
        while self.settings.hold_minutes and not leases.exists() and time.monotonic() < end_at + READY_S:
            time.sleep(1)
        time.sleep(35)  # in the first half minute of a slurmctld the service changes no lease

    def submit_to(self, mask: int, mode: str, command: str) -> None:
        self.bench("sbatch", "--parsable", "--output=/dev/null", "-w", names_of(mask), "-N", str(mask.bit_count()),
                   f"--pm-mode={mode}", "--time=60", f"--wrap={command}")

    def set_boot(self, node: str) -> None:
        least, most = Timing().boot_s
        path = self.dir / node / "boot_s"
        path.with_suffix(".new").write_text(f"{self.rng.uniform(least, most) / self.settings.speed:.2f}\n")
        path.with_suffix(".new").rename(path)

    # the run

    def play(self, window: Window) -> dict:
        self.put_in_modes(window.modes)
        for node in range(NODES):
            self.set_boot(f"n{node + 1}")
        self.read_reboots()
        self.reboots.clear()
        self.begun_s = time.time()
        waiting, submitted, next_sample, next_progress = list(window.jobs), {}, 0.0, 0.0
        while (now := time.time() - self.begun_s) < window.length_s / self.settings.speed:
            while waiting and waiting[0].submit <= now * self.settings.speed:
                job = waiting.pop(0)
                submitted[job.id] = self.submit(job)
                now = time.time() - self.begun_s
            self.read_reboots()
            if now >= next_sample:
                self.sample(now)
                next_sample = now + SAMPLE_S
            if now >= next_progress:
                self.tell(now, window, len(submitted))
                next_progress = now + PROGRESS_S
            time.sleep(TURN_S)
        return self.result(window, submitted)

    def submit(self, job: Job) -> float:
        """Seconds since the begin when Slurm had it."""
        home = self.dir / "home" / f"j{job.id}"
        times = "date +%s.%N"
        where = ["-w", names_of(job.mask)] if job.mask else []
        self.bench("sbatch", "--parsable", "--output=/dev/null", f"--job-name=j{job.id}", "-N", str(job.nodes), *where,
                   f"--pm-mode={MODES[job.mode]}", f"--time={round(job.limit / 60 / self.settings.speed)}",
                   f"--wrap={times} >{home}.begin; sleep {job.run / self.settings.speed:.2f}; {times} >{home}.end")
        return time.time() - self.begun_s

    def read_reboots(self) -> None:
        """From the supervisor's log; the node gets the time of its next one."""
        with open(self.dir / "log" / "supervisor.log", encoding="utf-8") as log:
            log.seek(self.log_at)
            for line in log.readlines():
                if not line.endswith("\n"):
                    break
                self.log_at += len(line)
                found = re.fullmatch(r"\S+ reboot (n\d+)\n", line)
                if found and self.begun_s:
                    self.reboots.append((time.time() - self.begun_s, found[1]))
                    self.set_later.append((time.monotonic() + READ_S, found[1]))
        while self.set_later and self.set_later[0][0] < time.monotonic():
            self.set_boot(self.set_later.pop(0)[1])

    def tell(self, now: float, window: Window, submitted: int) -> None:
        begun = len(list((self.dir / "home").glob("j*.begin")))
        print(f"{now * self.settings.speed / 3600:5.1f} of {window.length_s / 3600:.1f} hours, after {now / 60:.0f} min: "
              f"{submitted} of {len(window.jobs)} jobs submitted, {begun} begun, {len(self.reboots)} reboots", file=sys.stderr,
              flush=True)

    # what the daemons use

    def pid(self, name: str) -> int | None:
        mark = f"PMBENCH={self.dir}".encode()
        for entry in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
            try:
                if (entry / "comm").read_text().strip() == name and mark in (entry / "environ").read_bytes().split(b"\0"):
                    return int(entry.name)
            except OSError:
                continue
        return None

    def sample(self, now: float) -> None:
        row = {"at_s": now, "load": os.getloadavg()[0]}
        for name in DAEMONS:
            self.pids[name] = self.pids.get(name) or self.pid(name)
            stat = Path(f"/proc/{self.pids[name]}/stat").read_text().rpartition(")")[2].split()
            row[name] = {"cpu_s": (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"),
                         "rss_kib": int(stat[21]) * os.sysconf("SC_PAGESIZE") // 1024}
        self.samples.append(row)

    # the end

    def result(self, window: Window, submitted: dict[int, float]) -> dict:
        for name in ("slurmctld.log", "supervisor.log", "pm-controller.out", "jobcomp"):
            if (self.dir / "log" / name).exists():
                shutil.copy(self.dir / "log" / name, self.folder / name)
        rows = [{"id": job.id, "nodes": job.nodes, "mode": MODES[job.mode], "run_s": job.run, "limit_s": job.limit,
                 "planned_s": job.submit, "submit_s": submitted[job.id] * self.settings.speed, "begin_s": self.when(job, "begin"),
                 "end_s": self.when(job, "end")} for job in window.jobs if job.id in submitted]
        boots = boots_of((self.dir / "log" / "slurmctld.log").read_text(errors="replace"), self.reboots, self.begun_s)
        return {"jobs": rows, "boots_s": boots, "reboots": [(at * self.settings.speed, node) for at, node in self.reboots], "samples": self.samples,
                "begun_s": self.begun_s, "nodes": self.bench("exec", "sinfo", "-h", "-o", "%T %D"),
                "state_bytes": sum(path.stat().st_size for path in (self.dir / "kept").rglob("*") if path.is_file())}

    def when(self, job: Job, what: str) -> float | None:
        path = self.dir / "home" / f"j{job.id}.{what}"
        text = path.read_text().strip() if path.exists() else ""
        return (float(text) - self.begun_s) * self.settings.speed if text else None


def boots_of(log: str, reboots: list[tuple[float, str]], begun_s: float) -> list[float]:
    """Seconds from each reboot, which has seconds since the begin, until slurmctld's log has its node again."""
    back: dict[str, list[float]] = {}
    for day, node in re.findall(r"^\[(\S+)\] Node (\S+) now responding", log, flags=re.M):
        back.setdefault(node, []).append(datetime.fromisoformat(day).timestamp() - begun_s)
    ends = ((at, next((end for end in back.get(node, []) if end > at + GONE_S), None)) for at, node in reboots)
    return [end - at for at, end in ends if end is not None]


def play(settings: Settings, folder: Path, window: Window, seed: int) -> dict:
    with RealCluster(settings, folder, seed) as cluster:
        result = cluster.play(window)
    (folder / "result.new").write_text(json.dumps(result))
    (folder / "result.new").rename(folder / "result.json")
    return result
