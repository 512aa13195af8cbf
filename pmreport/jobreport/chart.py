"""Memory of a node over time: DRAM and persistent memory on top of each other with the job's limit, the same of each socket, and
the job's directories."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Mapping, Sequence

from jobreport.job import TIERS, Node
from picture import svg
from picture.axis import BYTES, NS_PER_S, TIMES, Scale, scale, shown
from pmprofile.stack import FOOT, GAP, LEFT, RIGHT, TITLE, grid, is_near, time_axis

STYLES = {"dram": "c0", "pmem": "c1", "dir": "c2"}
MEMORY = ("dram", "pmem")
SETUP = 20              # height of the row that shows the set-up


@dataclass(frozen=True)
class Panel:
    """Tiers on top of each other. `limit` is a word and bytes, 0 for none; the axis holds `top` at least."""
    name: str
    tiers: Sequence[str]
    levels: Sequence[Mapping[str, int]]     # by tier, one for each sample of the node
    limit: tuple[str, int] = ("limit", 0)
    top: int = 0

    def most(self) -> int:
        return max((sum(level[tier] for tier in self.tiers) for level in self.levels), default=0)


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


def bands(node: Node, panel: Panel, time: Scale, y: Scale) -> str:
    ends = [*(time.at(s.after_s * NS_PER_S) for s in node.samples), time.end if node.seconds == 0 else time.at(seconds_of(node) * NS_PER_S)]
    ground, body = [0] * len(panel.levels), ""
    for tier in panel.tiers:
        top = [low + level[tier] for low, level in zip(ground, panel.levels)]
        if top != ground:
            most = max(level[tier] for level in panel.levels)
            body += svg.path(STYLES[tier], band(ground, top, ends, y), f"{TIERS[tier]}: at most {shown(most, BYTES)}")
        ground = top
    return body


def level(limit: tuple[str, int], y: Scale, time: Scale) -> str:
    """The line, or where it is if the axis ends below it."""
    words, size = f"{limit[0]} {shown(limit[1], BYTES)}", limit[1]
    if not size:
        return ""
    if size > y.top:
        return svg.text(time.end, y.end - 8, f"{words}, above this axis", "bound", "end")
    at = y.at(size)
    return svg.line("bound", (time.start, time.end), (at, at)) + svg.text(time.end, at - 5, words, "bound", "end")


def draw(node: Node, panel: Panel, time: Scale, at: tuple[float, float]) -> str:
    most = max(panel.most(), panel.top)
    y = scale(max(most, panel.limit[1]) if is_near(panel.limit[1], most) else most, BYTES, (at[1], at[0] + TITLE), 4)
    return (grid(y, time) + bands(node, panel, time, y) + svg.text(0, at[0] + 13, f"{panel.name}, {y.unit[0]}", "name")
            + level(panel.limit, y, time))


def setup(node: Node, time: Scale) -> str:
    """A bar from the begin; it has two pixels at least."""
    end = min(time.end, max(time.at(node.setup_ms * NS_PER_S / 1000), time.start + 2))
    words = f"set-up, {node.setup_ms / 1000:.1f} s"
    inside = end + 6 + svg.LETTER * len(words) > time.end
    return svg.box("phase", (time.start, end), (4, 12), words) + (
        svg.text(time.end, 26, words, "tick", "end") if inside else svg.text(end + 6, 12, words, "tick"))


def of_sockets(node: Node) -> list[Panel]:
    """On one scale, to be compared; none of a node with one socket."""
    found = [Panel(f"Memory of socket {socket}", MEMORY, node.of_socket(socket)) for socket in node.sockets()]
    top = max((panel.most() for panel in found), default=0)
    return [replace(panel, top=top) for panel in found] if len(found) > 1 else []


def panels_of(node: Node) -> list[Panel]:
    """Those that held anything."""
    whole = [sample.bytes for sample in node.samples]
    every = [Panel("Memory", MEMORY, whole, ("limit", node.limit)), *of_sockets(node), Panel("$PM_DIR", ("dir",), whole, ("quota", node.quota()))]
    return [panel for panel in every if panel.most()]


def described(node: Node) -> str:
    held = "; ".join(f"{TIERS[tier]}: at most {shown(node.most(tier), BYTES)}" for tier in TIERS if node.most(tier))
    limit = f" The limit of its memory is {shown(node.limit, BYTES)}." if node.limit else ""
    return f"{held}.{limit}"


def chart(name: str, form: svg.Format, node: Node) -> str:
    time = scale(seconds_of(node) * NS_PER_S, TIMES, (LEFT, form.width - RIGHT), form.lines, is_rounded=False)
    top, body = float(SETUP + 8), [setup(node, time)]
    for panel in panels_of(node):
        body.append(draw(node, panel, time, (top, top + TITLE + form.panel)))
        top += TITLE + form.panel + GAP
    body.append(time_axis(time, top - GAP, "the node's set-up began"))
    return svg.picture(name, (form.width, top - GAP + FOOT), (f"Memory of {node.name} over time", described(node)), body)
