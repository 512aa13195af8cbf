"""Iterations, and which objects are short-lived by them: paper 000, §III."""
from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from statistics import mean, pstdev

from pmprofile.records import Object, Profile

LEAST = 4               # allocations at a site before it can be a loop's
REGULAR = 0.25          # deviation of the time between them, of its mean
COVERED = 0.4           # of the run
SHARE = 0.1             # of the run is short where there are no iterations


@dataclass
class Clock:
    """When iterations begin, and how that is known: marked, inferred or none."""
    starts: list[int]
    source: str
    site: int = 0

    def iteration(self, ns: int) -> int:
        """From 1 on; 0 before the first."""
        return bisect_right(self.starts, ns)


def regularity(times: list[int], run_ns: int) -> float | None:
    """How far the distances between these times vary; None: it is no loop over much of the run."""
    if len(times) < LEAST or times[-1] - times[0] < COVERED * run_ns:
        return None
    gaps = [b - a for a, b in zip(times, times[1:])]
    spread = pstdev(gaps) / mean(gaps)
    return spread if spread <= REGULAR else None


def inferred(profile: Profile) -> Clock:
    """By the site that allocates most regularly over the run, if any does."""
    times: dict[int, list[int]] = {}
    for o in profile.objects:
        if o.bytes >= profile.large_bytes and o.site:
            times.setdefault(o.site, []).append(o.from_ns)
    found = [(spread, site) for site, when in times.items()
             if (spread := regularity(sorted(when), profile.end_ns)) is not None]
    if not found:
        return Clock([], "none")
    site = min(found)[1]
    return Clock(sorted(times[site]), "inferred", site)


def clock(profile: Profile) -> Clock:
    if profile.iterations:
        return Clock([ns for _, ns in profile.iterations], "marked")
    return inferred(profile)


def is_short(o: Object, when: Clock, profile: Profile) -> bool:
    """Given back in the iteration in which it was taken, or in the next one."""
    if not o.to_ns:
        return False
    if when.source == "none":
        return o.to_ns - o.from_ns < SHARE * profile.end_ns
    return when.iteration(o.to_ns) - when.iteration(o.from_ns) <= 1
