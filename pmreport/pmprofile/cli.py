"""pmreport's command line."""
from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

from pmprofile import advice, counts, html, text, weights
from pmprofile.measure import Report, reports
from pmprofile.records import COUNTERS, SOURCES, Frame, Profile, ProfileError, read
from pmprofile.symbols import Calls, Names, function_of, names, plain

JSON_VERSION = 1        # of a program in --json; members may be added without a new number
SIZE = re.compile(r"(\d+)([KMGT]?)")


def parse_size(word: str) -> int:
    found = SIZE.fullmatch(word.upper())
    if not found:
        raise argparse.ArgumentTypeError(f"'{word}' is not a size; write a whole number and K, M, G or T, as 4G")
    return int(found[1]) << 10 * " KMGT".index(found[2] or " ")


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="pmreport", description="What a program's objects were: their numbers, sizes, lifetimes "
                                "and call sites, from the profiles that its ranks wrote (--pm-profile=DIR).",
                                epilog="pmreport calibration --help: reports on site profiles, the measured bandwidths of nodes.")
    p.add_argument("profiles", metavar="PROFILE", nargs="+", type=Path, help="a directory of profiles, or one of them")
    p.add_argument("--advice", metavar="FILE", help="write what the next run is advised by --pm-advice=FILE; - is stdout")
    p.add_argument("--budget", metavar="SIZE", type=parse_size,
                   help="DRAM of each rank of the next run; without it, this one's")
    p.add_argument("--data", metavar="SIZE", type=parse_size,
                   help="what large objects of each rank hold at most in the next run; without it, what they held in this one")
    p.add_argument("--counts", metavar="FILE", type=Path,
                   help="accesses as an emulator has counted them, by pmmeter program --out=FILE, also of a run with a smaller input")
    p.add_argument("--site-profile", metavar="FILE", type=Path,
                   help="weigh writes by this node's measured bandwidths; without it, a written byte counts three times")
    p.add_argument("--html", metavar="FILE", help="write the report as a page with pictures")
    p.add_argument("--json", action="store_true", help="print it as JSON")
    p.add_argument("--top", metavar="N", type=int, default=20, help="so many call sites; without it, 20")
    p.add_argument("--group-by", metavar="HOW", choices=("site", "function"), default="site",
                   help="function: count call sites with the same functions together; site, the default: each")
    p.add_argument("--no-names", action="store_true", help="call sites as files and offsets: eu-addr2line or addr2line is not asked")
    return p


def files(paths: list[Path]) -> list[Path]:
    """Each profile once, also one that is named twice."""
    found: dict[Path, Path] = {}
    for path in paths:
        inside = sorted(path.glob("*.pmprof")) if path.is_dir() else [path]
        if not inside:
            raise ProfileError(f"'{path}' holds no profile: did a process with the placement runtime end there?")
        for one in inside:
            found.setdefault(one.resolve(), one)
    return list(found.values())


def known_calls(profiles: list[Profile], ask: bool) -> dict[Frame, Calls]:
    frames = {frame for profile in profiles for site in profile.sites.values() for frame in site}
    return names(frames) if ask else {frame: plain(frame) for frame in frames}


def as_json_accesses(report: Report, by_function: bool) -> dict[str, object] | None:
    """How accesses were measured, and the part of them that each budget serves; None: they were not, or advice has no such sites."""
    if not report.is_measured or by_function:
        return None
    plan, sources = advice.Plan(report), [p.source for p in report.profiles if p.source is not None]
    return {"source": SOURCES[sources[0].kind], "count": sum(one.count for one in sources), "period": sources[0].period,
            "running_ns": sum(one.running_ns for one in sources), "cpu_ns": sum(one.cpu_ns for one in sources),
            "lost": sum(one.lost for one in sources), "throttled": sum(one.throttled for one in sources),
            "elsewhere": sum(one.elsewhere for one in sources), "no_samples": text.reason(sources).partition(": ")[2] or None,
            "curve": [{"budget_bytes": budget, "advised": part, "first_come": plan.first_come(budget)} for budget, part in plan.curve]}


def as_json(report: Report, known: Names) -> dict[str, object]:
    return {"version": JSON_VERSION, "program": report.program, "build": f"{report.build:016x}", "processes": len(report.profiles),
            "whole": sum(p.is_whole for p in report.profiles), "budget_bytes": report.budget_bytes,
            "allocated_bytes": report.allocated, "dram_bytes": report.in_dram,
            "iterations": report.clocks[0].source,
            "sizes": [{"from_mib": text.BINS[number], "short": short, **vars(cell)}
                      for (number, short), cell in sorted(report.table.items())],
            "by_iteration": [{"iteration": n, "allocated": report.allocations[n], "freed": report.frees[n]}
                             for n in sorted(set(report.allocations) | set(report.frees))],
            "phases": [{"name": p.name, "times": p.times, "ns": p.ns, **dict(zip(COUNTERS, p.counters))} for p in report.phases],
            "sites": [{"key": f"{s.key:016x}", "where": known.calls(s.frames), "name": known[s.frames], "large": s.is_large,
                       "objects": s.objects, "allocated_bytes": s.allocated, "peak_bytes": s.peak,
                       "largest_bytes": s.largest, "short_objects": s.short, "dram_bytes": s.in_dram, "uses": s.uses,
                       "accessed_bytes": s.traffic.accessed if s.traffic else None, "written_bytes": s.traffic.written if s.traffic else None,
                       "accesses_count": s.traffic.count if s.traffic else None}
                      for s in report.sites],
            "accesses": as_json_accesses(report, known.by_function)}


def write(name: str, what: str) -> None:
    if name == "-":
        print(what)
        return
    try:
        Path(name).write_text(what + "\n")
    except OSError as error:
        raise ProfileError(f"write '{name}': {error.strerror}") from None


def write_advice(name: str, planned: list[tuple[advice.Plan, Names]], budget: int | None, data: int | None) -> None:
    sections = []
    for plan, known in planned:
        report = plan.report
        if not report.is_measured:
            print(f"pmreport: {os.path.basename(report.program)}: accesses were not measured: this advice is in the order of the first "
                  "allocations", file=sys.stderr)
        sections.append(advice.section(plan, report.budget_bytes if budget is None else budget, known, data))
    write(name, "\n".join([advice.HEAD, *sections]))


def run(arguments: argparse.Namespace) -> None:
    if arguments.advice and arguments.group_by != "site":
        raise ProfileError(f"--group-by={arguments.group_by} and --advice exclude each other: advice is for single call sites")
    profiles: list[Profile] = [profile for path in files(arguments.profiles) if (profile := read(path)).objects]
    if not profiles:
        raise ProfileError("none of the profiles has an object in it")
    if arguments.counts:
        counts.match(profiles, counts.read(arguments.counts))
    known, by_function = known_calls(profiles, not arguments.no_names), arguments.group_by == "function"
    told = [(report, Names((site.frames for site in report.sites), known, by_function))
            for report in reports(profiles, (lambda frames: function_of(frames, known)) if by_function else None, weights.writes(arguments.site_profile))]
    plans = [advice.Plan(report) for report, _ in told]
    if arguments.advice:
        write_advice(arguments.advice, [(plan, known) for plan, (_, known) in zip(plans, told)], arguments.budget, arguments.data)
    if arguments.html:
        write(arguments.html, html.page(told, arguments.budget, arguments.top))
    if arguments.json:
        print(json.dumps([as_json(*one) for one in told], indent=1))
    elif not arguments.html and arguments.advice != "-":
        print("\n\n".join(text.tell(report, known, arguments.top, "" if by_function else text.curve(plan))
                          for plan, (report, known) in zip(plans, told)))


def main(words: list[str]) -> int:
    try:
        run(parser().parse_args(words))
    except ProfileError as error:
        print(f"pmreport: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
