"""The guests in which the papers' programs, or small ones of their kind, are counted.

An experiment is one boot: a machine, a shell script, and names for the regions that the meter counts. Its result is kept by all that
it depends on, so that an evaluation that was stopped goes on where it was.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cluster import paths
from configurations import HUGE
from meter import guest
from meter.errors import MeterError
from programs import CACHES, PROGRAMS, VARIABLES

MIB = 1 << 20
TOP = Path(__file__).resolve().parents[3]
TOOLS = ("minipic", "minipic-streams", "arrays", "scatter", "hold")
WARM_UP = "warm-up"     # such regions are dropped: what reads the files, and starts
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
LITTLE = "echo 2048 >/proc/sys/vm/min_free_kbytes"      # else the kernel keeps more of node 0 than a budget has
FLAT = guest.Machine(1, 512 * MIB, 1024 * MIB, CACHES.last)
BESIDE = MIB            # free memory that the kernel keeps, and tables of pages
OTHERS = MIB            # of a program besides its heap: stacks, data of libraries


@dataclass(frozen=True)
class Experiment:
    """`lines` have one region for each of `regions`, in their order. `files` are put into the folder, /mnt in the guest."""

    name: str
    machine: guest.Machine
    lines: tuple[str, ...]
    regions: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Work:
    """A particle-in-cell code. Its command in a guest has one region. The runtime has `small` bytes of DRAM for small objects, and
    `migration` for batches."""

    name: str
    command: str
    is_marked: bool     # the program has marks of its own
    small: int = HUGE
    migration: int = 0

    @property
    def spaces(self) -> str:
        return f"metadata={self.small},temporary=0,migration={self.migration}"

    @property
    def counted(self) -> str:
        return self.command if self.is_marked else f"/mnt/region {self.command}"

    def regions(self, name: str) -> tuple[str, ...]:
        """minipic's first step is a region of its own."""
        return (WARM_UP, name) if self.is_marked else (name,)


@dataclass(frozen=True)
class Budget:
    """DRAM for a problem, and advice for the runtime."""

    problem: str
    dram: int
    advice: str


def minipic(build: Path, cells: int = 120000, particles: int = 5, steps: int = 3, streams: bool = False) -> str:
    """Five particles in a cell hold a little more than half of the memory, as paper 000 says of WarpX."""
    return f"{build}/tests/evaluate/minipic{'-streams' * streams} {cells} {particles} {steps}"


def works(build: Path) -> dict[str, Work]:
    """minipic's objects are few and large; pic has those of paper 000's Table II, with short-lived ones."""
    return {"minipic": Work("minipic", minipic(build), True),
            "pic": Work("pic", f"{build}/tests/runtime/pic 3", False, 2 * HUGE)}


def half(build: Path) -> Work:
    return Work("half", minipic(build, 60000), True)


def digest(*parts: object) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part.read_bytes() if isinstance(part, Path) else repr(part).encode())
        found.update(b"\0")
    return found.hexdigest()[:16]


def code(build: Path, text: str) -> list[Path]:
    """The meter, and what the text names."""
    programs = [*(build / "tests/evaluate" / name for name in TOOLS), build / "tests/runtime/pic", build / "libpmplace.so"]
    return [*sorted((build / "meter").iterdir()), *(one for one in programs if re.search(rf"{re.escape(str(one))}(?![\w-])", text))]


def kept(name: str, key: str, make: Callable[[], dict]) -> dict:
    file = paths.cache() / "papers" / f"{name.replace(' ', '-')}-{key}.json"
    if not file.exists():
        print(f"{name}: running", file=sys.stderr, flush=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(make(), indent=1))
        os.rename(new, file)
    return json.loads(file.read_text())


def checked(experiment: Experiment, regions: list[dict], statuses: list[str], errors: str) -> dict[str, dict]:
    """The regions by their names."""
    if set(statuses) != {"0"}:
        raise MeterError(f"{experiment.name}: a program failed: {statuses} {errors[-500:]}")
    if len(regions) != len(experiment.regions):
        raise MeterError(f"{experiment.name}: {len(regions)} of {len(experiment.regions)} regions were counted: {errors[-500:]}")
    return {name: region for name, region in zip(experiment.regions, regions) if name != WARM_UP}


def run(experiment: Experiment, folder: Path, build: Path) -> guest.Result:
    """Once more if the guest ends before its command does: a kernel on a busy host may find its timer too slow."""
    for is_last in (False, True):
        (folder / "statuses").unlink(missing_ok=True)
        try:
            return guest.run(experiment.machine, ["/bin/sh", "/mnt/all"], folder, build / "meter", VARIABLES, marks=True, timeout=1800)
        except MeterError as error:
            if is_last:
                raise
            print(f"{experiment.name}: {error}; once more", file=sys.stderr, flush=True)
    raise AssertionError


def count(experiment: Experiment, build: Path) -> dict[str, dict]:
    with tempfile.TemporaryDirectory(dir=build) as temporary:
        folder = Path(temporary)
        for name, text in experiment.files:
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "all").write_text("\n".join(experiment.lines) + "\n", encoding="ascii")
        found = run(experiment, folder, build)
        return checked(experiment, found.regions, (folder / "statuses").read_text().split(), found.stderr)


def result(experiment: Experiment, build: Path) -> dict[str, dict]:
    return kept(experiment.name, digest(experiment, experiment.files, *code(build, " ".join(experiment.lines))), lambda: count(experiment, build))


def told(line: str) -> str:
    return f"{line} >/dev/null; echo $? >>/mnt/statuses"


def warm_up(build: Path, node: int) -> str:
    """With its own memory, and the pages of its files, away from the nodes that are filled: two regions."""
    return told(f"numactl --membind={node} {minipic(build, 64, 10, 2)}")


WARMED_UP = (WARM_UP, WARM_UP)


def whole(bytes_: float) -> int:
    return -(-round(bytes_) // HUGE) * HUGE


def hold(build: Path, node: int, dram: int, command: str) -> str:
    return f"{build}/tests/evaluate/hold {node} {(dram + BESIDE) >> 10} {command}"


def ours(work: Work, budget: Budget, build: Path, rank: int = 0, sockets: int = 1, **variables: object) -> str:
    """With the runtime, and its advice in /mnt."""
    told_to_it = {"LD_PRELOAD": build / "libpmplace.so", "PM_RANK_DRAM": budget.dram, "PM_SPACES": work.spaces, "PM_LOCAL_RANK": rank,
                  "PM_NODE_DRAM": rank, "PM_NODE_PMEM": sockets + rank, "PM_ADVICE": f"/mnt/advice-{budget.problem}", **variables}
    words = [f"{name}={shlex.quote(str(value))}" for name, value in told_to_it.items()]
    return " ".join([*(["/mnt/region"] * (not work.is_marked)), "env", *words, work.command])


def flat(work: Work, budgets: list[Budget], build: Path) -> Experiment:
    """All in one tier; the kernel's first touch with room for the budget in DRAM, or in all of it; and static placement by advice."""
    lines, regions = [LITTLE, warm_up(build, 1)], [*WARMED_UP]
    for name, node in (("dram", 0), ("pmem", 1)):
        lines.append(told(f"numactl --membind={node} {work.counted}"))
        regions += work.regions(name)
    for one in budgets:
        lines += [told(hold(build, 0, one.dram, work.counted)), told(ours(work, one, build))]
        regions += [*work.regions(f"first touch {one.problem}"), *work.regions(f"static {one.problem}")]
    return Experiment(f"flat {work.name}", FLAT, tuple(lines), tuple(regions), advice_of(budgets))


def advice_of(budgets: list[Budget]) -> tuple[tuple[str, str], ...]:
    return tuple((f"advice-{one.problem}", one.advice) for one in budgets)


def streaming(build: Path) -> Work:
    """minipic with streams: another program, for which it has advice of its own."""
    return Work("streaming", minipic(build, streams=True), True, migration=2 * HUGE)


def streams(budget: Budget, build: Path) -> Experiment:
    """A helper thread copies batches of particles to DRAM, and back."""
    work = streaming(build)
    return Experiment("streams", FLAT, (warm_up(build, 1), told(ours(work, budget, build, PM_STREAMS=1))), (*WARMED_UP, *work.regions("dynamic")), advice_of([budget]))


FEW_LAYOUTS, LAYOUTS = ("fresh", "4K 1"), ("fresh", "4K 1", "2M 1", "2M 2", "2M 3")     # size of pieces, and the seed of their order


def scattered(layout: str, command: str, build: Path) -> str:
    """The command on pages in another order than that of a kernel that has just been booted."""
    if layout == "fresh":
        return told(command)
    pages, seed = layout.split()
    line = told(f"{build}/tests/evaluate/scatter {seed} {4 if pages == '4K' else HUGE >> 10} 320 {command}")
    return f"echo never >{THP}; {line}; echo always >{THP}" if pages == "4K" else line


def memory_mode(work: Work, problem: str, dram: int, build: Path, layouts: tuple[str, ...]) -> Experiment:
    machine = guest.Machine(1, 512 * MIB, 0, CACHES.last, whole(dram + OTHERS))
    regions = (name for one in layouts for name in work.regions(one))
    return Experiment(f"memory mode {work.name} {problem}", machine, (warm_up(build, 0), *(scattered(one, work.counted, build) for one in layouts)), (*WARMED_UP, *regions))


def solver(folder: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The evaluation's conjugate gradients on a quarter of its grid, and its files."""
    one = next(one for one in PROGRAMS if one.name == "numpy")
    with tempfile.TemporaryDirectory() as temporary:
        command = shlex.join(one.command(Path(temporary), 0.25)).replace(temporary, folder)
        return command, tuple((file.name, file.read_text()) for file in Path(temporary).iterdir())


def solver_in_one_tier() -> Experiment:
    command, files = solver("/mnt")
    lines = [f"{command} >/dev/null", *(told(f"/mnt/region numactl --membind={node} {command}") for node in (0, 1))]
    return Experiment("solver", FLAT, tuple(lines), ("dram", "pmem"), files)


def fits_in_memory_mode(build: Path) -> Experiment:
    """DRAM is ten times minipic's memory, as it is ten times problem G's of paper 000."""
    command, files = solver("/mnt")
    lines, regions = [warm_up(build, 0), f"{command} >/dev/null"], [*WARMED_UP]
    for work in works(build).values():
        if not work.is_marked:
            lines.append(told(work.counted))
            regions.append(WARM_UP)
        lines.append(told(work.counted))
        regions += work.regions(work.name)
    machine = guest.Machine(1, 768 * MIB, 0, CACHES.last, 340 * MIB)
    return Experiment("fits in memory mode", machine, (*lines, *[told(f"/mnt/region {command}")] * 2), (*regions, WARM_UP, "solver"), files)


def two_sockets(build: Path) -> Experiment:
    """A program on socket 0, with its memory on one node."""
    names = {"dram": 0, "local": 2, "remote": 3}
    lines = [warm_up(build, 1), *(told(f"taskset -c 0 numactl --membind={node} {minipic(build)}") for node in names.values())]
    return Experiment("two sockets", guest.Machine(2, 256 * MIB, 256 * MIB, CACHES.last), tuple(lines), (*WARMED_UP, *(name for one in names for name in (WARM_UP, one))))


def both(*commands: str) -> str:
    """One a socket, at the same time: they are one region, of all steps."""
    first, second = (f"taskset -c {cpu} {command} >/dev/null" for cpu, command in enumerate(commands))
    return f"{first} & one=$!; {second}; echo $? >>/mnt/statuses; wait $one; echo $? >>/mnt/statuses"


def ranks(budget: Budget, build: Path) -> Experiment:
    """Two programs, one a socket, with DRAM for a part of their memory: by the kernel, which prefers PMem of the own socket to DRAM of the
    other one; by the kernel with the DRAM of both before all PMem; and by the runtime."""
    work = half(build)

    def held(command: str) -> str:
        pair = both(f"{command} {work.command}", f"{command} {work.command}")
        return hold(build, 0, budget.dram, hold(build, 1, budget.dram, f"sh -c {shlex.quote(pair)}"))

    lines = [LITTLE, warm_up(build, 2), held("env"), held("numactl --preferred-many=0,1"), both(ours(work, budget, build, 0, 2), ours(work, budget, build, 1, 2))]
    return Experiment("ranks", guest.Machine(2, 256 * MIB, 384 * MIB, CACHES.last), tuple(lines),
                      (*WARMED_UP, "first touch", "dram first", "static"), advice_of([budget]))


def ranks_in_memory_mode(budget: Budget, build: Path) -> Experiment:
    machine = guest.Machine(2, 384 * MIB, 0, CACHES.last, whole(budget.dram + OTHERS))
    return Experiment("ranks in memory mode", machine, (warm_up(build, 1), both(half(build).command, half(build).command)), (*WARMED_UP, "memory mode"))


KERNELS = ("copy", "scale", "add", "triad")
PLACES = {"nothing": (0, 0), "read": (1, 0), "written": (0, 1), "all": (1, 1)}      # which arrays are in PMem, as node of each kind
ROWS = 1024     # 8 MiB an array


def arrays(build: Path) -> Experiment:
    regions = {f"{kernel} {place}": f"{read} {written} {ROWS} {kernel}" for kernel in (*KERNELS, "sharpen") for place, (read, written) in PLACES.items()}
    return Experiment("arrays", FLAT, tuple(told(f"{build}/tests/evaluate/arrays {arguments}") for arguments in regions.values()),
                      tuple(name for one in regions for name in (WARM_UP, one)))


SMALL, LARGE, NEAR = 128, 4096, 32 * MIB    # rows: arrays of 1 MiB, and of 32; four of these are four times DRAM


def arrays_in_memory_mode(build: Path) -> Experiment:
    lines = [told(f"{build}/tests/evaluate/arrays -1 -1 {rows} triad") for rows in (SMALL, LARGE)]
    return Experiment("arrays in memory mode", guest.Machine(1, 512 * MIB, 0, CACHES.last, NEAR), tuple(lines), (WARM_UP, "triad small", WARM_UP, "triad large"))
