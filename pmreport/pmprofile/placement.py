"""The picture of placement: what each tier held in this run when it was fullest, and what it holds as the next run is advised."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from picture import svg
from picture.axis import BYTES, Scale, scale, shown
from pmprofile.advice import Choice, others_bytes, slack
from pmprofile.series import OTHERS, PMEM_TIER, TIERS, Timeline
from pmprofile.stack import is_near, moment
from pmprofile.told import Told

WIDTH, LEFT, RIGHT = 358, 4, 12
TITLE, ROW, BAR, AXIS = 22, 50, 24, 34
UNKNOWN = "small objects of which too little is known"
ADVISED = "next run, as advised"


Part = tuple[str, str, int]     # class of the colour, label, bytes


@dataclass(frozen=True)
class Bar:
    """A tier's bytes by call site. `budget` is 0 where there is none."""
    title: str
    parts: list[Part]
    budget: int = 0

    @property
    def bytes(self) -> int:
        return sum(size for _, _, size in self.parts)


def measured(found: Timeline, tier: int, budget: int) -> Bar:
    levels = found.tiers[tier][found.fullest(tier)]
    when = f", at {moment(found, tier)}" if any(levels) else ""
    return Bar(f"this run{when}", [(found.style(i), label, size) for i, (label, size) in enumerate(zip(found.labels, levels)) if size],
               0 if tier == PMEM_TIER else budget)


def split(choice: Choice, looseness: float) -> tuple[int, int]:
    """Bytes of a site in DRAM and in PMem, as advised."""
    held = choice.site.held if choice.site.is_large else round(choice.site.held * looseness)
    dram = min(held, held if choice.limit is None else choice.limit) if choice.in_dram else 0
    return dram, held - dram


def advised(told: Told, found: Timeline) -> tuple[Bar, Bar]:
    """DRAM and PMem, as the advice fills them: all sites at their peaks together, small objects of unknown sites in DRAM."""
    looseness = max(slack(p) for p in told.report.profiles)
    parts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for choice in told.choices:
        for of_tier, size in zip(parts, split(choice, looseness)):
            of_tier[told.names.of(choice.site.frames)] += size
    parts[0][UNKNOWN] += min(others_bytes(told.report), told.budget)
    dram, pmem = (by_colour(of_tier, found) for of_tier in parts)
    return Bar(ADVISED, dram, told.budget), Bar(ADVISED, pmem)


def by_colour(sizes: Counter[str], found: Timeline) -> list[Part]:
    """In the order of the legend; sites without a colour are one part, and UNKNOWN is the last."""
    merged: Counter[str] = Counter()
    for name, size in sizes.items():
        merged[name if name == UNKNOWN or found.index(name) < len(found.labels) else OTHERS] += size
    ordered = sorted((name == UNKNOWN, found.index(name), name) for name, size in merged.items() if size)
    return [(found.style(index), name, merged[name]) for _, index, name in ordered]


def draw(bar: Bar, x: Scale, y: float) -> str:
    """The title, the parts from the left, and the budget across them."""
    body, at = [svg.text(LEFT, y + 14, bar.title, "tick")], 0
    for style, label, size in bar.parts:
        body.append(svg.box(style, (x.at(at), x.at(at + size)), (y + 20, y + 20 + BAR), f"{label}: {shown(size, BYTES)}"))
        at += size
    if not bar.parts:
        body.append(svg.text(LEFT, y + 20 + BAR - 8, "nothing", "tick"))
    if bar.budget:
        beyond = "" if bar.budget <= x.top else ", beyond"
        body.append(svg.text(WIDTH - RIGHT, y + 14, f"budget {shown(bar.budget, BYTES)}{beyond}", "bound", "end"))
        body.append(svg.line("bound", (x.at(bar.budget),) * 2, (y + 17, y + 23 + BAR)) if not beyond else "")
    return "".join(body)


def panel(tier: int, bars: list[Bar], y: float) -> str:
    most = max(bar.bytes for bar in bars)
    budgets = [bar.budget for bar in bars if is_near(bar.budget, most)]
    x = scale(max(most, *budgets, 0), BYTES, (LEFT, WIDTH - RIGHT), 4)
    foot = y + TITLE + ROW * len(bars)
    ticks = "".join(svg.line("grid", (at, at), (y + TITLE, foot + 4)) + svg.text(at, foot + 17, words, "tick", "middle")
                    for at, words in x.ticks())
    return (ticks + svg.text(0, y + 13, f"{TIERS[tier]}, {x.unit[0]}", "name")
            + "".join(draw(bar, x, y + TITLE + i * ROW) for i, bar in enumerate(bars)))


def chart(name: str, panels: list[list[Bar]]) -> str:
    """Bars of each tier; a tier without any bytes is left out."""
    body, y, told = [], 0.0, []
    for tier, bars in enumerate(panels):
        if any(bar.bytes for bar in bars):
            body.append(panel(tier, bars, y))
            told += [f"{TIERS[tier]}, {bar.title}: {shown(bar.bytes, BYTES)}" for bar in bars]
            y += TITLE + ROW * len(bars) + AXIS
    return svg.picture(name, (WIDTH, y), ("Placement, by call site", "; ".join(told)), body)
