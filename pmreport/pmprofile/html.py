"""The report as a page that needs no other files and no script. A block without content is left out."""
from __future__ import annotations

import os
from html import escape
from typing import Callable, Sequence

from picture.axis import BYTES, shown
from pmprofile import bars, marks, placement, stack, text
from pmprofile.markup import both, breakable, paragraph, section, table, turned
from pmprofile.measure import Report
from pmprofile.phases import UNMARKED
from pmprofile.records import NO_RANK, Object, Profile
from pmprofile.series import TIERS, Timeline, timeline
from pmprofile.served import served
from pmprofile.sites import sites
from pmprofile.style import STYLE
from pmprofile.symbols import Names, briefs
from pmprofile.told import Told

SIZES_HEAD = ("MiB", "short-lived objects", "allocated", "at most", "long-lived objects", "allocated", "at most")


def facts(told: Told) -> str:
    report = told.report
    ranks = {p.rank for p in report.profiles} - {NO_RANK}
    found = {"processes": str(len(report.profiles)), "local ranks": str(len(ranks)),
             "longest run": f"{max(p.end_ns for p in report.profiles) / 1e9:.1f} s",
             "budget of DRAM for each rank": shown(report.budget_bytes, BYTES), "allocated in all": shown(report.allocated, BYTES),
             "of it in DRAM": f"{100 * report.in_dram / report.allocated:.0f}%"}
    return "<dl>" + "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in found.items()) + "</dl>"


def warnings(told: Told) -> str:
    lines = text.heading(told.report).splitlines()[1:]
    if told.names.are_without_lines(told.report.program):
        lines.append(f"{os.path.basename(told.report.program)} was built without -g: no line numbers")
    return "".join(paragraph(line, "warn") for line in lines)


def legend(found: Timeline) -> str:
    short = briefs(found.labels)
    items = "".join(f'<li><span class="swatch {found.style(i)}"></span><span title="{escape(label)}">{breakable(short[label])}</span>'
                    f'<span class="size">{shown(size, BYTES)}</span></li>' for i, (label, size) in enumerate(zip(found.labels, found.peaks)))
    return f'<ul class="legend" aria-label="call sites, with the most bytes that each held">{items}</ul>'


def who(told: Told) -> str:
    """The process that the charts are of."""
    one, count = told.largest, len(told.report.profiles)
    rank = f"Local rank {one.rank}" if one.rank != NO_RANK else "The process"
    return f"{rank} ({one.path.name})" + (f", of {count} processes the one that allocated most." if count > 1 else ".")


def memory_note(told: Told, found: Timeline) -> str:
    empty = [name for tier, name in enumerate(TIERS) if not found.most(tier)]
    nothing = f" Nothing was allocated in {empty[0]}." if empty else ""
    more = len({name for _, name in told.largest.phases}) - marks.ROWS
    hidden = f" The {marks.ROWS} longest phases have a row; {more} more are in the table below." if more > 0 else ""
    iterations = "" if told.clock.starts else f" Iterations are {text.NOTES['none'].partition(';')[0]}."
    return (f"{who(told)} Live bytes by call site, by the tier in which they were allocated; each point is the fullest moment of "
            f"{found.end_ns / len(found.tiers[0]) / 1e9:.2g} s. Objects below {shown(told.largest.large_bytes, BYTES)} are samples, each for "
            f"{shown(told.largest.every_bytes, BYTES)}, so that areas may cross the budget by a few of these.{nothing}{hidden}{iterations}")


def site_of(told: Told, profile: Profile) -> Callable[[Object], str]:
    known = {key: told.names.of(frames) for key, frames in profile.sites.items()}
    unknown = told.names.of(())
    return lambda o: known.get(o.site, unknown)


def placed(told: Told, found: Timeline) -> list[list[placement.Bar]]:
    """The bars of each tier. Advice is for single call sites only."""
    bars_ = [[placement.measured(found, tier, told.largest.budget_bytes)] for tier in range(len(TIERS))]
    if not told.names.by_function:
        for of_tier, bar in zip(bars_, placement.advised(told, found)):
            of_tier.append(bar)
    return bars_


PLACEMENT_NOTE = ("This run: when the tier held most. Next run, as pmreport --advice places it: all call sites at their peaks together. "
                  "Grey: sites without a colour, and in the next run's DRAM what is kept for small objects of which too little is known.")


def memory(told: Told, found: Timeline) -> str:
    over_time = both(lambda form: stack.chart(f"time{told.number}-{form.name}", form, told.largest, told.clock, found))
    bars_ = placement.chart(f"placement{told.number}", placed(told, found))
    note = PLACEMENT_NOTE if not told.names.by_function else PLACEMENT_NOTE.partition(" Next run")[0] + " Grey: sites without a colour."
    return (f'<section class="beside"><figure><h2>Memory over time, by call site</h2>{over_time}{legend(found)}'
            f"<figcaption>{escape(memory_note(told, found))}</figcaption></figure>"
            f"<figure><h2>Placement, by call site</h2>{bars_}<figcaption>{escape(note)}</figcaption></figure></section>")


def iterations(told: Told) -> str:
    if not told.report.clocks[0].starts:
        return ""
    key = "".join(f'<li><span class="swatch {style}"></span><span>{word}</span></li>' for style, word in bars.KINDS)
    source = text.NOTES[told.report.clocks[0].source]
    drawn = both(lambda form: bars.chart(f"bars{told.number}-{form.name}", form, told.report))
    return section("Objects by iteration", f'<figure class="chart">{drawn}'
                   f'<ul class="legend">{key}</ul><figcaption>All processes. Iterations are {escape(source)}; 0 is before the first.'
                   "</figcaption></figure>")


def phases(told: Told) -> str:
    """Columns that no phase has are left out, and said to be absent."""
    if all(phase.name == UNMARKED for phase in told.report.phases):
        return ""
    rows = text.phase_rows(told.report)
    there = [i for i in range(len(text.PHASES_HEAD)) if any(row[i] != "absent" for row in rows)]
    absent = [name for i, name in enumerate(text.PHASES_HEAD) if i not in there]
    note = f"Absent: {', '.join(absent)}: this machine has no such counter, or users may not read it." if absent else \
        "Read and written: lines of 64 bytes that misses of the last level cache took from memory and to it."
    return section("Phases", table([text.PHASES_HEAD[i] for i in there], ([row[i] for i in there] for row in rows)),
                   paragraph(f"All processes together. {note}", "soft"))


def sizes(told: Told) -> str:
    return section("Objects by size and lifetime", paragraph(f"{text.share_short(told.report):.1f}% of the objects are short-lived."),
                   table(turned(SIZES_HEAD), (turned(row) for row in text.bins(told.report.table)), "bin"))


def part(told: Told) -> str:
    found = timeline(told.largest, site_of(told, told.largest))
    return "\n".join(block for block in (
        f"<h1>{escape(os.path.basename(told.report.program))}</h1>", facts(told), warnings(told), memory(told, found), served(told), iterations(told),
        phases(told), sites(told, found), sizes(told)) if block)


def page(told: Sequence[tuple[Report, Names]], budget: int | None, top: int) -> str:
    parts = [part(Told(report, names, report.budget_bytes if budget is None else budget, max(0, top), i))
             for i, (report, names) in enumerate(told)]
    title = escape(", ".join(os.path.basename(report.program) for report, _ in told))
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>pmreport: {title}</title><style>{STYLE}</style>" + "\n".join(parts) + "</html>")
