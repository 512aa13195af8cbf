"""How a program's memory is placed in a guest with DRAM on node 0 and PMem on node 1: a shell script's lines for each.

`dram` is what its heap may have of DRAM, `others` what else it holds. Where the kernel places, unused huge pages leave so much of DRAM
free; where a library places, it is told `dram`, and DRAM is free.
"""
from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

HUGE = 2 << 20
NODE = "/sys/devices/system/node/node0"
PAGES = f"{NODE}/hugepages/hugepages-2048kB/nr_hugepages"
MEMTIER = "/usr/lib/x86_64-linux-gnu/libmemtier.so.0"
FREE = "awk '/MemFree/ {print $4 * 1024}' " + NODE + "/meminfo"
LEFT = 3 << 20       # free memory that the kernel keeps, and the pages of files


@dataclass(frozen=True)
class Job:
    """`advice` files are made beforehand: from exact counts, and from a profile of a native run."""

    command: list[str]
    dram: int
    others: int
    runtime: Path
    advice: dict[str, Path]
    streams: list[str] = field(default_factory=list)    # the command with streams, if there is one


@dataclass(frozen=True)
class Configuration:
    name: str
    about: str
    lines: Callable[[Job], list[str]]
    is_memory_mode: bool = False
    is_filled: bool = False     # DRAM has room for the job alone
    report: str = ""            # file of the runtime's report
    has_streams: bool = False   # for programs that have streams


def region(job: Job, prefix: str = "", **variables: object) -> str:
    """The counted command; its output is discarded."""
    words = [f"{name}={shlex.quote(str(value))}" for name, value in variables.items()]
    return " ".join([*words, "/mnt/region", *prefix.split(), shlex.join(job.command), ">/dev/null"])


def fill(job: Job) -> list[str]:
    """Leaves room for the job in DRAM, and no more; before memory is in pieces. Tells how many huge pages were wanted, and are there."""
    return ["echo 2048 >/proc/sys/vm/min_free_kbytes", f"free=$({FREE})", f"wanted=$(((free - {job.dram + job.others + LEFT}) / {HUGE}))",
            f"echo $wanted >{PAGES}", f"echo filled $wanted $(cat {PAGES}) >>/mnt/statuses"]


EMPTY = f"echo 0 >{PAGES}"


def tiering(job: Job) -> list[str]:
    balancing, demotion = "/proc/sys/kernel/numa_balancing", "/sys/kernel/mm/numa/demotion_enabled"
    return [f"echo 2 >{balancing}; echo true >{demotion}", region(job), f"echo 0 >{balancing}; echo false >{demotion}"]


def memtier(policy: str) -> Callable[[Job], list[str]]:
    def lines(job: Job) -> list[str]:
        tiers = f"KIND:DRAM,RATIO:1;KIND:KMEM_DAX,RATIO:3;POLICY:{policy}"
        return [region(job, LD_PRELOAD=MEMTIER, MEMKIND_DAX_KMEM_NODES=1, MEMKIND_MEM_TIERS=tiers)]
    return lines


def ours(name: str, about: str, advice: str | None = None, **more: object) -> Configuration:
    """The runtime says how much DRAM it used, in a file beside the script."""
    report = f"told-{name.replace(', ', '-')}"

    def lines(job: Job) -> list[str]:
        told = {} if advice is None else {"PM_ADVICE": job.advice[advice]}
        return [region(job, LD_PRELOAD=job.runtime, PM_RANK_DRAM=job.dram, PM_LOCAL_RANK=0, PM_NODE_DRAM=0, PM_NODE_PMEM=1,
                       PM_REPORT=f"/mnt/{report}", **told, **more)]
    return Configuration(name, about, lines, report=report)


def streams() -> Configuration:
    """A helper thread copies batches to DRAM and back; two chunks of the budget are for them. Advice is for one program as it is built."""
    static = ours("ours, streams", "advice from a profile of the program with streams, of a native run, and its streams", "streams",
                  PM_STREAMS=1, PM_SPACES=f"metadata={HUGE},temporary=0,migration={2 * HUGE}")
    return replace(static, lines=lambda job: static.lines(replace(job, command=job.streams)), has_streams=True)


CONFIGURATIONS = (
    Configuration("dram", "all in DRAM", lambda job: [region(job, "numactl --membind=0")]),
    Configuration("pmem", "all in PMem", lambda job: [region(job, "numactl --membind=1")]),
    Configuration("first touch", "the kernel, DRAM first", lambda job: [region(job)], is_filled=True),
    Configuration("tiering", "the kernel, with promotion (numa_balancing=2) and demotion", tiering, is_filled=True),
    Configuration("memtier ratio", "memkind's memtier, STATIC_RATIO 1:3", memtier("STATIC_RATIO")),
    Configuration("memtier size", "memkind's memtier, DYNAMIC_THRESHOLD 1:3", memtier("DYNAMIC_THRESHOLD")),
    ours("ours", "the runtime without advice"),
    ours("ours, advised", "advice from a profile of pages that were accessed, of a native run", "profiled"),
    ours("ours, exact", "advice from exact counts", "exact"),
    streams(),
    Configuration("memory mode", "DRAM as a direct-mapped cache", lambda job: [region(job)], is_memory_mode=True),
)
