"""The chart of memory over time: live bytes by call site, an area for each tier, its budget, phases and iterations."""
from __future__ import annotations

from typing import Iterator

from picture import svg
from picture.axis import BYTES, NS_PER_S, TIMES, Scale, scale, shown
from pmprofile import marks
from pmprofile.lifetimes import Clock
from pmprofile.records import Profile
from pmprofile.series import PMEM_TIER, STEPS, TIERS, Timeline

LEFT, RIGHT, TITLE, GAP, FOOT = 44, 20, 28, 12, 40
NEAR = 2                # a budget of at most so many times the peak is on the axis


def edge(values: list[int], time: Scale, y: Scale) -> Iterator[tuple[float, float, float]]:
    """Begin, end and height of each stretch with the same value."""
    begin = 0
    for i in range(1, STEPS + 1):
        if i == STEPS or values[i] != values[begin]:
            yield (time.start + (time.end - time.start) * begin / STEPS, time.start + (time.end - time.start) * i / STEPS,
                   y.at(values[begin]))
            begin = i


def band(below: list[int], above: list[int], time: Scale, y: Scale) -> str:
    """The outline between two rows of levels, as steps."""
    upper, lower = list(edge(above, time, y)), list(edge(below, time, y))
    data = [f"M{svg.num(time.start)} {svg.num(upper[0][2])}"]
    data += [f"V{svg.num(high)}H{svg.num(end)}" for _, end, high in upper]
    data += [f"V{svg.num(high)}H{svg.num(begin)}" for begin, _, high in reversed(lower)]
    return "".join(data) + "z"


def bands(found: Timeline, tier: int, time: Scale, y: Scale) -> Iterator[str]:
    """From the bottom, the label with most bytes first."""
    ground = [0] * STEPS
    for i, label in enumerate(found.labels):
        top = [low + step[i] for low, step in zip(ground, found.tiers[tier])]
        if top != ground:
            most = max(step[i] for step in found.tiers[tier])
            yield svg.path(found.style(i), band(ground, top, time, y), f"{label}: at most {shown(most, BYTES)} in {TIERS[tier]}")
        ground = top


def grid(y: Scale, time: Scale) -> str:
    return "".join(svg.line("grid", (time.start, time.end), (at, at)) + svg.text(time.start - 6, at + 4, words, "tick", "end")
                   for at, words in y.ticks())


def budget_line(budget: int, y: Scale, time: Scale) -> str:
    """The line, or where it is if the axis ends below it."""
    words = f"budget {shown(budget, BYTES)}"
    if budget > y.top:
        return svg.text(time.end, y.end - 8, f"{words}, above this axis", "bound", "end")
    at = y.at(budget)
    return svg.line("bound", (time.start, time.end), (at, at)) + svg.text(time.end, at - 5, words, "bound", "end")


def is_near(budget: int, most: int) -> bool:
    return budget <= NEAR * most


def panel(found: Timeline, tier: int, budget: int, time: Scale, at: tuple[float, float]) -> str:
    """An area from at[0] to at[1], its title included."""
    most = found.most(tier)
    has_budget = tier != PMEM_TIER
    y = scale(max(most, budget) if has_budget and is_near(budget, most) else most, BYTES, (at[1], at[0] + TITLE), 4)
    return (grid(y, time) + "".join(bands(found, tier, time, y)) + svg.text(0, at[0] + 13, f"{TIERS[tier]}, {y.unit[0]}", "name")
            + (budget_line(budget, y, time) if has_budget else ""))


def time_axis(time: Scale, y: float, since: str) -> str:
    ticks = "".join(svg.line("axis", (at, at), (y, y + 4)) + svg.text(at, y + 17, words, "tick", "middle") for at, words in time.ticks())
    return (svg.line("axis", (time.start, time.end), (y, y)) + ticks
            + svg.text(time.end, y + 34, f"time since {since}, {time.unit[0]}", "tick", "end"))


def tiers_of(found: Timeline) -> list[int]:
    """The tiers that held anything."""
    return [tier for tier in range(len(TIERS)) if found.most(tier)]


def described(found: Timeline, profile: Profile) -> str:
    held = "; ".join(f"{TIERS[tier]} holds at most {shown(found.most(tier), BYTES)}, at {moment(found, tier)}" for tier in tiers_of(found))
    return f"{held}. The budget of DRAM is {shown(profile.budget_bytes, BYTES)}. Largest call sites: {'; '.join(found.labels[:3])}."


def moment(found: Timeline, tier: int) -> str:
    """The time at which a tier is fullest."""
    return f"{found.fullest(tier) * found.end_ns / STEPS / NS_PER_S:.2f} s"


def chart(name: str, form: svg.Format, profile: Profile, clock: Clock, found: Timeline) -> str:
    time = scale(found.end_ns, TIMES, (LEFT, form.width - RIGHT), form.lines, is_rounded=False)
    rows = marks.rows(profile)
    heads = len(rows) * marks.ROW
    top = heads + (marks.ITERATIONS_ROW if clock.starts else 0)
    ends = [(top + i * (TITLE + form.panel + GAP), top + i * (TITLE + form.panel + GAP) + TITLE + form.panel)
            for i in range(len(tiers_of(found)))]
    bottom = ends[-1][1]
    body = [marks.draw_row(row, time, i * marks.ROW) for i, row in enumerate(rows)]
    body += [panel(found, tier, profile.budget_bytes, time, at) for tier, at in zip(tiers_of(found), ends)]
    body += [marks.draw_iterations(clock, time, heads, bottom)] if clock.starts else []
    body += [time_axis(time, bottom, "the process began")]
    return svg.picture(name, (form.width, bottom + FOOT), ("Memory over time, by call site", described(found, profile)), body)
