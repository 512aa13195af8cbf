"""SVG as text. Colours are classes of the page's style sheet, which knows both themes."""
from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Iterable

LETTER = 6.6            # width of a letter of 12 pixels, at most on average


@dataclass(frozen=True)
class Format:
    """A picture is drawn once for each width of a page; the style sheet shows one of them."""
    name: str
    width: int
    panel: int          # height of an area between axes
    lines: int          # ticks on a time axis, about


WIDE, NARROW = Format("wide", 760, 170, 8), Format("narrow", 358, 140, 4)


def num(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, words: str, style: str = "tick", anchor: str = "start") -> str:
    return f'<text class="{style}" x="{num(x)}" y="{num(y)}" text-anchor="{anchor}">{escape(words)}</text>'


def line(style: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    return f'<line class="{style}" x1="{num(x[0])}" x2="{num(x[1])}" y1="{num(y[0])}" y2="{num(y[1])}"/>'


def box(style: str, x: tuple[float, float], y: tuple[float, float], title: str = "") -> str:
    inner = f"<title>{escape(title)}</title>" if title else ""
    return (f'<rect class="{style}" x="{num(x[0])}" y="{num(y[0])}" width="{num(max(0, x[1] - x[0]))}" '
            f'height="{num(max(0, y[1] - y[0]))}">{inner}</rect>')


def path(style: str, data: str, title: str) -> str:
    return f'<path class="{style}" d="{data}"><title>{escape(title)}</title></path>'


def fitted(words: str, width: float) -> str:
    """The words, or their begin and end if there is no room for all of them."""
    room = max(3, int(width / LETTER))
    return words if len(words) <= room else f"{words[:(room - 1) * 2 // 3]}…{words[-((room - 1) // 3):]}"


def apart(most: int) -> float:
    """Pixels between the middles of numbers up to this one, which stand beside each other, at least."""
    return 14 + LETTER * len(str(most))


def picture(name: str, size: tuple[float, float], about: tuple[str, str], body: Iterable[str]) -> str:
    """`about` is a title and a description, for readers who do not see it. The name is the page's only one."""
    return (f'<svg viewBox="0 0 {num(size[0])} {num(size[1])}" role="img" aria-labelledby="{name}-title {name}-desc">'
            f'<title id="{name}-title">{escape(about[0])}</title><desc id="{name}-desc">{escape(about[1])}</desc>{"".join(body)}</svg>')
