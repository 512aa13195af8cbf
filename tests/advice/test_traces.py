#!/usr/bin/python3
"""How much of exactly counted traffic the advice serves from DRAM, by source of the accesses, on traces of real programs.

The judge is not the code under test: it places objects one by one, as the runtime does, by exact counts. The best that advice by
call sites can do is a site oracle, which knows the counts.
"""
import csv
import gzip
import random
import sys
from collections import Counter, defaultdict
from itertools import accumulate
from pathlib import Path
from typing import Callable

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "pmreport"))
sys.path.insert(0, str(TOP / "tests/unit"))
sys.dont_write_bytecode = True

from pmprofile import advice, measure, records  # noqa: E402
from report import report  # noqa: E402

BUDGETS = (0.1, 0.25, 0.5)      # of what the objects hold at most
LINE, PAGE = 64, 4096
Row = dict[str, int]


def load(name: str) -> list[Row]:
    with gzip.open(TOP / f"tests/advice/traces/{name}.csv.gz", "rt") as file:
        rows = [{column: int(value, 16 if column == "site" else 10) for column, value in row.items()} for row in csv.DictReader(file)]
    end = 1 + max(max(row["sa"], row["sf"]) for row in rows)
    return [row | {"sf": row["sf"] or end, "traffic": LINE * (row["fillr"] + row["fillw"] + row["wb"])} for row in rows]


# --- the judge ---

def place(rows: list[Row], budget: int, limit_of: Callable[[int], float]) -> float:
    """The share of traffic that DRAM serves, when a site's live objects get so many bytes at most."""
    steps = sorted([(row["sa"], 1, i) for i, row in enumerate(rows)] + [(row["sf"], 0, i) for i, row in enumerate(rows)])
    used, of_site, got = 0, defaultdict(int), [0] * len(rows)
    for _, is_allocated, i in steps:
        row = rows[i]
        if is_allocated:
            got[i] = int(max(0, min(row["size"], budget - used, limit_of(row["site"]) - of_site[row["site"]])))
        sign = 1 if is_allocated else -1
        used += sign * got[i]
        of_site[row["site"]] += sign * got[i]
    return sum(row["traffic"] * part / row["size"] for row, part in zip(rows, got)) / sum(row["traffic"] for row in rows)


def curve(rows: list[Row]) -> list[int]:
    """Live bytes at each sequence number."""
    changes = [0] * (1 + max(row["sf"] for row in rows))
    for row in rows:
        changes[row["sa"]] += row["size"]
        changes[row["sf"]] -= row["size"]
    return list(accumulate(changes))


def oracle(rows: list[Row], budget: int) -> float:
    """Sites by exact traffic for each byte of their peaks; each gets what those before it leave free in its objects' lives."""
    sites = defaultdict(list)
    for row in rows:
        sites[row["site"]].append(row)
    used, limits = [0] * (1 + max(row["sf"] for row in rows)), {}
    curves = {site: curve(objects) for site, objects in sites.items()}
    for site in sorted(sites, key=lambda s: (-sum(row["traffic"] for row in sites[s]) / max(curves[s]), s)):
        room = max(0, budget - max(at for at, level in zip(used, curves[site]) if level))
        for i, level in enumerate(curves[site]):
            used[i] += min(level, room)
        limits[site] = room
    return place(rows, budget, lambda site: limits[site])


# --- what is judged ---

Accesses = Callable[[Row], tuple[int, int | None]]


def profile(rows: list[Row], accesses: Accesses) -> records.Profile:
    """A profile that has these bytes read (with those written) and written of each object, measured in one burst without error."""
    found = records.Profile(Path("trace"), every_bytes=1, end_ns=max(row["sf"] for row in rows))
    found.source = records.Source(records.BURSTS, 0, 0, 0, 0, 0, 0, 0, count=10 ** 9, not_samples=0, elsewhere=0)
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        found.objects.append(records.Object(3, row["site"], row["size"], row["sa"], row["sf"], 0, 0))
        read, written = accesses(row)
        sums[row["site"]][0] += read
        sums[row["site"]][1] += written or 0
    found.accesses = [records.Accesses(1, site, 0, 0, 0, found.end_ns, 1, read, written, 1) for site, (read, written) in sums.items()]
    return found


def sampled(rows: list[Row], n: int, seed: int) -> records.Profile:
    """A profile of so many samples of the true traffic."""
    found = profile(rows, lambda row: (0, None))
    found.source = found.source._replace(kind=records.SAMPLES, count=n)
    traffic = [row["traffic"] for row in rows]
    counts = Counter(rows[i]["site"] for i in random.Random(seed).choices(range(len(rows)), weights=traffic, k=n))
    found.accesses = [records.Accesses(1, site, 0, 0, 0, found.end_ns, 1, count * sum(traffic) // n, None, count) for site, count in counts.items()]
    return found


def advised(rows: list[Row], found: records.Profile, budget: int) -> float:
    plan = advice.Plan(measure.report([found]))
    limits = plan.pack(budget + plan.others).limits
    return place(rows, budget, lambda site: limits[plan.index[site, True]])


SOURCES = {
    "exact counts": lambda row: (LINE * (row["fillr"] + row["fillw"] + row["wb"]), None),
    "pages accessed and written": lambda row: (PAGE * (row["ref1"]), PAGE * row["wr1"]),
    "pages accessed": lambda row: (PAGE * row["ref1"], None),
    "misses of the first-level cache": lambda row: (LINE * (row["l1r"] + row["l1w"]), None),
}
SAMPLES = (1000, 3000)
SEEDS = 3
ASKED = {"3000 samples of the traffic": (0.97, 0.93), "exact counts": (0.97, 0.92), "pages accessed and written": (0.95, 0.88), "misses of the first-level cache": (0.93, 0.75)}


def judged() -> list[tuple[bool, str]]:
    shares: dict[str, list[float]] = defaultdict(list)
    never_worse = True
    for name in ("hydro", "multigrid"):
        rows = load(name)
        peak = max(curve(rows))
        for part in BUDGETS:
            budget = round(part * peak)
            best, first = oracle(rows, budget), place(rows, budget, lambda site: float("inf"))
            shares["first come"].append(first / best)
            profiles = [(source, profile(rows, accesses)) for source, accesses in SOURCES.items()]
            profiles += [(f"{n} samples of the traffic", sampled(rows, n, seed)) for n in SAMPLES for seed in range(SEEDS)]
            for source, measured in profiles:
                found = advised(rows, measured, budget)
                shares[source].append(found / best)
                never_worse &= (source not in ASKED and source != "1000 samples of the traffic") or found >= first - 0.02
    lines = []
    for source, found in shares.items():
        mean, worst = sum(found) / len(found), min(found)
        asked = ASKED.get(source)
        lines.append((asked is None or (mean >= asked[0] and worst >= asked[1]),
                      f"{source}: {100 * mean:.1f}% of the oracle's share, at worst {100 * worst:.1f}%"))
    return [*lines, (never_worse, "never worse than first come by more than two points")]


if __name__ == "__main__":
    sys.exit(report(judged()))
