"""Some hours of a trace behind its warm-up, for a run beside a real slurmctld, which has them `speed` times faster.

The simulated cluster with plain helpers plays the warm-up. Jobs that run at its end begin the window on their nodes, with the
rest of their time; those that are queued are submitted at once, in their order. All times are seconds of the trace.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

from cluster import Cluster, Timing
from policies import Policy
from traces import Job, trace

HOUR_S, MINUTE_S = 3600.0, 60.0


@dataclass
class Window:
    jobs: list[Job]
    modes: list[int]  # the sets of nodes in each mode at the beginning
    length_s: float
    carried: int  # the first jobs come from the warm-up; they are not counted


def whole_minutes(limit: float, speed: int) -> float:
    """Slurm's limits are whole minutes, of its own clock."""
    unit = MINUTE_S * speed
    return math.ceil(limit / unit) * unit


def rest_of(job: Job, now: float) -> Job:
    rest = Job(0.0, job.nodes, job.run, job.limit, job.mode)
    if job.mask:
        rest.mask = job.mask
        rest.run = min(job.run, job.end - now)
        rest.limit = job.limit - (job.run - rest.run)
    return rest


def window(mix: str, load: float, seed: int, warm_up_hours: float, hours: float, speed: int) -> Window:
    begin, length = warm_up_hours * HOUR_S, hours * HOUR_S
    jobs = trace(mix, load, seed)
    before = Cluster(jobs, Policy("plain"), seed)
    before.run(until=begin)
    running = sorted(before.running, key=lambda job: (job.allocated, job.id))
    carried = [rest_of(job, begin) for job in (*running, *before.queue)]
    later = [Job(job.submit - begin, job.nodes, job.run, job.limit, job.mode) for job in jobs
             if begin < job.submit <= begin + length]
    for number, job in enumerate(both := carried + later):
        job.id = number
        job.limit = whole_minutes(job.limit, speed)
    return Window(both, before.modes, length, len(carried))


def kept_window(path: Path, make) -> Window:
    """Runs that were made before a change of the simulator keep their window."""
    if not path.exists():
        made: Window = make()
        rows = [[job.submit, job.nodes, job.run, job.limit, job.mode, job.mask] for job in made.jobs]
        path.with_suffix(".new").write_text(json.dumps({"jobs": rows, "modes": made.modes, "length_s": made.length_s,
                                                        "carried": made.carried}))
        path.with_suffix(".new").rename(path)
    kept = json.loads(path.read_text())
    jobs = [Job(*row[:5]) for row in kept["jobs"]]
    for number, (job, row) in enumerate(zip(jobs, kept["jobs"])):
        job.id, job.mask = number, row[5]
    return Window(jobs, kept["modes"], kept["length_s"], kept["carried"])


def timing(speed: int, start_s: float, clean_s: float, boot_more_s: float = 0) -> Timing:
    """Of the service and of Slurm nothing is faster than they are; what is passed here are seconds of the real clock."""
    usual = Timing()
    least, most = usual.boot_s
    return Timing(boot_s=(least + boot_more_s * speed, most + boot_more_s * speed), look_s=usual.look_s * speed, quiet_s=usual.look_s * speed,
                  release_s=usual.release_s * speed, least_s=usual.least_s, start_s=start_s * speed, clean_s=clean_s * speed)


def until(end: float, job: Job, begin: float | None) -> float:
    """How long the job has waited, at the end of the window at most."""
    return (begin if begin is not None and begin < end else end) - job.submit


def simulate(played: Window, policy: Policy, seed: int, times: Timing) -> dict:
    jobs = [copy_of(job) for job in played.jobs]
    cluster = Cluster(jobs, policy, seed, times, played.modes)
    cluster.run(until=played.length_s)
    waits = [until(played.length_s, job, job.begin if job.allocated or job.mask else None) for job in jobs[played.carried:]]
    return {"reboots": sum(at <= played.length_s for at in cluster.reboots), "wait_s": sum(waits) / max(1, len(waits)),
            "begun": sum(job.mask > 0 for job in jobs[played.carried:])}


def copy_of(job: Job) -> Job:
    copy = Job(job.submit, job.nodes, job.run, job.limit, job.mode)
    copy.id, copy.mask = job.id, job.mask
    return copy
