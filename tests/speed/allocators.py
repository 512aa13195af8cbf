"""Allocators that are measured against each other, and what is asked of the placement runtime beside them.

There is no slow tier: memtier and the runtime have both of theirs on node 0.
"""

import os
import statistics
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GIB = 1 << 30
JEMALLOC_MEAN = 1.03
MEMTIER_WORST = 1.0
Times = dict[str, dict[Any, list[float]]]  # by allocator, of whatever was measured, a value a round


@dataclass(frozen=True)
class Allocator:
    """One to preload, if its library is there."""

    name: str
    library: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def is_there(self) -> bool:
        if not self.library or self.library.startswith("/"):
            return not self.library or Path(self.library).exists()
        known = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True)
        return f"\t{self.library} " in known.stdout

    def variables(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], **self.environment,
                **({"LD_PRELOAD": self.library} if self.library else {})}


def allocators(build: Path) -> list[Allocator]:
    runtime = str(build / "libpmplace.so")
    return [
        Allocator("glibc"),
        Allocator("jemalloc", "libjemalloc.so.2"),
        Allocator("memtier", "libmemtier.so.0", {
            "MEMKIND_DAX_KMEM_NODES": "0",
            "MEMKIND_MEM_TIERS": "KIND:DRAM,RATIO:1;KIND:KMEM_DAX,RATIO:4;POLICY:STATIC_RATIO"}),
        Allocator("place", runtime, {
            "PM_RANK_DRAM": str(GIB), "PM_NODE_DRAM": "0", "PM_NODE_PMEM": "0",
            "PM_SPACES": f"metadata={GIB // 4},temporary={GIB // 4}"}),
        Allocator("idle", runtime),
    ]


def missing(candidates: list[Allocator]) -> str:
    """What a user is told when one of them is not there; empty: all are."""
    absent = [a.name for a in candidates if not a.is_there()]
    return f"not there: {', '.join(absent)}; make all, and apt install libjemalloc2 libmemkind0" if absent else ""


def in_turns(candidates: list[Allocator], runs: int) -> list[Allocator]:
    """Each `runs` times, another one first in each round, so that a drift of the machine hits all alike."""
    order = []
    for round_ in range(runs):
        first = round_ % len(candidates)
        order += candidates[first:] + candidates[:first]
    return order


def holds(value: float, limit: float) -> str:
    """A ratio against what is asked, in words."""
    return f"{value:.2f}, at most {limit:.2f} is asked: {'holds' if value <= limit else 'DOES NOT HOLD'}"


def ratio(times: Times, other: str, key: Any) -> float:
    """What the runtime's time is of another's, the median of the rounds: in each, both had the same machine."""
    return statistics.median(ours / theirs for ours, theirs in zip(times["place"][key], times[other][key]))


def _ratios(times: Times, other: str, keys: list[Any]) -> list[float]:
    return [ratio(times, other, key) for key in keys if key in times[other]]


def verdicts(times: Times, keys: list[Any], of: str) -> str:
    """How the runtime does on these against what is asked; memtier may not have run all of them."""
    mean = statistics.geometric_mean(_ratios(times, "jemalloc", keys))
    worst = max(_ratios(times, "memtier", keys), default=0)
    glibc = statistics.geometric_mean(_ratios(times, "glibc", keys))
    return (f"place against jemalloc, {of}: geometric mean {holds(mean, JEMALLOC_MEAN)}\n"
            f"place against memtier, {of}: worst {holds(worst, MEMTIER_WORST)}\n"
            f"place against glibc, {of}: geometric mean {glibc:.2f}")
