"""DRAM and advice for problems of paper 000, each by how much larger than DRAM it is."""
from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import tempfile
from pathlib import Path
from types import ModuleType

from meter import program
from meter.errors import MeterError
from programs import CACHES, VARIABLES
from published import runs
from published.runs import Budget, Work

DRAM_GIB = 12 * 16      # of paper 000's node, Table VI
PEAK_GIB = {"A": 228.5, "E": 525.0, "B": 1.2 * 1024}     # Table V; F is as large as B
PROBLEMS = {"minipic": ("A", "E"), "pic": ("A", "E", "B")}      # minipic's DRAM for B would be 6 MiB, of which the kernel may miss 2
FIRST_SLAB = 8 << 20    # of a budget pmreport leaves so much, and half of it at most, to small objects that it does not know


def only(advice: str, asked: int, dram: int) -> str:
    """The column of the budget `asked`, for `dram`; and the last one, from which on the runtime has room for all."""
    lines, column = [], 0
    for line in advice.splitlines():
        words, before, after = line.split("#")[0].split(), *line.partition("#")[1:]
        keys = {"budgets": 1, "rest": 1, "site": 2, "small": 3}.get(words[0], 0) if words else 0
        if words[:1] == ["budgets"]:
            column = words[1:].index(str(asked))
            words[1 + column] = str(dram)
        lines.append(" ".join([*words[:keys], words[keys + column], words[-1], *[f" {before}{after}"] * bool(before)]) if keys else line)
    return "\n".join(lines) + "\n"


def evaluation() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("evaluate", str(Path(__file__).resolve().parents[1] / "evaluate"))
    found = importlib.util.module_from_spec(importlib.util.spec_from_loader("evaluate", loader))
    loader.exec_module(found)
    return found


def counted(work: Work, build: Path) -> dict:
    """The table of its objects, and the bytes that they hold at most."""
    evaluate = evaluation()
    with tempfile.TemporaryDirectory(dir=build) as temporary:
        table = Path(temporary) / "table"
        status = program.count(work.command.split(), build / "meter", table, CACHES, frames=8, marks=work.is_marked, variables=VARIABLES, quiet=True)
        if status:
            raise MeterError(f"{work.name} ended with {status}")
        rows = program.read(table)[1]
        end = 1 + max(max(row["sa"], row["sf"]) for row in rows)
        return {"table": table.read_text(), "peak": max(evaluate.judge.curve([row | {"sf": row["sf"] or end} for row in rows]))}


def objects(work: Work, build: Path) -> dict:
    return runs.kept(f"objects {work.name}", runs.digest(work.command.split()[1:], *runs.code(build, work.command)), lambda: counted(work, build))


def advised(work: Work, table: str, dram: int, build: Path) -> dict:
    """From exact counts, for the call sites of a native run. minipic's few small objects need `work.small` alone; batches are no objects."""
    left = dram - work.small - work.migration
    asked = left + min(FIRST_SLAB, left) if work.is_marked else dram
    with tempfile.TemporaryDirectory(dir=build) as temporary:
        folder = Path(temporary)
        (folder / "table").write_text(table)
        subprocess.run([build / "pmrun", f"--pm-runtime={build}/libpmplace.so", f"--pm-dram={dram >> 10}K", f"--pm-profile={folder}/profile:none",
                        *work.command.split()], env=VARIABLES, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([runs.TOP / "pmreport/pmreport", "--no-names", folder / "profile", "--advice", folder / "advice", "--budget", str(asked),
                        f"--counts={folder}/table"], check=True, stdout=subprocess.DEVNULL)
        text = (folder / "advice").read_text()
        return {"advice": only(text, asked, dram) if work.is_marked else text}


def budget(work: Work, problem: str, build: Path) -> Budget:
    """In proportion to the DRAM of the paper's node."""
    found = objects(work, build)
    dram = runs.whole(found["peak"] * DRAM_GIB / PEAK_GIB[problem])
    key = runs.digest(dram, work.small, found["table"], Path(__file__), *runs.code(build, f"{work.command} {build}/libpmplace.so"), *sorted((runs.TOP / "pmreport/pmprofile").glob("*.py")))
    return Budget(problem, dram, runs.kept(f"advice {work.name} {problem}", key, lambda: advised(work, found["table"], dram, build))["advice"])
