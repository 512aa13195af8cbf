"""Memory of a node over time: DRAM and persistent memory on top of each other with the job's limit, and the job's directories."""
from __future__ import annotations

from typing import Sequence

from jobreport.job import TIERS, Node
from picture import svg
from picture.axis import BYTES, NS_PER_S, TIMES, Scale, scale, shown
from pmprofile.stack import FOOT, GAP, LEFT, RIGHT, TITLE, grid, is_near, time_axis

STYLES = {"dram": "c0", "pmem": "c1", "dir": "c2"}
PANELS = (("Memory", ("dram", "pmem")), ("$PM_DIR", ("dir",)))
SETUP = 20              # height of the row that shows the set-up


def seconds_of(node: Node) -> float:
    """The length of the time axis."""
    last = node.samples[-1].after_s + node.step_s if node.samples else 0
    return max(node.seconds, last, 1)


def band(below: Sequence[int], above: Sequence[int], ends: Sequence[float], y: Scale) -> str:
    """The outline between two rows of levels; each holds until the next sample."""
    data = [f"M{svg.num(ends[0])} {svg.num(y.at(above[0]))}"]
    data += [f"V{svg.num(y.at(level))}H{svg.num(end)}" for level, end in zip(above, ends[1:])]
    data += [f"V{svg.num(y.at(level))}H{svg.num(begin)}" for level, begin in reversed(list(zip(below, ends)))]
    return "".join(data) + "z"


def bands(node: Node, tiers: Sequence[str], time: Scale, y: Scale) -> str:
    ends = [*(time.at(s.after_s * NS_PER_S) for s in node.samples), time.end if node.seconds == 0 else time.at(seconds_of(node) * NS_PER_S)]
    ground, body = [0] * len(node.samples), ""
    for tier in tiers:
        top = [low + s.bytes[tier] for low, s in zip(ground, node.samples)]
        if top != ground:
            body += svg.path(STYLES[tier], band(ground, top, ends, y), f"{TIERS[tier]}: at most {shown(node.most(tier), BYTES)}")
        ground = top
    return body


def limit_of(node: Node, name: str) -> tuple[str, int]:
    return ("quota", node.quota()) if name == "$PM_DIR" else ("limit", node.limit)


def level(limit: tuple[str, int], y: Scale, time: Scale) -> str:
    """The line, or where it is if the axis ends below it."""
    words, size = f"{limit[0]} {shown(limit[1], BYTES)}", limit[1]
    if not size:
        return ""
    if size > y.top:
        return svg.text(time.end, y.end - 8, f"{words}, above this axis", "bound", "end")
    at = y.at(size)
    return svg.line("bound", (time.start, time.end), (at, at)) + svg.text(time.end, at - 5, words, "bound", "end")


def panel(node: Node, name: str, tiers: Sequence[str], time: Scale, at: tuple[float, float]) -> str:
    most = max(sum(s.bytes[tier] for tier in tiers) for s in node.samples)
    limit = limit_of(node, name)
    y = scale(max(most, limit[1]) if is_near(limit[1], most) else most, BYTES, (at[1], at[0] + TITLE), 4)
    return (grid(y, time) + bands(node, tiers, time, y) + svg.text(0, at[0] + 13, f"{name}, {y.unit[0]}", "name")
            + level(limit, y, time))


def setup(node: Node, time: Scale) -> str:
    """A bar from the begin; it has two pixels at least."""
    end = min(time.end, max(time.at(node.setup_ms * NS_PER_S / 1000), time.start + 2))
    words = f"set-up, {node.setup_ms / 1000:.1f} s"
    inside = end + 6 + svg.LETTER * len(words) > time.end
    return svg.box("phase", (time.start, end), (4, 12), words) + (
        svg.text(time.end, 26, words, "tick", "end") if inside else svg.text(end + 6, 12, words, "tick"))


def panels_of(node: Node) -> list[tuple[str, tuple[str, ...]]]:
    """Those that held anything."""
    return [(name, tiers) for name, tiers in PANELS if any(node.most(tier) for tier in tiers)]


def described(node: Node) -> str:
    held = "; ".join(f"{TIERS[tier]}: at most {shown(node.most(tier), BYTES)}" for tier in TIERS if node.most(tier))
    limit = f" The limit of its memory is {shown(node.limit, BYTES)}." if node.limit else ""
    return f"{held}.{limit}"


def chart(name: str, form: svg.Format, node: Node) -> str:
    time = scale(seconds_of(node) * NS_PER_S, TIMES, (LEFT, form.width - RIGHT), form.lines, is_rounded=False)
    top, body = float(SETUP + 8), [setup(node, time)]
    for title, tiers in panels_of(node):
        body.append(panel(node, title, tiers, time, (top, top + TITLE + form.panel)))
        top += TITLE + form.panel + GAP
    body.append(time_axis(time, top - GAP, "the node's set-up began"))
    return svg.picture(name, (form.width, top - GAP + FOOT), (f"Memory of {node.name} over time", described(node)), body)
