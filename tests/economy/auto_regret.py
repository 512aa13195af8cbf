#!/usr/bin/python3
"""What --pm-mode=auto costs against the site's default mode and an oracle, on submissions of job_families.py.

auto_regret.py --library history.so [--seeds N] [--families N] [--faults SHARE] [--explain N]

The service's own tables (controller/history_table.c, history_site.c) take the histories, and pmem.lua's own rule
(controller/pmem_auto.lua) chooses. Costs are in node-hours; the regret of a choice is its cost less the oracle's, which knows the truth. Prints a row
for each default and seed: the costs, and auto's regret as a part of that of the default, in sum; the same of jobs that
have run before. Busy nodes of a mode cost no wait in this model, so a rule that avoids waiting is judged
more harshly than on a cluster.
"""

import argparse
import ctypes
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable

import job_families

KEY = b"0123456789abcdef"
ENDED = {"COMPLETED", "TIMEOUT"}
HOUR_S = 3600


class Run(ctypes.Structure):
    """struct pm_history_run of controller/history_table.h."""
    _fields_ = [("key", ctypes.c_char * 17), ("mode", ctypes.c_char_p), ("seconds", ctypes.c_uint64),
                ("used_mib", ctypes.c_uint64), ("end_s", ctypes.c_uint64), ("job", ctypes.c_uint32)]


class Site(ctypes.Structure):
    """struct pm_history_site of controller/history_site.h."""
    _fields_ = [("jobs", ctypes.c_void_p), ("n", ctypes.c_size_t), ("first", ctypes.c_size_t)]


class Table:
    def __init__(self, library: Path):
        self.library = ctypes.CDLL(str(library))
        self.add = self.library.pm_history_table_add
        self.add.argtypes = [ctypes.c_char_p, ctypes.POINTER(Run)]
        self.free = ctypes.CDLL(None).free
        self.free.argtypes = [ctypes.c_void_p]
        for function in (self.add, self.library.pm_history_site_text):
            function.restype = ctypes.c_void_p

    def taken(self, address: int) -> bytes:
        text = ctypes.string_at(address)
        self.free(address)
        return text

    def text(self, history: list[dict]) -> bytes:
        """As pm-controller keeps these records. It is not told of a run that Slurm ended otherwise, but of its memory."""
        text = b""
        for at, record in enumerate(history):
            seconds = max(round(record["seconds"]), 1) if record["state"] in ENDED else 0
            run = Run(KEY, record["mode"].encode(), seconds, record["memory_mib"], at + 1, at + 1)
            text = self.taken(self.add(text, ctypes.byref(run)))
        return text

    def sum_up(self, texts: Iterable[bytes]) -> bytes:
        site = Site()
        for text in texts:
            self.library.pm_history_site_add(ctypes.byref(site), text)
        summed = self.taken(self.library.pm_history_site_text(ctypes.byref(site)))
        self.library.pm_history_site_done(ctypes.byref(site))
        return summed


@dataclass
class Sum:
    """Node-hours."""
    auto: float = 0
    default: float = 0
    oracle: float = 0
    count: int = 0

    def add(self, submission: dict, mode: str) -> None:
        costs = submission["costs"]
        self.auto += costs[mode] / HOUR_S
        self.default += costs[submission["always_default"]] / HOUR_S
        self.oracle += costs[submission["oracle"]] / HOUR_S
        self.count += 1

    def ratio(self) -> float:
        """auto's regret as a part of the default's."""
        return (self.auto - self.oracle) / (self.default - self.oracle)


def line_of(number: int, submission: dict) -> str:
    cluster = submission["cluster"]
    modes = [f"{mode},{size},{cluster['idle'][mode]},{cluster['rebootable'][mode]},{cluster['in_mode'][mode]}"
             for mode, size in job_families.USABLE_MIB.items() if mode not in submission["excluded"]]
    return f"{number} {submission['nodes']} {submission['tasks']} {round(cluster['reboot_s'])} " \
        f"{submission['asked_mib'] or 0} {job_families.USABLE_MIB['appdirect']} {' '.join(modes)}"


def choices(table: Table, submissions: list[dict]) -> list[list[str]]:
    """Mode and reason of each. The site knows the histories of all."""
    families = {submission["family"]: table.text(submission["history"]) for submission in submissions}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "history-site").write_bytes(table.sum_up(families.values()))
        for number, submission in enumerate(submissions):
            (Path(folder) / f"history-{number}").write_bytes(families[submission["family"]])
        lines = "\n".join(line_of(*pair) for pair in enumerate(submissions)) + "\n"
        done = subprocess.run(["lua5.1", "tests/economy/auto_choose.lua", folder], input=lines, capture_output=True, text=True,
                              check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def submissions_of(seed: int, options: argparse.Namespace, default: str) -> list[dict]:
    faults = job_families.Faults(*[options.faults] * 4)
    made = job_families.trace(seed, options.families, default, faults, options.held_out)
    return [job_families.as_json(submission) for submission in made]


def judge(table: Table, seed: int, options: argparse.Namespace, default: str) -> tuple[Sum, Sum]:
    """All submissions, and those of jobs with a history."""
    submissions = submissions_of(seed, options, default)
    whole, known = Sum(), Sum()
    for number, (submission, (mode, why)) in enumerate(zip(submissions, choices(table, submissions), strict=True)):
        whole.add(submission, mode)
        if submission["history"]:
            known.add(submission, mode)
        if number < options.explain:
            print(f"  {submission['family']}: {mode}: {why} (oracle: {submission['oracle']})")
    return whole, known


def print_row(name: str, whole: Sum, known: Sum) -> None:
    print(f"{name:<20}{whole.count:>6}{whole.oracle:>9.0f}{whole.auto:>9.0f}{whole.default:>9.0f}{whole.ratio():>8.2f}"
          f"{known.count:>8}{known.ratio():>8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--library", type=Path, required=True, help="history_table.c and history_site.c as a shared object")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--families", type=int, default=300)
    parser.add_argument("--held-out", type=int, default=2, help="submissions to decide, of each family")
    parser.add_argument("--faults", type=float, default=0.1, help="the share of each fault of records")
    parser.add_argument("--explain", type=int, default=0, metavar="N", help="print the first N choices with their reasons")
    options = parser.parse_args()
    table = Table(options.library)
    print(f"{'node-hours':<20}{'jobs':>6}{'oracle':>9}{'auto':>9}{'default':>9}{'regret':>8}{'known':>8}{'regret':>8}")
    for default in ("memory", "appdirect"):
        ratios = []
        for seed in range(1, options.seeds + 1):
            whole, known = judge(table, seed, options, default)
            print_row(f"{default}, seed {seed}", whole, known)
            ratios.append(whole.ratio())
        print(f"{default}: auto's regret is {statistics.median(ratios):.2f} of the default's (median of {len(ratios)} seeds)")


if __name__ == "__main__":
    main()
