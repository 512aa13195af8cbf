"""Time and performance counters of a program's phases."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable

from pmprofile.records import COUNTERS, Profile

UNMARKED = "(before the first)"


@dataclass
class Phase:
    """A phase in all processes; a counter is None if a process does not have it."""
    name: str
    times: int = 0
    ns: int = 0
    counters: list[int | None] = field(default_factory=lambda: [0] * len(COUNTERS))


def difference(before: tuple[int | None, ...], after: tuple[int | None, ...]) -> list[int | None]:
    return [None if a is None or b is None else max(0, b - a) for a, b in zip(before, after)]


def total(a: list[int | None], b: list[int | None]) -> list[int | None]:
    return [None if x is None or y is None else x + y for x, y in zip(a, b)]


def spans(profile: Profile) -> Iterable[tuple[str, int, int]]:
    """Name, begin and end of each phase; iterations do not end one."""
    marks = [(0, UNMARKED), *sorted(profile.phases)]
    ends = [ns for ns, _ in marks[1:]] + [profile.end_ns]
    return [(name, begin, end) for (begin, name), end in zip(marks, ends) if name != UNMARKED or end > begin]


def add(phases: dict[str, Phase], profile: Profile) -> None:
    known = {ns: values for ns, values in profile.counters}
    known.setdefault(0, tuple(0 for _ in COUNTERS))
    absent = tuple(None for _ in COUNTERS)
    for name, begin, end in spans(profile):
        phase = phases.setdefault(name, Phase(name))
        phase.times += 1
        phase.ns += end - begin
        phase.counters = total(phase.counters, difference(known.get(begin, absent), known.get(end, absent)))


def phases(profiles: Iterable[Profile]) -> list[Phase]:
    """In the order of their first occurrences."""
    found: dict[str, Phase] = {}
    for profile in profiles:
        add(found, profile)
    return list(found.values())
