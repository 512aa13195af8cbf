"""Bars of a program's configurations, one below another."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from picture import svg
from picture.axis import BYTES, Scale, Unit, scale

ROW, BAR, TITLE, FOOT, RIGHT = 22, 14, 24, 30, 14
LABEL = 110             # pixels for the names
RATIO: tuple[Unit, ...] = (("", 1),)
PERCENT: tuple[Unit, ...] = (("%", 0.01),)


@dataclass(frozen=True)
class Bar:
    """`parts` are colours' classes, words and amounts, from the left; none is a value that is not there."""
    name: str
    parts: Sequence[tuple[str, str, float]]

    @property
    def amount(self) -> float:
        return sum(amount for _, _, amount in self.parts)


@dataclass(frozen=True)
class Panel:
    title: str
    bars: Sequence[Bar]
    units: tuple[Unit, ...] = BYTES
    words: Callable[[float], str] = lambda amount: f"{amount:.2f}"
    mark: tuple[str, float] = ("", 0)       # a level across the bars


def row(bar: Bar, panel: Panel, x: Scale, y: float) -> str:
    parts, at = [svg.text(LABEL - 6, y + BAR - 2, svg.fitted(bar.name, LABEL - 6), "tick", "end")], 0.0
    for style, words, amount in bar.parts:
        parts.append(svg.box(style, (x.at(at), x.at(at + amount)), (y, y + BAR), f"{bar.name}: {words}{panel.words(amount)}"))
        at += amount
    parts += [] if bar.parts else [svg.text(LABEL, y + BAR - 2, "not known", "tick")]
    return "".join(parts)


def level(mark: tuple[str, float], x: Scale, foot: float) -> str:
    at = x.at(mark[1])
    return svg.line("bound", (at, at), (TITLE - 4, foot)) + svg.text(x.end, 13, mark[0], "bound", "end")


def chart(name: str, form: svg.Format, panel: Panel) -> str:
    foot = TITLE + ROW * len(panel.bars)
    x = scale(max([panel.mark[1], *(bar.amount for bar in panel.bars)]), panel.units, (LABEL, form.width - RIGHT), 4)
    unit = f", {x.unit[0]}" if x.unit[0] else ""
    ticks = "".join(svg.line("grid", (at, at), (TITLE - 4, foot)) + svg.text(at, foot + 14, words, "tick", "middle") for at, words in x.ticks())
    body = [svg.text(0, 13, f"{panel.title}{unit}", "name"), ticks, *(row(bar, panel, x, TITLE + i * ROW) for i, bar in enumerate(panel.bars))]
    body += [level(panel.mark, x, foot)] if panel.mark[0] else []
    told = "; ".join(f"{bar.name}: {panel.words(bar.amount) if bar.parts else 'not known'}" for bar in panel.bars)
    return svg.picture(name, (form.width, foot + FOOT), (panel.title, told), body)
