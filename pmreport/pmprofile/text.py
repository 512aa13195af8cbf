"""The report for people."""
from __future__ import annotations

import os
from typing import Callable, Iterable, Mapping, Sequence

from pmprofile.advice import Plan
from pmprofile.measure import BINS, Cell, Report, Site
from pmprofile.records import BURSTS, COUNTS, FAULTS, NO_RANK, SAMPLES, Source
from pmprofile.symbols import Names

UNITS = ("B", "K", "M", "G", "T")
ITERATIONS = 12         # at most, in the table
NOTES = {"marked": "as the program marked them",
         "inferred": "inferred: it marks none, and they are the calls of its most regular site",
         "none": "unknown: mark them with pm_iteration() or MPI_Pcontrol(1); here short-lived is a tenth of the run"}


def size(amount: float) -> str:
    unit = 0
    while amount >= 1024 and unit < len(UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.0f}{UNITS[unit]}" if amount >= 100 or not unit else f"{amount:.1f}{UNITS[unit]}"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], left: int = 0) -> str:
    """Aligns all columns to the right, except column `left`."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(word.ljust(width) if i == left else word.rjust(width)
                               for i, (word, width) in enumerate(zip(line, widths))).rstrip() for line in lines)


def name_of_bin(number: int) -> str:
    if number == len(BINS) - 1:
        return f"[{BINS[-1]},∞)"
    return f"{'[' if number else '('}{BINS[number]},{BINS[number + 1]})"


def bins(cells: Mapping[tuple[int, bool], Cell]) -> list[tuple[str, ...]]:
    rows = []
    for number in range(len(BINS)):
        short, long = (cells.get((number, is_short), Cell()) for is_short in (True, False))
        if short.objects or long.objects:
            rows.append((name_of_bin(number), f"{short.objects:.0f}", size(short.accumulated), size(short.peak),
                         f"{long.objects:.0f}", size(long.accumulated), size(long.peak)))
    return rows


SIZES_HEAD = ("MiB", "short-lived", "allocated", "peak", "long-lived", "allocated", "peak")


def site_row(site: Site, names: Names) -> tuple[str, ...]:
    return (*rate(site), size(site.peak), f"{site.objects:.0f}", size(site.allocated),
            f"{100 * site.short / site.objects:.0f}%", f"{100 * site.in_dram / site.allocated:.0f}%",
            ("" if site.is_large else "(small) ") + names[site.frames])


def rate(site: Site) -> tuple[str, ...]:
    if site.traffic is None:
        return (f"{site.uses:.1f}",)
    return f"{site.costs():.1f}", f"{100 * (site.costs(1) / site.costs() - 1):.0f}%" if site.costs() else "-"


def site_rows(sites: Sequence[Site], names: Names) -> list[tuple[str, ...]]:
    """A rate that the measurement does not tell from the one above it has a sign in front."""
    rows = [site_row(site, names) for site in sites]
    return [(row[0], f"{ALIKE if above and site.traffic and site.is_like(above) else ''}{row[1]}", *row[2:]) if site.traffic else row
            for row, site, above in zip(rows, sites, [None, *sites])]


ALIKE = "~"
UNMEASURED = "call sites, by how often a byte of their memory is allocated (uses/byte); accesses were not measured"
MEASURED = "call sites, by how often a byte of their memory is accessed (accesses/byte), {}"
SITES_HEAD = ("peak", "objects", "allocated", "short", "in DRAM", "call site, innermost first")


def unit(report: Report) -> tuple[str, ...]:
    return ("accesses/byte", "+-") if report.is_measured else ("uses/byte",)


def source(report: Report) -> str:
    """How accesses were measured."""
    sources = [p.source for p in report.profiles if p.source is not None]
    count, running = sum(one.count for one in sources), sum(one.running_ns for one in sources)
    if not report.is_measured:
        return "accesses were not measured"
    found = {BURSTS: f"from pages accessed in {count} epochs of {running / max(1, count) / 1e6:.1f} ms, and allocated bytes",
             SAMPLES: f"from {count} samples of the processor", FAULTS: f"from {count} page faults, which are first touches alone",
             COUNTS: f"from {count} lines that an emulator has counted"}
    return f"{found[sources[0].kind]}{reason(sources)}"


def reason(sources: Sequence[Source]) -> str:
    """Why not the better source."""
    codes = {one.not_samples for one in sources} - {0}
    return f"; no samples of the processor: {os.strerror(min(codes))}" if codes else ""


def sites_title(report: Report) -> str:
    return MEASURED.format(source(report)) if report.is_measured else UNMEASURED


def share_short(report: Report) -> float:
    all_objects = sum(cell.objects for cell in report.table.values())
    return 100 * sum(cell.objects for (_, short), cell in report.table.items() if short) / (all_objects or 1)


def heading(report: Report) -> str:
    ranks = {profile.rank for profile in report.profiles}
    longest = max(profile.end_ns for profile in report.profiles) / 1e9
    lines = [f"{os.path.basename(report.program)}: {len(report.profiles)} processes, {len(ranks - {NO_RANK})} local ranks, "
             f"{longest:.1f} s, budget {size(report.budget_bytes)} a rank; of {size(report.allocated)} allocated "
             f"{100 * report.in_dram / report.allocated:.0f}% in DRAM"]
    lines += [f"incomplete, its process was killed: {p.path}" for p in report.profiles if not p.is_whole]
    lines += [f"{p.lost_sites} sites had no room: {p.path}" for p in report.profiles if p.lost_sites]
    return "\n".join(lines)


def iterations(report: Report) -> str:
    numbers = sorted(set(report.allocations) | set(report.frees))
    rows = [(str(n), f"{report.allocations[n]:.0f}", f"{report.frees[n]:.0f}") for n in numbers[:ITERATIONS]]
    more = [f"... and {len(numbers) - ITERATIONS} more"] if len(numbers) > ITERATIONS else []
    return "\n".join([f"iterations, {NOTES[report.clocks[0].source]}",
                      table(("iteration", "allocated", "freed"), rows), *more])


PHASES_HEAD = ("times", "seconds", "cpu s", "page faults", "instructions", "read", "written", "phase")
LINE = 64               # bytes of a cache line


def phase_rows(report: Report) -> list[tuple[str, ...]]:
    """Misses of the last level cache are lines that memory has served."""
    def word(value: int | None, form: Callable[[float], str]) -> str:
        return "absent" if value is None else form(value)
    rows = []
    for phase in report.phases:
        cpu, faults, instructions, reads, writes = phase.counters
        rows.append((str(phase.times), f"{phase.ns / 1e9:.2f}", word(cpu, lambda v: f"{v / 1e9:.2f}"), word(faults, "{:.0f}".format),
                     word(instructions, "{:.3g}".format), word(reads, lambda v: size(v * LINE)),
                     word(writes, lambda v: size(v * LINE)), phase.name))
    return rows


def phases_note(report: Report) -> str:
    hidden = any(None in phase.counters for phase in report.phases)
    return "phases, of all processes" + (": absent: this machine has no such counter, or users may not read it" if hidden else "")


CURVE_HEAD = ("DRAM", "advised", "first come")


def percent(part: float) -> str:
    return f"{100 * part:.0f}%"


def curve(plan: Plan) -> str:
    """How much of the counted traffic each budget of DRAM serves: one line for this budget, and a table."""
    if not plan.report.is_measured:
        return "accesses were not measured: advice is in the order of the first allocations"
    budget = plan.report.budget_bytes
    rows = [(size(one), percent(part), percent(plan.first_come(one))) for one, part in plan.curve]
    return (f"the counted traffic that DRAM serves as advised: at {size(budget)} a rank {percent(plan.share(budget))}, "
            f"of what comes first {percent(plan.first_come(budget))}\n{table(CURVE_HEAD, rows, -1)}")


def tell(report: Report, names: Names, top: int, advised: str = "") -> str:
    rows = site_rows(report.sites[:top], names)
    more = [f"... and {len(report.sites) - top} more: --top"] if len(report.sites) > top else []
    more += [f"{os.path.basename(report.program)} was built without -g: no line numbers"] * names.are_without_lines(report.program)
    return "\n\n".join([heading(report), iterations(report),
                        f"{phases_note(report)}\n{table(PHASES_HEAD, phase_rows(report), len(PHASES_HEAD) - 1)}",
                        f"objects by size: {share_short(report):.1f}% are short-lived\n"
                        + table(SIZES_HEAD, bins(report.table)),
                        "\n".join([sites_title(report), table((*unit(report), *SITES_HEAD), rows, len(unit(report)) + len(SITES_HEAD) - 1), *more]),
                        *([advised] if advised else [])])
