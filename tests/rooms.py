#!/usr/bin/env python3
"""The rooms of the C code: who includes whom, and whether CONTRIBUTING.md's table allows it. Usage: rooms.py [TREE]

A room is a folder of the table in "Where things are"; its third column is what it may include, "Slurm" being Slurm's headers
and libslurm, "Slurm in NAME, NAME" these files of it alone. Prints a line for each thing that is wrong.
"""
from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
TABLE = "CONTRIBUTING.md"
# Tests may include anything; the twin's agent is a program of guests, and examples are users'.
ELSEWHERE = ("tests/", "twin/", "examples/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|(\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')", re.S)
# Functions and objects that other files may use.
DEFINED = re.compile(r"^(?!static|extern|typedef|struct \w+ \{|enum|#)[\w][\w \t*]*?\b(pm\w*)(?:\[[^\]]*\])*(?:\((?=[^;{]*\{)| = |;$)", re.M)
NAME = re.compile(r"\bpm\w+")


@dataclass
class Room:
    name: str
    may: set[str] = field(default_factory=set)
    slurm: bool = False
    slurm_in: set[str] = field(default_factory=set)  # names without ending; empty: in each


def table(text: str) -> dict[str, Room]:
    rooms = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        names = re.findall(r"`([\w/]+)/`", cells[0])
        if line.startswith("| `") and len(cells) == 3 and cells[2] and names:
            ours, slurm, in_these = cells[2].partition("Slurm")
            for name in names:
                rooms[name] = Room(name, set(re.findall(r"`([\w/]+)/`", ours)), bool(slurm), set(re.findall(r"`(\w+)`", in_these)))
    return rooms


def plain(text: str) -> str:
    """Without comments; strings stay."""
    return COMMENT.sub(lambda match: match[1] or " ", text)


class Tree:
    """What git tracks or would add."""

    def __init__(self, top: Path = TOP, rooms: dict[str, Room] | None = None) -> None:
        self.top = top
        self.rooms = table((top / TABLE).read_text()) if rooms is None else rooms
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=top, check=True,
                                capture_output=True, text=True).stdout.split()
        self.files = [name for name in sorted(set(listed)) if (top / name).is_file()]
        self.sources = {name: (top / name).read_text() for name in self.files
                        if name.endswith((".c", ".h")) and not name.startswith(ELSEWHERE)}

    def room(self, file: str) -> str:
        """The innermost one; "" for none."""
        return max((name for name in self.rooms if file.startswith(name + "/")), key=len, default="")

    def includes(self) -> list[tuple[str, str]]:
        """File and file of ours."""
        return [(name, found) for name, text in self.sources.items()
                for kind, found in INCLUDE.findall(text) if kind == '"' and "/" in found]

    def arrows(self) -> dict[tuple[str, str], list[tuple[str, str]]]:
        """Between rooms, and the includes that they are made of."""
        found = defaultdict(list)
        for file, other in self.includes():
            if self.room(file) != self.room(other):
                found[self.room(file), self.room(other)].append((file, other))
        return dict(found)

    def uses(self) -> dict[str, set[str]]:
        """Of each source the sources of its room that define what it names."""
        code = {name: plain(text) for name, text in self.sources.items() if name.endswith(".c")}
        owner = {}
        for name, text in code.items():
            owner |= {(self.room(name), symbol): name for symbol in DEFINED.findall(text)}
        return {name: {owner[self.room(name), word] for word in set(NAME.findall(text)) if (self.room(name), word) in owner} - {name}
                for name, text in code.items()}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Those who reach each other."""
    def reach(start: str) -> set[str]:
        seen, left = set(), [start]
        while left:
            for other in graph.get(left.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    left.append(other)
        return seen
    reached = {name: reach(name) for name in graph}
    found = {tuple(sorted(other for other in reached[name] if name in reached.get(other, ()))) for name in graph if name in reached[name]}
    return [list(names) for names in sorted(found)]


def wrong_arrows(tree: Tree) -> list[str]:
    problems = []
    arrows = tree.arrows()
    for (room, other), includes in sorted(arrows.items()):
        if not room or other not in tree.rooms[room].may:
            problems += [f"{file} includes {found}: {TABLE} does not let {room or 'it'}/ include {other or 'that'}/"
                         for file, found in includes]
    for room in tree.rooms.values():
        problems += [f"{TABLE} lets {room.name}/ include {other}/, and nothing in it does" for other in sorted(room.may)
                     if (room.name, other) not in arrows]
    problems += [f"{TABLE} lets rooms include each other in a circle: {', '.join(names)}"
                 for names in circles({name: room.may for name, room in tree.rooms.items()})]
    return problems


def homeless(tree: Tree) -> list[str]:
    return [f"{name} is in no room of {TABLE}" for name in tree.sources if not tree.room(name)]


def bound(tree: Tree) -> list[str]:
    """To a series of Slurm, by its headers or by libslurm."""
    problems = []
    for name, text in tree.sources.items():
        room = tree.rooms.get(tree.room(name))
        if any(found.startswith("slurm/") for _, found in INCLUDE.findall(text)) and room and not (
                room.slurm and (not room.slurm_in or Path(name).stem in room.slurm_in)):
            problems.append(f"{name} includes headers of Slurm: {TABLE} does not let it")
    for name in tree.files:
        if name == "Makefile" or (name.endswith("rules.mk") and not name.startswith(ELSEWHERE)):
            room = tree.rooms.get(tree.room(name))
            if re.search(r"-lslurm|\$\(SLURM_LIBS\)", (tree.top / name).read_text()) and not (room and room.slurm):
                problems.append(f"{name} links libslurm: {TABLE} does not let it")
    return problems


def check(tree: Tree) -> list[str]:
    inside = [f"files of a room use each other in a circle: {', '.join(names)}" for names in circles(tree.uses())]
    return homeless(tree) + wrong_arrows(tree) + bound(tree) + inside


def main() -> int:
    problems = check(Tree(Path(sys.argv[1]) if len(sys.argv) > 1 else TOP))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
