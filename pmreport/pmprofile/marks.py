"""Marks above the chart of memory over time: a row for each phase, and where iterations begin."""
from __future__ import annotations

from dataclasses import dataclass

from picture import svg
from picture.axis import NS_PER_S, Scale
from pmprofile.lifetimes import Clock
from pmprofile.phases import UNMARKED, spans
from pmprofile.records import Profile

ROWS = 6                # phases with a row; those that took longest
ROW, NAME, BAR = 30, 12, 8   # heights: of a row, of its name in it, and of the bar below that
ITERATIONS_ROW = 34     # its height
APART = 10              # pixels between marks of iterations, at least


@dataclass(frozen=True)
class Row:
    """A phase: when it was."""
    name: str
    spans: list[tuple[int, int]]

    @property
    def ns(self) -> int:
        return sum(end - begin for begin, end in self.spans)


def rows(profile: Profile) -> list[Row]:
    """The longest phases, in the order of their first occurrences."""
    found: dict[str, Row] = {}
    for name, begin, end in spans(profile):
        if name != UNMARKED:
            found.setdefault(name, Row(name, [])).spans.append((begin, end))
    longest = sorted(found.values(), key=lambda row: -row.ns)[:ROWS]
    return [row for row in found.values() if row in longest]


def merged(at: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Bars of half a pixel at least; those that touch are one."""
    kept: list[tuple[float, float]] = []
    for begin, end in sorted((begin, max(end, begin + .5)) for begin, end in at):
        if kept and begin - kept[-1][1] < .3:
            kept[-1] = kept[-1][0], max(end, kept[-1][1])
        else:
            kept.append((begin, end))
    return kept


def draw_row(row: Row, time: Scale, y: float) -> str:
    bars = merged([(time.at(begin), time.at(end)) for begin, end in row.spans])
    top = y + NAME + 5
    data = "".join(f"M{svg.num(a)} {svg.num(top)}H{svg.num(b)}v{BAR}H{svg.num(a)}z" for a, b in bars)
    told = f"{row.name}: {len(row.spans)} times, {row.ns / NS_PER_S:.2f} s"
    return (svg.text(time.start, y + NAME, svg.fitted(row.name, time.end - time.start))
            + svg.box("track", (time.start, time.end), (top, top + BAR)) + svg.path("phase", data, told))


def every(starts: list[int], time: Scale, apart: float) -> int:
    """1, 2, 5, 10, 20...: each so manieth mark has that many pixels, on average."""
    room = (time.end - time.start) / apart
    power = 1
    while True:
        for factor in (1, 2, 5):
            if len(starts) <= room * factor * power:
                return factor * power
        power *= 10


def numbers(starts: list[int], time: Scale, y: float) -> str:
    """Numbers of iterations, where there is room for them."""
    apart = svg.apart(len(starts))
    parts, last, step = [], -1e9, every(starts, time, apart)
    for i, ns in enumerate(starts, 1):
        if (i == 1 or i % step == 0) and time.at(ns) - last >= apart:
            last = time.at(ns)
            parts.append(svg.text(last, y, str(i), "tick", "middle"))
    return "".join(parts)


def title(clock: Clock, step: int) -> str:
    return ("iterations" + (", inferred" if clock.source == "inferred" else "")
            + (f", one in {step} marked" if step > 1 else ""))


def draw_iterations(clock: Clock, time: Scale, y: float, down: float) -> str:
    """A row with their numbers, and lines from there down through the areas."""
    step = every(clock.starts, time, APART)
    lines = [svg.line("mark", (time.at(ns),) * 2, (y + 32, down)) for i, ns in enumerate(clock.starts, 1) if i == 1 or i % step == 0]
    return svg.text(time.start, y + 14, title(clock, step)) + numbers(clock.starts, time, y + 28) + "".join(lines)
