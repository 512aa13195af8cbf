"""The page's table of call sites, with the tier that the advice has for each."""
from __future__ import annotations

from picture.axis import BYTES, shown
from pmprofile import text
from pmprofile.advice import Choice
from pmprofile.markup import Row, paragraph, section, table
from pmprofile.measure import Site
from pmprofile.series import Timeline
from pmprofile.told import Told

SITES_HEAD = ("at most", "objects", "allocated", "short-lived", "in DRAM", "next run", "call site, innermost first")
UNMEASURED = ("Uses are allocations: uses/byte is how often a byte of the site's memory is allocated anew. Each time it is written, and "
              "read, once at least; accesses were not measured.")
MEASURED = ("accesses/byte is how often a byte of the site's memory is accessed, {}. Behind ~ stands the error of a site that is not told "
            "apart from the one above it.")
UNDECIDED = " Undecided: of the site's small objects too little is known; they share the DRAM that is kept for such."


def tier_of(choice: Choice | None) -> str:
    if choice is None:
        return "undecided"
    if not choice.in_dram:
        return "PMem"
    return "DRAM" if choice.limit is None else f"{shown(choice.limit, BYTES)} in DRAM"


def next_run(told: Told) -> dict[int, str]:
    """By site's number in the report: where the advice puts it."""
    if told.names.by_function:
        return {}
    chosen = {id(choice.site): choice for choice in told.choices}
    return {i: tier_of(chosen.get(id(site))) for i, site in enumerate(told.report.sites)}


def site_rows(told: Told) -> list[Row]:
    words = next_run(told)
    return [(*row[:-1], words[i], row[-1]) if words else row
            for i, row in enumerate(text.site_rows(told.report.sites, told.names))]


def swatch_of(told: Told, found: Timeline, site: Site) -> str:
    index = found.index(told.names.of(site.frames))
    return found.style(index) if index < len(found.labels) else ""


def sites(told: Told, found: Timeline) -> str:
    head = (*text.unit(told.report), *(name for name in SITES_HEAD if name != "next run" or not told.names.by_function))
    rows, dots = site_rows(told), [swatch_of(told, found, site) for site in told.report.sites]
    parts = [table(head, rows[:told.top], "site", dots)] if told.top > 0 else []
    if rows[told.top:]:
        more = table(head, rows[told.top:], "site", dots[told.top:])
        parts.append(f"<details><summary>{len(rows) - told.top} more</summary>{more}</details>")
    note = (MEASURED.format(text.source(told.report)) if told.report.is_measured else UNMEASURED) + (UNDECIDED if any("undecided" in row for row in rows) else "")
    return section(f"Call sites, by how often their memory is {'accessed' if told.report.is_measured else 'allocated'}", paragraph(note, "soft"), *parts)
