"""The chart of objects by iteration: how many were allocated and freed."""
from __future__ import annotations

from typing import Mapping

from picture import svg
from picture.axis import OBJECTS, Scale, scale
from pmprofile.measure import Report

LEFT, RIGHT, TITLE, FOOT = 44, 20, 28, 40
LEAST = 6               # pixels of an iteration, or of those that share two bars
KINDS = (("c0", "allocated"), ("others", "freed"))   # class of the style sheet, word
GROUPS = [factor * 10**power for power in range(8) for factor in (1, 2, 5)]


def together(count: int, form: svg.Format) -> int:
    """How many iterations share two bars: 1, 2, 5, 10..."""
    return next(group for group in GROUPS if (form.width - LEFT - RIGHT) / -(-count // group) >= LEAST)


def sums(values: Mapping[int, float], last: int, group: int) -> list[float]:
    """Of iterations 0 to group - 1, and so on."""
    found = [0.0] * (last // group + 1)
    for number, value in values.items():
        found[number // group] += value
    return found


def draw(found: list[float], x: Scale, y: Scale, kind: int, group: int) -> str:
    style, word = KINDS[kind]
    width = (x.end - x.start) / len(found)
    parts = []
    for i, value in enumerate(found):
        begin = x.start + (i + .1 + .4 * kind) * width
        of = f"iteration {i * group}" if group == 1 else f"iterations {i * group} to {(i + 1) * group - 1}"
        parts.append(svg.box(style, (begin, begin + .4 * width), (y.at(value), y.start), f"{of}: {value:.0f} {word}") if value else "")
    return "".join(parts)


def numbers(x: Scale, count: int, group: int, y: float) -> str:
    """Numbers below the middle of their bars, where there is room."""
    width = (x.end - x.start) / count
    step = next(one for one in GROUPS if one * width >= svg.apart(count * group))
    return "".join(svg.text(x.start + (i + .5) * width, y, str(i * group), "tick", "middle") for i in range(0, count, step))


def chart(name: str, form: svg.Format, report: Report) -> str:
    last = max([*report.allocations, *report.frees])
    group = together(last + 1, form)
    rows = [sums(values, last, group) for values in (report.allocations, report.frees)]
    x = Scale(("", 1), 1, 1, LEFT, form.width - RIGHT)
    bottom = TITLE + form.panel
    y = scale(max(map(max, rows)), OBJECTS, (bottom, TITLE), 4)
    body = [svg.text(0, 13, y.unit[0], "name")]
    body += [svg.line("grid", (x.start, x.end), (at, at)) + svg.text(x.start - 6, at + 4, words, "tick", "end") for at, words in y.ticks()]
    body += [draw(row, x, y, kind, group) for kind, row in enumerate(rows)]
    body += [svg.line("axis", (x.start, x.end), (bottom, bottom)), numbers(x, len(rows[0]), group, bottom + 17)]
    words = "iteration" if group == 1 else f"iteration; each bar is of {group}, from this one on"
    body.append(svg.text(x.end, bottom + 34, words, "tick", "end"))
    told = f"{sum(rows[0]):.0f} objects are allocated and {sum(rows[1]):.0f} freed in iterations 0 to {last}."
    return svg.picture(name, (form.width, bottom + FOOT), ("Objects by iteration", told), body)
