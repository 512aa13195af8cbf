"""A sequence: steps one after the other on a fresh site, the oracle's look after each, and rest."""

import json
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from actions import end_reservations, repair
from catalogue import named
from common import Cluster
from meddlers import come_to_rest, forget_reboot, let_go, modes_of
from oracle import Oracle, Violation, unfinished
from promises import has_mode
from quiet import WAYS
from suspending import resume_all
from sites import wait_for
from where import PLACES
from world import Submission, World


class Sequence:
    """`steps` is what was done, as a script holds it; `violations` end it."""

    def __init__(self, site: Cluster):
        self.world = World(site)
        self.oracle = Oracle(self.world)
        self.steps: list[dict] = []
        self.violations: list[Violation] = []
        self.world.observe()

    def look(self) -> None:
        self.world.observe()
        self.violations += self.oracle.check()

    def take(self, step: dict) -> bool:
        """True when the step could be done."""
        self.world.said.append(f"--- {time.strftime('%T')} {json.dumps(step)}")
        if step["do"] == "rest":
            self.rest()
            if "then" in step and not self.violations:
                self.in_quiet(step)
            done = True
        else:
            done = named(step["do"], self.world.site).do(self.world, step)
            time.sleep(step.get("pause", 0) * self.world.site.times.pace)
            self.look()
        if done:
            self.steps.append(step)
        return done

    def rest(self) -> None:
        """Everything is in service, nobody holds anything: what was asked for gets done."""
        world = self.world
        end_reservations(world)
        come_to_rest(world)
        resume_all(world)
        wait_for(world.site.times.reboot, lambda: self.look() or self.violations or not world.rebooting)
        for node in sorted(world.more.own_reboots):
            forget_reboot(world, node)
        for node in sorted(world.broken):
            repair(world, node)
        for node in list(world.drained):
            named("resume", world.site).do(world, {"node": node})
        self.look()
        for job in world.live():
            self._let_go(job)
        self._wait()
        world.more.stood_on.clear()
        if not self.violations:
            self.violations += [Violation("left", text) for text in world.site.left_behind()]

    def end_clients(self) -> None:
        """Behind a broken promise some may wait, and would for ever without their cluster."""
        for job in self.world.submissions.values():
            if job.client and job.client.poll() is None:
                job.client.kill()

    def in_quiet(self, step: dict) -> None:
        """Something that needs a cluster on which nothing else happens, see quiet.py."""
        node = step["node"]
        if modes_of(self.world, node):
            WAYS[step["then"]](self.world, node, self.look)
            self._wait(asks=False)

    def _let_go(self, job: Submission) -> None:
        """Cancels a job that cannot be served, or that lost its node: Slurm misses an interactive one at no time."""
        world = self.world
        if job.held:
            named("release", world.site).do(world, {"job": job.number})
        if (world.waits_for_ever(job) or not job.can_be_served(set(world.site.nodes))
                or job.client and job.disturbed):
            named("cancel", world.site).do(world, {"job": job.number, "how": "scancel"})

    def _reconfigure(self) -> None:
        """slurmctld asks nodes for jobs that it misses. It also looks again at those that it holds: not where there are
        no others."""
        self.look()
        self.world.before_reconfigure()
        self.world.admin("scontrol", "reconfigure")

    def _wait(self, asks: bool = True) -> None:
        world, asked = self.world, not asks
        times = world.site.times
        end = time.time() + times.settle
        while not self.violations and world.live():
            waited = time.time() - end + times.settle
            may_miss = any(record["JobState"] != "PENDING" for job in world.live() for record in job.live())
            if (not asked and may_miss and waited > times.reconfigure
                    and (not world.booting() or waited > 2 * times.reconfigure)):
                self._reconfigure()
                asked = True
            if time.time() > end:
                self.violations += unfinished(world)
                return
            time.sleep(times.look)
            self.look()
            for node in sorted(world.broken):
                repair(world, node)
            for job in world.live():
                let_go(world, job, self.oracle.more)
                lost = waited > times.reconfigure and is_in_prolog(job) and job.disturbed and not has_mode(job)
                if (world.waits_for_ever(job) or lost) and not job.cancelled:
                    self._let_go(job)


def is_in_prolog(job: Submission) -> bool:
    """Or it has lost that with its node. Slurm misses it at no time, and slurm-pmem cares for jobs in a mode."""
    return job.client is not None and any(record.get("Reason") == "Prolog" for record in job.live())


def with_site(use: Callable[[Cluster], object], place: str = "bench") -> object:
    with PLACES[place]() as site:
        return use(site)


# --- scripts -----------------------------------------------------------------------------------
def write_script(path: Path, steps: Iterable[dict], head: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"# {line}" for line in head.splitlines()] + [json.dumps(step) for step in steps]
    path.write_text("\n".join(lines) + "\n")


def read_script(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines() if line and not line.startswith("#")]


def replay(steps: list[dict], logs: Path | None = None, place: str = "bench") -> list[Violation]:
    """Of these steps on a fresh site, with rest behind them."""
    def use(site: Cluster) -> list[Violation]:
        sequence = Sequence(site)
        for step in [*steps, {"do": "rest"}]:
            sequence.take(step)
            if sequence.violations:
                break
        if logs:
            keep(sequence, logs)
        sequence.end_clients()
        return sequence.violations
    return with_site(use, place)


def keep(sequence: Sequence, logs: Path) -> None:
    """The daemons' logs, what jobs printed, what each command answered."""
    sequence.world.site.save(logs)
    for command in (["squeue", "-o", "%i %j %T %r %p %N %f"], ["sinfo", "-N", "-o", "%N %T %b %E"]):
        sequence.world.admin(*command)
    (logs / "said").write_text("\n".join(sequence.world.said) + "\n")


def about(steps: list[dict], violations: list[Violation]) -> list[dict]:
    """The steps of the jobs and nodes that the violations name."""
    named = set(re.findall(r"\b[sn]\d+\b", " ".join(violation.text for violation in violations)))
    return [step for step in steps if f"s{step.get('job')}" in named or step.get("node") in named]


def shrink(steps: list[dict], fails: Callable[[list[dict]], bool], seconds: float) -> list[dict]:
    """Fewer steps that still fail: the last ones alone, then without parts of them, while time lasts."""
    end = time.monotonic() + seconds
    for length in (4, 8, 16, 32, 64):
        if length < len(steps) and time.monotonic() < end and fails(steps[-length:]):
            steps = steps[-length:]
            break
    part = max(1, len(steps) // 2)
    while time.monotonic() < end:
        smaller = next((rest for at in range(0, len(steps), part) if time.monotonic() < end
                        and (rest := steps[:at] + steps[at + part:]) and fails(rest)), None)
        if smaller:
            steps = smaller
        elif part == 1:
            break
        part = max(1, min(part if smaller else part // 2, len(steps) // 2))
    return steps
