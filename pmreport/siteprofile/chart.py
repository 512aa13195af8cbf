"""A chart of bandwidths over threads, in SVG. Colours are classes of the page's style sheet, which knows both themes."""
from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Sequence

from picture.axis import step_of
from siteprofile.profiles import Measure

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 168, 30, 40


@dataclass(frozen=True)
class Line:
    label: str
    style: str  # class of the style sheet
    points: Sequence[Measure]
    has_label: bool = True


@dataclass(frozen=True)
class Bound:
    """A level that no point exceeds."""
    label: str
    value: int


class Scale:
    def __init__(self, threads: int, gigabytes: float) -> None:
        self.threads, self.step = max(threads, 1), step_of(gigabytes or 1)
        self.top = self.step * -(-(gigabytes or 1) // self.step)

    def x(self, threads: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * threads / self.threads

    def y(self, bytes_per_s: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * bytes_per_s / 1e9 / self.top


def grid(scale: Scale) -> list[str]:
    parts, level = [], 0.0
    while level <= scale.top * 1.001:
        y = scale.y(level * 1e9)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                     f'<text class="tick" text-anchor="end" x="{LEFT - 8}" y="{y + 4:.1f}">{level:g}</text>')
        level += scale.step
    return parts


def ticks(scale: Scale, threads: Sequence[int]) -> list[str]:
    """Each number of threads that was measured, where there is room for it."""
    parts, last = [], -100.0
    for n in threads:
        if scale.x(n) - last >= 24:
            last = scale.x(n)
            parts.append(f'<text class="tick" text-anchor="middle" x="{last:.1f}" y="{HEIGHT - BOTTOM + 18}">{n}</text>')
    return parts


def spread(scale: Scale, m: Measure, style: str) -> str:
    if m.low is None or m.high is None:
        return ""
    x = scale.x(m.threads or 0)
    return f'<line class="{style} spread" x1="{x:.1f}" x2="{x:.1f}" y1="{scale.y(m.low):.1f}" y2="{scale.y(m.high):.1f}"/>'


def dot(scale: Scale, m: Measure, line: Line) -> str:
    text = f"{line.label}, threads: {m.threads}, {m.value / 1e9:.2f} GB/s"
    return (f'<circle class="{line.style}" cx="{scale.x(m.threads or 0):.1f}" cy="{scale.y(m.value):.1f}" r="3.5">'
            f"<title>{escape(text)}</title></circle>")


def drawn(scale: Scale, line: Line) -> list[str]:
    at = " ".join(f"{scale.x(m.threads or 0):.1f},{scale.y(m.value):.1f}" for m in line.points)
    return [f'<polyline class="{line.style}" points="{at}"/>', *(spread(scale, m, line.style) for m in line.points),
            *(dot(scale, m, line) for m in line.points)]


def labels(scale: Scale, lines: Sequence[Line], bounds: Sequence[Bound]) -> list[str]:
    """Beside the ends of their lines, and 16 apart at least."""
    wanted = [(scale.y(line.points[-1].value), f"{line.style} label", line.label) for line in lines if line.has_label and line.points]
    wanted += [(scale.y(bound.value), "bound label", bound.label) for bound in bounds]
    parts, last = [], -100.0
    for y, style, text in sorted(wanted):
        last = max(y + 4, last + 16)
        parts.append(f'<text class="{style}" x="{WIDTH - RIGHT + 8}" y="{last:.1f}">{escape(text)}</text>')
    return parts


def chart(caption: str, lines: Sequence[Line], bounds: Sequence[Bound] = ()) -> str:
    points = [m for line in lines for m in line.points]
    tops = [max(m.value, m.high or 0) for m in points] + [bound.value for bound in bounds]
    scale = Scale(max(m.threads or 0 for m in points), max(tops) / 1e9)
    body = grid(scale) + ticks(scale, sorted({m.threads or 0 for m in points}))
    for bound in bounds:
        y = scale.y(bound.value)
        body.append(f'<line class="bound" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
    for line in lines:
        body += drawn(scale, line)
    body += labels(scale, lines, bounds)
    body.append(f'<text class="tick" text-anchor="end" x="{WIDTH - RIGHT}" y="{HEIGHT - 4}">threads</text>'
                f'<text class="tick" x="4" y="14">GB/s</text>')
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(caption)}">{"".join(body)}</svg>'
