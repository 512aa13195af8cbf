"""A socket with persistent memory and ranks that stream over batches, in virtual time.

Bandwidth is shared as max-min fair flows of a device that has one time for reads and writes: a byte written takes longer than a
byte read. Threads copy at most at a rate of their own. A helper without a CPU of its own takes one from the program, which copies
along while it waits. All ranks of the socket are in step, so that one stands for all. The model of the product is not in it: no
equation is used here.
"""
from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Optional

INTERVALS = 8       # of a phase; the first batch is copied before, the last back afterwards


@dataclass(frozen=True)
class Machine:
    """Bytes per second: of one thread, and of the device if it did nothing else."""
    thread_in: float
    thread_out: float
    reads: float
    writes: float


@dataclass(frozen=True)
class Work:
    ranks: int
    threads: int            # of the program, in each rank
    cpus: int               # of a rank, with those that are left for helpers
    in_bytes: float
    out_bytes: float
    compute_s: float        # of an interval by itself, with its batch in DRAM
    traffic_bytes: float    # the program's own to the device in an interval, besides the batch
    overlap: float          # of a batch that is used in place: the part of its accesses that computing hides


@dataclass
class Flow:
    left: float             # bytes
    cap: float              # bytes per second
    cost: float             # seconds of the device a byte
    then: Optional[Flow] = None
    joined: float = 0       # bytes per second that a waiting thread of the program adds


def shared(flows: list[Flow], capacity: float) -> list[float]:
    """Max-min fair rates within the caps: all get the same level, but for those that want less."""
    order = sorted(range(len(flows)), key=lambda i: flows[i].cap)
    rates = [0.0] * len(flows)
    left, cost = capacity, sum(flow.cost for flow in flows)
    for i in order:
        rates[i] = min(flows[i].cap, left / cost)
        left -= rates[i] * flows[i].cost
        cost = max(cost - flows[i].cost, 1e-30)
    return rates


def run(flows: list[Flow], busy_s: float, speed: float, capacity: float) -> float:
    """Seconds until all bytes have flowed and the program has computed `busy_s` at `speed`. Then it copies along, one flow at a
    time."""
    now, flows = 0.0, [flow for flow in flows if flow.left > 0]
    compute_end = busy_s / speed
    while flows:
        waits = now >= compute_end
        joined = next((flow for flow in flows if flow.joined), None) if waits else None
        capped = [replace(flow, cap=flow.cap + flow.joined) if flow is joined else flow for flow in flows]
        rates = shared(capped, capacity)
        step = min(flow.left / rate for flow, rate in zip(flows, rates))
        step = step if waits else min(step, compute_end - now)
        now += step
        for flow, rate in zip(flows, rates):
            flow.left -= rate * step
        flows = [flow if flow.left > 1e-6 else flow.then for flow in flows if flow.left > 1e-6 or (flow.then and flow.then.left > 0)]
    return max(now, compute_end)


class Socket:
    def __init__(self, machine: Machine, work: Work):
        self.machine, self.work = machine, work
        self.capacity = 1 / work.ranks      # of the device's time, for a rank

    def _in(self, threads: float, part: float = 1) -> Flow:
        return Flow(self.work.in_bytes * part, threads * self.machine.thread_in, 1 / self.machine.reads)

    def _out(self, threads: float, part: float = 1) -> Flow:
        return Flow(self.work.out_bytes * part, threads * self.machine.thread_out, 1 / self.machine.writes)

    def _own(self) -> Flow:
        """The program's traffic, at most as fast as it computes."""
        work = self.work
        return Flow(work.traffic_bytes, work.traffic_bytes / work.compute_s, 1 / self.machine.reads)

    def _speed(self, helpers: int) -> float:
        work = self.work
        return min(1.0, (work.cpus - helpers) / work.threads) if helpers else 1.0

    def in_place(self) -> float:
        threads, hidden = self.work.threads, self.work.overlap
        exposed = run([self._in(threads, 1 - hidden), self._out(threads, 1 - hidden)], 0, 1, self.capacity)
        return exposed + run([self._in(threads, hidden), self._out(threads, hidden), self._own()],
                             self.work.compute_s, 1, self.capacity)

    def _copies(self, helpers: int, pace_s: float) -> list[Flow]:
        """Two helpers have a direction each, or share the only one; one copies in and then out, or, paced, by turns."""
        work = self.work
        both = work.in_bytes > 0 and work.out_bytes > 0
        each = helpers if not both else max(helpers / 2, 1)
        first, second = self._in(each), self._out(each)
        first.joined, second.joined = self.machine.thread_in, self.machine.thread_out
        if not pace_s:
            if both and helpers == 1:
                first.then = second
                return [first]
            return [first, second]
        turns_s = first.left / first.cap + second.left / second.cap if helpers == 1 else 0
        for flow in (first, second):
            flow.cap = min(flow.cap, flow.left / max(pace_s, turns_s)) or flow.cap
        return [first, second]

    def interval(self, helpers: int, pace_s: float = 0) -> float:
        """In the middle of a phase. `pace_s`: helpers spread their copies over so much time; 0: as fast as they can."""
        speed = self._speed(helpers)
        if speed <= 0:
            return float("inf")
        return run([*self._copies(helpers, pace_s), self._own()], self.work.compute_s, speed, self.capacity)

    def measured(self) -> tuple[float, float]:
        """T_comp and BW_comp: an interval with its batch in DRAM, without helpers."""
        seconds = run([self._own()], self.work.compute_s, 1, self.capacity)
        return seconds, self.work.traffic_bytes / seconds


def phase(socket: Socket, helpers: int, pace_s: float = 0) -> float:
    """Seconds of a whole phase: with helpers the first batch is copied before it, and the last one back afterwards."""
    if not helpers:
        return INTERVALS * socket.in_place()
    work = socket.work
    ends = Socket(socket.machine, replace(work, traffic_bytes=0, compute_s=1e-9))
    return INTERVALS * socket.interval(helpers, pace_s) + ends.interval(helpers)


# --- a microbenchmark of the machine, as a site would run it --------------------------------------

def bandwidth(machine: Machine, threads_in: float, threads_out: float) -> tuple[float, float]:
    flows = [Flow(1, threads_in * machine.thread_in, 1 / machine.reads), Flow(1, threads_out * machine.thread_out, 1 / machine.writes)]
    used = [flow for flow, threads in zip(flows, (threads_in, threads_out)) if threads]
    rates = iter(shared(used, 1.0))
    return tuple(next(rates) if threads else 0.0 for threads in (threads_in, threads_out))


def random_machine(dice: random.Random) -> Machine:
    thread_in = 1e9 * 10 ** dice.uniform(0, 0.8)
    thread_out = thread_in * dice.uniform(0.2, 1)
    return Machine(thread_in, thread_out, thread_in * dice.uniform(2, 16), thread_out * dice.uniform(1.5, 6))


def random_work(dice: random.Random, machine: Machine) -> Work:
    in_bytes = 1e6 * 10 ** dice.uniform(1, 2.7)
    out_bytes = in_bytes * dice.choice((0, 0.5, 1))
    ranks, threads = dice.choice((1, 2, 4, 8, 12, 24)), dice.randint(1, 12)
    one_helper = in_bytes / machine.thread_in + out_bytes / machine.thread_out
    compute_s = one_helper * 10 ** dice.uniform(-1, 1)
    traffic = dice.choice((0, dice.uniform(0, 1))) * compute_s * machine.reads / ranks
    return Work(ranks, threads, threads + dice.randint(0, 2), in_bytes, out_bytes, compute_s, traffic, dice.uniform(0, 0.9))
