#!/usr/bin/env python3
"""Draws the rooms of the code and the arrows between them, from their includes. Usage: architecture.py [--check]

Writes docs/dev/rooms.svg and the tables of docs/dev/architecture.md. With --check it writes nothing, and fails where rooms or
arrows there are not those of the code (numbers may differ). docs/dev/rooms-before.json is how it was before there were rooms.
"""
from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests"))
from rooms import Tree, plain  # noqa: E402

PAGE = TOP / "docs/dev/architecture.md"
PICTURE = TOP / "docs/dev/rooms.svg"
BEFORE = TOP / "docs/dev/rooms-before.json"
BEGIN, END = "<!-- made by make docs -->", "<!-- end -->"
WIDE, HIGH, GAP_X, GAP_Y = 138, 44, 22, 58


def measure(tree: Tree) -> dict:
    """Lines of each room without comments and blanks, and includes between two of them."""
    lines = Counter({name: 0 for name in tree.rooms})
    for name, text in tree.sources.items():
        lines[tree.room(name)] += sum(bool(line.strip()) for line in plain(text).splitlines())
    return {"lines": dict(lines), "arrows": [[a, b, len(includes)] for (a, b), includes in sorted(tree.arrows().items())]}


def below(found: dict) -> dict[str, set[str]]:
    down = {name: set() for name in found["lines"]}
    for room, other, _ in found["arrows"]:
        down[room].add(other)
    return down


def heights(down: dict[str, set[str]]) -> dict[str, int]:
    """The level of each room: 0 if it includes no other, else above all rooms that it includes."""
    known: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in known:
            known[name] = 1 + max((height(other) for other in down[name]), default=-1)
        return known[name]
    for name in down:
        height(name)
    return known


def direct(down: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Arrows that no way over other rooms stands for: the others would only hide them."""
    def reach(name: str) -> set[str]:
        return set(down[name]).union(*(reach(other) for other in down[name]))
    return [(name, other) for name in down for other in sorted(down[name])
            if not any(other in reach(between) for between in down[name] - {other})]


def places(down: dict[str, set[str]]) -> dict[str, tuple[int, int]]:
    """The runtime, which knows none of the others, stands on the right."""
    known, at = heights(down), {}
    highest = max(known.values())
    rows = {h: sorted(name for name in down if known[name] == h) for h in known.values()}
    side = {h: [name for name in row if name.startswith("runtime")] for h, row in rows.items()}
    columns = max(len(row) - len(side[h]) for h, row in rows.items())
    for h, row in rows.items():
        ours = [name for name in row if name not in side[h]]
        first = (columns - len(ours)) / 2
        for x, name in enumerate(ours):
            at[name] = (int((first + x) * (WIDE + GAP_X)) + GAP_X, (highest - h) * (HIGH + GAP_Y) + GAP_X)
        for x, name in enumerate(side[h]):
            at[name] = ((columns + x) * (WIDE + GAP_X) + 2 * GAP_X, (highest - h) * (HIGH + GAP_Y) + GAP_X)
    return at


def ends(above: tuple[int, int], under: tuple[int, int]) -> tuple[int, int, int, int]:
    """Of an arrow, from the foot of one to the head of the other."""
    return above[0] + WIDE // 2, above[1] + HIGH, under[0] + WIDE // 2, under[1]


def passes(at: dict[str, tuple[int, int]], room: str, other: str) -> bool:
    """Does it cross a third one? Then it is dashed, and drawn on top."""
    x1, y1, x2, y2 = ends(at[room], at[other])
    points = [(x1 + (x2 - x1) * part / 100, y1 + (y2 - y1) * part / 100) for part in range(101)]
    return any(x < px < x + WIDE and y < py < y + HIGH for name, (x, y) in at.items() if name not in (room, other) for px, py in points)


def arrow(above: tuple[int, int], under: tuple[int, int], more: str = "") -> str:
    x1, y1, x2, y2 = ends(above, under)
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#555" marker-end="url(#head)"{more}/>'


def picture(found: dict) -> str:
    down = below(found)
    at = places(down)
    wide, high = (max(place[i] for place in at.values()) + size + GAP_X for i, size in enumerate((WIDE, HIGH)))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="13">',
             "<title>Rooms of the code, and which includes which</title>",
             '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
             '<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
             f'<rect width="{wide}" height="{high}" fill="#fff"/>']
    arrows = [(passes(at, room, other), room, other) for room, other in direct(down)]
    parts += [arrow(at[room], at[other]) for hidden, room, other in arrows if not hidden]
    for room, (x, y) in sorted(at.items()):
        parts.append(f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="5" fill="#eef3f8" stroke="#345"/>')
        parts.append(f'<text x="{x + WIDE // 2}" y="{y + 19}" text-anchor="middle">{room}/</text>')
        parts.append(f'<text x="{x + WIDE // 2}" y="{y + 36}" text-anchor="middle" fill="#567" font-size="11">{found["lines"][room]} lines</text>')
    parts += [arrow(at[room], at[other], ' stroke-dasharray="6 3"') for hidden, room, other in arrows if hidden]
    return "\n".join([*parts, "</svg>"]) + "\n"


def rows(found: dict) -> list[str]:
    """A room, its lines, and what it includes how often."""
    arrows = {}
    for room, other, n in found["arrows"]:
        arrows.setdefault(room, []).append(f"`{other}/` {n}")
    return ["| room | lines | includes |", "|---|---:|---|",
            *(f"| `{room}/` | {n} | {', '.join(arrows.get(room, ['-']))} |" for room, n in found["lines"].items()),
            f"| all | {sum(found['lines'].values())} | {sum(n for _, _, n in found['arrows'])} between rooms |"]


def tables(now: dict) -> str:
    before = json.loads(BEFORE.read_text())
    return "\n".join([BEGIN, "", *rows(now), "", f"Before there were rooms (commit {before['commit']}):", "", *rows(before), "", END])


def without_numbers(text: str) -> str:
    return re.sub(r"\b\d+\b", "0", text)


def main() -> int:
    now = measure(Tree())
    page = PAGE.read_text()
    new = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: tables(now), page, flags=re.S)
    if sys.argv[1:] == ["--check"]:
        current = without_numbers(new) == without_numbers(page)
        print("" if current else "docs/dev/architecture.md does not show today's rooms and arrows: make docs", end="\n" * (not current))
        return 0 if current else 1
    PAGE.write_text(new)
    PICTURE.write_text(picture(now))
    return 0


if __name__ == "__main__":
    sys.exit(main())
