"""A cluster of 64 nodes below a slurmctld, event by event.

The main pass is first come, first served; it reboots any idle nodes, and ends at the first job that cannot start. Backfill
then tries later jobs on nodes that have the mode; if the cluster has enough of those at all, it plans on them, even while they
are busy, and reboots nothing. Blocked jobs get reservations. Sets of nodes are the bits of an integer.
"""

import heapq
import math
import random
from dataclasses import dataclass

from policies import Policy
from rule import record, seen_nodes
from traces import MODES, NODES, Job

REBOOT_S = 600.0  # expected
TESTED = 500  # bf_max_job_test
USED_OF_LIMIT = .4  # until the service has learnt it


@dataclass(frozen=True)
class Timing:
    """Seconds. `boot_s`: from the order to the job's start, least and most; `look_s`: how often the service looks, if anything
    has changed, `quiet_s`: and if not; `release_s`: from an update to Slurm's next pass; `least_s`: the rest of a job that
    has used its share of the limit; `start_s`, `clean_s`: what a job's nodes do before it and behind it."""

    boot_s: tuple[float, float] = (300.0, 900.0)
    look_s: float = 5.0
    quiet_s: float = 30.0
    release_s: float = 2.0
    least_s: float = 30.0
    start_s: float = 0.0
    clean_s: float = 0.0


END, SUBMISSION, WAKE, LOOK = range(4)
ALL = (1 << NODES) - 1


def lowest(mask: int, count: int) -> int:
    """The first `count` nodes of a set."""
    taken = 0
    for _ in range(count):
        bit = mask & -mask
        taken |= bit
        mask ^= bit
    return taken


def runs_of(mask: int) -> list[tuple[int, int]]:
    """Its consecutive nodes: count and the first one."""
    runs, shift = [], 0
    while mask:
        gap = (mask & -mask).bit_length() - 1
        mask >>= gap
        count = (~mask & (mask + 1)).bit_length() - 1
        runs.append((count, shift + gap))
        mask >>= count
        shift += gap + count
    return runs


def best_fit(mask: int, count: int) -> int:
    """The nodes of a set that Slurm takes (_eval_nodes of select/cons_tres): those of the smallest run of consecutive nodes that
    is enough, else the largest run, and so on."""
    taken = 0
    while count:
        runs = runs_of(mask & ~taken)
        enough = [run for run in runs if run[0] >= count]
        length, first = min(enough) if enough else max(runs, key=lambda run: (run[0], -run[1]))
        part = min(length, count)
        taken |= ((1 << part) - 1) << first
        count -= part
    return taken


def members(mask: int):
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit


def partition(shares: list[float]) -> list[int]:
    """The nodes' modes at the beginning: as much of each as its share of the work."""
    cut = [max(1, round(NODES * share)) for share in shares]
    cut[0] = NODES - cut[1] - cut[2]
    masks, first = [], 0
    for count in cut:
        masks.append(((1 << count) - 1) << first)
        first += count
    return masks


class Cluster:
    """`modes`: the nodes of each mode at the beginning. Jobs that have a `mask` run from the beginning on these nodes."""

    def __init__(self, jobs: list[Job], policy: Policy, seed: int, timing: Timing = Timing(), modes: list[int] | None = None):
        self.jobs, self.policy, self.timing = jobs, policy, timing
        self.rng = random.Random(f"boots {seed}")
        work = [sum(job.nodes * job.run for job in jobs if job.mode == mode) for mode in MODES]
        self.modes = list(modes or partition(policy.partition or [part / sum(work) for part in work]))
        self.idle = ALL
        self.free_at = [0.0] * NODES  # as Slurm expects it, by the limit
        self.queue: list[Job] = []
        self.events: list[tuple] = []
        self.looks: set[float] = set()
        self.used_of_limit = USED_OF_LIMIT
        self.reboots: list[float] = []  # when they were ordered
        self.updates = 0
        self.longest_hold = 0.0
        self.work_of = [0.0] * 3
        self.running: set[Job] = set()
        self.seen = seen_nodes(NODES)  # the nodes as the service knows them
        for mode in MODES:
            self.see(self.modes[mode], 0.0, mode)

    @property
    def boots(self) -> int:
        return len(self.reboots)

    def run(self, until: float = math.inf) -> None:
        self.events = [(job.submit, SUBMISSION, job.id) for job in self.jobs if not job.mask]
        heapq.heapify(self.events)
        for job in self.jobs:
            if job.mask:
                self.start(job, job.mask, 0.0)
        left = len(self.jobs)
        while left and self.events[0][0] <= until:
            now, kind, number = heapq.heappop(self.events)
            if kind == END:
                self.finish(self.jobs[number])
                left -= 1
            elif kind == SUBMISSION:
                self.submit(self.jobs[number], now)
            elif kind == LOOK:
                self.look(now)
            if kind != LOOK and not (self.events and self.events[0][0] == now):
                self.schedule(now)
                self.look_soon(now)

    def at(self, time: float, kind: int) -> None:
        heapq.heappush(self.events, (time, kind, -1))

    def finish(self, job: Job) -> None:
        self.idle |= job.mask
        self.used_of_limit += .02 * (job.run / job.limit - self.used_of_limit)
        self.running.discard(job)
        self.see(job.mask, 0.0, job.mode)
        for node in members(job.mask):
            self.free_at[node] = 0.0

    def submit(self, job: Job, now: float) -> None:
        """pmem.lua gives the first lease, until the service looks, to a job for which no nodes of its mode are idle."""
        self.queue.append(job)
        job.eligible = now
        job.record = record(job.limit * self.used_of_limit, 0.0, job.nodes, job.mode)
        if self.policy.rule and (self.idle & self.modes[job.mode]).bit_count() < job.nodes:
            job.eligible = now + 3 * self.timing.look_s
        if self.policy.delay:
            self.at(now + self.policy.delay, WAKE)

    def start(self, job: Job, mask: int, now: float) -> None:
        other = mask & ~self.modes[job.mode]
        job.boots = other.bit_count()
        lasts = max((self.rng.uniform(*self.timing.boot_s) for _ in range(job.boots)), default=0.0) + self.timing.start_s
        job.allocated, job.begin, job.end, job.mask = now, now + lasts, now + lasts + job.run + self.timing.clean_s, mask
        self.reboots += [now] * job.boots
        self.idle &= ~mask
        if other:
            for mode in MODES:
                self.modes[mode] &= ~other
            self.modes[job.mode] |= other
        expected = now + (REBOOT_S if other else 0) + job.limit
        for node in members(mask):
            self.free_at[node] = expected
        job.expected_end = expected + job.limit * (self.used_of_limit - 1)
        self.running.add(job)
        self.see(mask, job.expected_end, job.mode)
        heapq.heappush(self.events, (job.end, END, job.id))

    # Slurm

    def schedule(self, now: float) -> None:
        kept, reserved, planned, blocked = [], [], None, 0
        for index, job in enumerate(self.queue):
            if not self.idle or blocked >= TESTED:
                kept += self.queue[index:]
                break
            if job.eligible > now:
                kept.append(job)
                continue
            mask = self.choose(job, now, reserved, blocked)
            if mask:
                self.start(job, mask, now)
                if planned:
                    for node in members(mask):
                        planned[node] = self.free_at[node]
                continue
            kept.append(job)
            blocked += 1
            planned = planned or [max(free, now) for free in self.free_at]
            self.reserve(job, reserved, planned)
        self.queue = kept

    def choose(self, job: Job, now: float, reserved: list[tuple], blocked: int) -> int:
        """The nodes on which the job starts now, 0 if it does not."""
        if self.idle.bit_count() < job.nodes:
            return 0
        own = self.unreserved(reserved, now + job.limit)
        own &= self.modes[job.mode]
        if own.bit_count() >= job.nodes:
            return best_fit(own, job.nodes)
        if self.policy.partition or (blocked and self.modes[job.mode].bit_count() >= job.nodes):
            return 0
        if now < job.submit + self.policy.delay:
            return 0
        usable = self.unreserved(reserved, now + job.limit + REBOOT_S)
        if usable.bit_count() < job.nodes:
            return 0
        own &= usable
        return own | self.donors(usable & ~own, job.nodes - own.bit_count(), job.mode)

    def unreserved(self, reserved: list[tuple], until: float) -> int:
        usable = self.idle
        for mask, begin in reserved:
            if begin < until:
                usable &= ~mask
        return usable

    def donors(self, usable: int, count: int, mode: int) -> int:
        """Nodes to reboot: the first ones, or with node weights those of the mode with the shortest queue."""
        if not self.policy.weights:
            return best_fit(usable, count)
        taken = 0
        for donor in sorted((m for m in MODES if m != mode), key=lambda m: self.work_of[m]):
            own = usable & self.modes[donor]
            taken |= lowest(own, min(count - taken.bit_count(), own.bit_count()))
        return taken

    def reserve(self, job: Job, reserved: list[tuple], planned: list[float]) -> None:
        own = self.modes[job.mode]
        enough = own.bit_count() >= job.nodes
        if not enough and self.policy.partition:
            return
        candidates = own if enough else ALL
        begin = sorted(planned[node] for node in members(candidates))[job.nodes - 1]
        mask = best_fit(sum(1 << node for node in members(candidates) if planned[node] <= begin), job.nodes)
        for node in members(mask):
            planned[node] = begin + (0 if enough else REBOOT_S) + job.limit
        reserved.append((mask, begin))

    # pm-controller

    def look_soon(self, now: float) -> None:
        if self.policy.rule and self.queue:
            self.look_at((now // self.timing.look_s + 1) * self.timing.look_s)

    def look_at(self, time: float) -> None:
        if time not in self.looks:
            self.looks.add(time)
            self.at(time, LOOK)

    def see(self, mask: int, free_s: float, mode: int) -> None:
        for node in members(mask):
            self.seen[node].free_s, self.seen[node].mode = free_s, mode

    def expect_later(self, now: float) -> None:
        """A job that has used more of its limit than others is expected to use half of the rest."""
        for job in self.running:
            if job.expected_end <= now:
                job.expected_end = now + .5 * max(self.timing.least_s, job.allocated + job.limit - now) * self.used_of_limit
                self.see(job.mask, job.expected_end, job.mode)

    def look(self, now: float) -> None:
        self.looks.discard(now)
        if not self.queue:
            return
        self.weigh()
        self.expect_later(now)
        released = held = False
        for job, answer in zip(self.queue, self.policy.rule.decide(now, self.queue, self.seen)):
            until = answer.until_s
            if until:
                held = True
                self.hold(job, until, answer.counts, now)
            elif job.eligible >= now:  # a lease that ends now starts no pass of Slurm
                released = True
                job.eligible = now + self.timing.release_s
                self.updates += 1
        if released:
            self.at(now + self.timing.release_s, WAKE)
        if held:
            self.look_at(now + self.timing.quiet_s)

    def weigh(self) -> None:
        if self.policy.weights:
            self.work_of = [sum(job.nodes * job.limit for job in self.queue if job.mode == mode)
                            / max(1, self.modes[mode].bit_count()) for mode in MODES]

    def hold(self, job: Job, until: float, counts: int, now: float) -> None:
        if counts and not job.first_held:
            job.first_held = now
            job.record = record(job.limit * self.used_of_limit, now, job.nodes, job.mode)
        if job.first_held:
            self.longest_hold = max(self.longest_hold, until - job.first_held)
        if job.eligible < now + self.policy.rule.rule.lease_s / 3 and until > job.eligible:
            job.eligible = until
            self.updates += 1
