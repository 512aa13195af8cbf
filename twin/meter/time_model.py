"""How long a node with Optane would take for counted traffic, as far as published figures of STREAM say.

    seconds = DRAM / D + PMem reads / R + PMem writes / W

with DRAM read and written alike, and each line that is stored to also read from its tier, as the meter counts it. D, R and W are
fitted to the STREAM values that paper 004 prints for a node with two sockets and first-generation modules. The model knows
streams: of random access it gives a band, from the latencies of the tiers and a number of misses that overlap.

It is wrong by at most 4 % on the values that it is fitted to, and by up to 37 % on others (`checks`): each prediction carries both.
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

GB = 1e9
LINE = 64
# Paper 004, first generation: GB/s that STREAM reports for copy, scale, add and triad, by what is in PMem.
STREAM = {
    "nothing": (136.0, 135.0, 152.0, 154.0),
    "read": (80.0, 80.0, 79.0, 80.0),
    "written": (16.7, 16.7, 25.0, 24.9),
    "all": (15.5, 15.1, 21.2, 21.4),
}
KERNELS = ((8, 8), (8, 8), (16, 8), (16, 8))    # bytes read and written for each element
# Paper 001, Table 10 (median) and the text below it: triad, GB/s.
OTHERS = {"all in DRAM, paper 001": 150.0, "all in PMem, paper 001": 32.0, "Memory Mode, 4 GB a process, paper 001": 12.0}
LATENCY_NS = {"dram": (79.0, 87.0), "pmem": (174.0, 304.0)}    # sequential and random reads, as paper 000 has them
OVERLAPPING = (1, 10)       # misses of a core at the same time: dependent loads, and as many as it has fill buffers


@dataclass(frozen=True)
class Traffic:
    """Bytes behind the caches."""

    dram: float = 0
    pmem_read: float = 0
    pmem_written: float = 0


@dataclass(frozen=True)
class Speeds:
    """Bytes a second of a node."""

    dram: float
    pmem_read: float
    pmem_written: float

    def seconds(self, traffic: Traffic) -> float:
        return traffic.dram / self.dram + traffic.pmem_read / self.pmem_read + traffic.pmem_written / self.pmem_written


def stream(read: int, written: int, in_pmem: str) -> Traffic:
    """Traffic for an element of STREAM; what is stored to is read before."""
    reads_pmem, writes_pmem = in_pmem in ("read", "all"), in_pmem in ("written", "all")
    return Traffic(dram=read * (not reads_pmem) + 2 * written * (not writes_pmem), pmem_read=read * reads_pmem + written * writes_pmem,
                   pmem_written=written * writes_pmem)


def errors(speeds: Speeds) -> list[float]:
    """Predicted against published bandwidth, as a part of the latter."""
    found = []
    for in_pmem, published in STREAM.items():
        for (read, written), value in zip(KERNELS, published):
            predicted = (read + written) / speeds.seconds(stream(read, written, in_pmem)) / GB
            found.append(predicted / value - 1)
    return found


@cache
def fit() -> Speeds:
    """Least squares of the errors: a search on grids, each finer than the one before around its best."""
    best, steps = (200.0, 70.0, 10.0), (16.0, 8.0, 2.0)
    while max(steps) > 0.01:
        around = product(*([value + step * i for i in (-2, -1, 0, 1, 2) if value + step * i > 0] for value, step in zip(best, steps)))
        found = min(around, key=lambda one: sum(e * e for e in errors(Speeds(*(GB * x for x in one)))))
        if found == best:
            steps = tuple(step / 2 for step in steps)
        best = found
    return Speeds(*(GB * x for x in best))


def checks(speeds: Speeds) -> dict[str, float]:
    """Errors on what the model is not fitted to."""
    # In Memory Mode, far beyond DRAM, as near_memory.c counts: all lines miss when they are read, also to be stored to, and the
    # line that is written back is there. Each access reads DRAM for its tag.
    missed, written_back = 16 + 8, 8
    found = {
        "all in DRAM, paper 001": stream(16, 8, "nothing"),
        "all in PMem, paper 001": stream(16, 8, "all"),
        "Memory Mode, 4 GB a process, paper 001": Traffic(dram=2 * (missed + written_back), pmem_read=missed, pmem_written=written_back),
    }
    return {name: 24 / speeds.seconds(traffic) / GB / OTHERS[name] - 1 for name, traffic in found.items()}


@dataclass(frozen=True)
class Prediction:
    """Seconds for streams, with the error on the values that the model is fitted to and on others; and a band for random access."""

    seconds: float
    error: float
    error_elsewhere: float
    random_seconds: tuple[float, float]


def predict(traffic: Traffic, threads: int = 1) -> Prediction:
    speeds = fit()
    return Prediction(speeds.seconds(traffic), max(map(abs, errors(speeds))), max(map(abs, checks(speeds).values())), random(traffic, threads))


def random(traffic: Traffic, threads: int) -> tuple[float, float]:
    """Every line is a miss that the core waits for; with as many cores as `threads`."""
    def seconds(which: int, overlapping: int) -> float:
        dram, pmem = (LATENCY_NS[tier][which] * 1e-9 for tier in ("dram", "pmem"))
        return (traffic.dram * dram + traffic.pmem_read * pmem) / LINE / overlapping / threads
    return seconds(0, OVERLAPPING[1]), seconds(1, OVERLAPPING[0])
