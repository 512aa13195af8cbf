"""A rank that replays the streams of a recorded program, in virtual time.

A trace (recorder.c) has the seconds that the program computes between its calls; here its batches are in persistent memory of a
simulated machine (simulator.py). Staged streams are copied by helpers as runtime/stream/stream.c does it; where a stream runs in
place, a thread reads and writes the batch at the device's speed, and a part of that is hidden behind computing. The rank has one
thread of the program; all ranks of the socket are in step. No equation of the model is used here.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low
from typing import Callable, Optional

from simulator import Flow, Machine, shared

TINY_S = 1e-6           # calls that follow one another so fast have no batch accessed between them
PACE_SHARE = 0.8        # as in runtime/stream/phase.c
SLOWER, SAMPLES = 1.05, 5


@dataclass(frozen=True)
class Event:
    compute_s: float    # since the event before
    what: str           # i, o, n or c
    stream: int = -1
    phase: int = -1
    batch_bytes: int = 0
    range_bytes: int = 0
    is_written: bool = False


def read(path: Path) -> list[Event]:
    events = []
    for line in path.read_text(encoding="ascii").splitlines():
        ns, what, *rest = line.split()
        numbers = [int(word) for word in rest]
        events.append(Event(int(ns) / 1e9, what, *numbers[:4], *map(bool, numbers[4:])))
    first = next(i for i, event in enumerate(events) if event.what == "o")
    return [Event(**{**vars(events[first]), "compute_s": 0.0}), *events[first + 1:]]     # without the program's start


@dataclass(frozen=True)
class Question:
    """What the runtime has measured of a phase."""
    in_bytes: float
    out_bytes: float
    compute_s: float        # an interval with its batch in DRAM
    placed_s: float         # one in place; 0: not measured
    other_in: float         # copies of other streams in that time
    other_out: float


@dataclass
class Phase:
    passes: int = 0
    helpers: Optional[int] = None       # None: not measured yet
    pace_s: float = 0
    placed_s: float = 0
    slower: int = 0                     # passes in a row


@dataclass
class Job:
    flow: Flow
    helpers: tuple[int, ...]


@dataclass
class Stream:
    phase: Phase
    event: Event
    helpers: int = 0
    in_place: bool = True
    measuring: bool = False
    in_place_s: list[float] = field(default_factory=list)   # intervals that are measured, by turns
    staged_s: list[float] = field(default_factory=list)
    handed: int = -1            # batch
    handed_s: float = 0         # when
    walked: int = 0             # intervals with helpers
    slower: int = 0
    jobs: dict[str, Job] = field(default_factory=dict)   # "in", "out": posted

    @property
    def batches(self) -> int:
        return -(-self.event.range_bytes // self.event.batch_bytes)

    def bytes_of(self, batch: int) -> int:
        return min(self.event.batch_bytes, self.event.range_bytes - batch * self.event.batch_bytes)


class Rank:
    """`choose` answers a question with a number of helpers; a number in its place is the helpers of all phases. `compared`:
    intervals in place are measured, too, and a phase that turns out to be slower with its helpers loses them."""

    def __init__(self, machine: Machine, ranks: int, helper_cpus: int, overlap: float,
                 choose: int | Callable[[Question], int], *, own: float = 0, paced: bool = False, compared: bool = False):
        self.machine, self.capacity, self.helper_cpus, self.overlap = machine, 1 / ranks, helper_cpus, overlap
        self.choose, self.paced, self.compared = choose, paced, compared
        self.own = own      # bytes that the program itself reads from the device in each second of its computing
        self.now = 0.0
        self.phases: dict[int, Phase] = {}
        self.streams: dict[int, Stream] = {}
        self.accessed: list[tuple[int, bool]] = []       # batches in place that the program computes on next

    def replay(self, events: list[Event]) -> float:
        """Seconds."""
        for event in events:
            self._compute(event.compute_s)
            if event.what == "o":
                self._open(event)
            elif event.what == "n":
                self._next(self.streams[event.stream])
            elif event.what == "c":
                self._close(event.stream)
        return self.now

    # --- time ---------------------------------------------------------------------------------

    def _flow(self, count: float, is_out: bool) -> Flow:
        machine = self.machine
        return Flow(count, machine.thread_out if is_out else machine.thread_in, 1 / (machine.writes if is_out else machine.reads))

    def _jobs(self) -> list[Job]:
        return [job for stream in self.streams.values() for job in stream.jobs.values() if job.flow.left > 1e-6]

    def _caps(self, jobs: list[Job], waited: Optional[Job]) -> list[float]:
        """Of each job: a helper's time is shared among its jobs, and what a paced one leaves is another's; the waiting thread
        copies along."""
        queues = [[job for job in jobs if helper in job.helpers] for helper in (0, 1)]
        speed = min(1, self.helper_cpus / max(sum(bool(queue) for queue in queues), 1))
        rates = {id(job): float(job is waited) * self._thread(job) for job in jobs}
        for queue in queues:
            wanted = [Flow(1, float("inf") if job is waited else job.flow.cap / len(job.helpers) / self._thread(job), 1) for job in queue]
            for job, time in zip(queue, shared(wanted, speed) if wanted else []):
                rates[id(job)] += time * self._thread(job)
        return [rates[id(job)] for job in jobs]

    def _thread(self, job: Job) -> float:
        return self.machine.thread_out if job.flow.cost == 1 / self.machine.writes else self.machine.thread_in

    def _step(self, own: list[Flow], limit_s: float, waited: Optional[Job] = None) -> float:
        """Lets time pass until a flow ends or the limit is there."""
        jobs = self._jobs()
        flows = [Flow(job.flow.left, cap, job.flow.cost) for job, cap in zip(jobs, self._caps(jobs, waited))] + own
        flows = [flow for flow in flows if flow.cap > 0]
        rates = shared(flows, self.capacity) if flows else []
        step = min([limit_s, *(flow.left / rate for flow, rate in zip(flows, rates))])
        moved = iter(zip(flows, rates))
        for job, cap in zip(jobs, self._caps(jobs, waited)):
            if cap > 0:
                job.flow.left -= next(moved)[1] * step
        for flow, rate in moved:
            flow.left -= rate * step
        self.now += step
        return step

    def _pass(self, own: Flow, compute_s: float) -> None:
        """Until the program has computed so long and its own flow, which may have another one behind it, has ended."""
        flow: Optional[Flow] = own
        while compute_s > 1e-12 or flow:
            while flow and flow.left <= 1e-6:
                flow = flow.then
            if not flow and compute_s <= 1e-12:
                return
            compute_s -= self._step([flow] if flow else [], compute_s if compute_s > 1e-12 else float("inf"))

    def _compute(self, seconds: float) -> None:
        if seconds < TINY_S:
            self._pass(Flow(0, 0, 0), seconds)
            return
        exposed, hidden = Flow(0, 1, 1), Flow(0, 1, 1)
        for count, is_written in self.accessed:
            for is_out in (False, True)[:1 + is_written]:
                exposed = self._behind(exposed, self._flow(count * (1 - self.overlap), is_out))
                hidden = self._behind(hidden, self._flow(count * self.overlap, is_out))
        self.accessed = []
        self._pass(exposed, 0)
        if self.own:
            hidden = self._behind(hidden, Flow(self.own * seconds, self.machine.thread_in, 1 / self.machine.reads))
        self._pass(hidden, seconds)

    @staticmethod
    def _behind(last: Flow, flow: Flow) -> Flow:
        flow.then = last
        return flow

    # --- streams ------------------------------------------------------------------------------

    def _open(self, event: Event) -> None:
        phase = self.phases.setdefault(event.phase, Phase())
        phase.passes += 1
        stream = self.streams[event.stream] = Stream(phase, event)
        if isinstance(self.choose, int):
            stream.helpers = self.choose
        elif phase.helpers is None and phase.passes > 1:
            stream.measuring = True
        else:
            stream.helpers = phase.helpers or 0
        stream.in_place = self._measures_in_place(stream, 0) if stream.measuring else not stream.helpers
        if not stream.in_place and not stream.measuring:
            self._post(stream, "in", 0)

    def _post(self, stream: Stream, direction: str, batch: int) -> None:
        if batch >= stream.batches:
            return
        flow = self._flow(stream.bytes_of(batch), direction == "out")
        flow.cap = flow.left / stream.phase.pace_s if stream.phase.pace_s and stream.handed >= 0 else float("inf")
        helpers = tuple(range(stream.helpers))
        if stream.helpers == 2 and stream.event.is_written:
            helpers = (1,) if direction == "out" else (0,)
        stream.jobs[direction] = Job(flow, helpers)

    def _wait(self, stream: Stream, direction: str) -> None:
        job = stream.jobs.get(direction)
        while job and job.flow.left > 1e-6:
            self._step([], float("inf"), job)
        stream.jobs.pop(direction, None)

    def _next(self, stream: Stream) -> None:
        self._hand_back(stream)
        batch = stream.handed + 1
        if stream.measuring:
            stream.in_place = self._measures_in_place(stream, batch)
        if batch >= stream.batches:
            self._end_walk(stream)
        elif stream.in_place:
            self.accessed.append((stream.bytes_of(batch), stream.event.is_written))
        else:
            self._fetch(stream, batch)
            self._count_interval(stream)
        stream.handed, stream.handed_s = batch, self.now

    def _fetch(self, stream: Stream, batch: int) -> None:
        if "in" not in stream.jobs:
            self._post(stream, "in", batch)
        self._wait(stream, "in")
        stream.handed = batch
        if not stream.measuring:
            self._post(stream, "in", batch + 1)

    def _hand_back(self, stream: Stream) -> None:
        was_in_place = stream.in_place
        self._end_measurement(stream)
        self._wait(stream, "out")
        if not was_in_place and stream.event.is_written and 0 <= stream.handed < stream.batches:
            self._post(stream, "out", stream.handed)
        if not stream.measuring and not stream.helpers and not was_in_place:
            self._wait(stream, "out")
            stream.in_place = True

    def _close(self, slot: int) -> None:
        stream = self.streams[slot]
        self._hand_back(stream)
        for direction in ("in", "out"):
            self._wait(stream, direction)
        del self.streams[slot]

    # --- measurements -------------------------------------------------------------------------

    def _measures_in_place(self, stream: Stream, batch: int) -> bool:
        return self.compared and stream.batches > 1 and batch % 2 == 0

    def _end_measurement(self, stream: Stream) -> None:
        if not stream.measuring or stream.handed < 0:
            return
        (stream.in_place_s if stream.in_place else stream.staged_s).append(self.now - stream.handed_s)
        is_last = stream.handed + 1 >= stream.batches
        if len(stream.staged_s) < (SAMPLES if self.compared and not is_last else 1):
            return
        stream.measuring = False
        phase = stream.phase
        if phase.helpers is None:
            question = self._question(stream)
            phase.helpers, phase.placed_s = self.choose(question), question.placed_s
            phase.pace_s = PACE_SHARE * question.compute_s if self.paced else 0
        stream.helpers = phase.helpers

    def _question(self, stream: Stream) -> Question:
        size, is_written = stream.event.batch_bytes, stream.event.is_written
        others = [other.event for other in self.streams.values() if other is not stream]
        return Question(size, size * is_written, max(median_low(stream.staged_s), 1e-9), median_low(stream.in_place_s) if stream.in_place_s else 0,
                        sum(other.batch_bytes for other in others), sum(other.batch_bytes * other.is_written for other in others))

    def _count_interval(self, stream: Stream) -> None:
        if self.compared and stream.helpers and stream.phase.placed_s and stream.handed > 0 and not isinstance(self.choose, int):
            stream.walked += 1
            stream.slower += self.now - stream.handed_s > SLOWER * stream.phase.placed_s

    def _end_walk(self, stream: Stream) -> None:
        """Two passes in a row, most of which was slower than in place, end the helpers of the phase."""
        phase = stream.phase
        if not stream.walked:
            return
        phase.slower = phase.slower + 1 if stream.slower > stream.walked // 2 else 0
        if phase.slower >= 2:
            phase.helpers = 0
