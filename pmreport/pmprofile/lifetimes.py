"""Iterations, and the objects that are short-lived by them: paper 000, §III."""
from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from statistics import mean, pstdev

from pmprofile.records import Object, Profile

LEAST = 4               # allocations of a site in a loop
REGULAR = 0.25          # largest deviation of the times between them, as a part of the mean
COVERED = 0.4           # smallest part of the run that they cover
SHARE = 0.1             # part of the run: without iterations, shorter lifetimes are short


@dataclass
class Clock:
    """Times at which iterations begin, and their source: marked, inferred or none."""
    starts: list[int]
    source: str
    site: int = 0

    def iteration(self, ns: int) -> int:
        """From 1 on; 0 before the first."""
        return bisect_right(self.starts, ns)


def regularity(times: list[int], run_ns: int) -> float | None:
    """Deviation of the distances between these times; None: they are irregular, or cover too little of the run."""
    if len(times) < LEAST or times[-1] - times[0] < COVERED * run_ns:
        return None
    gaps = [b - a for a, b in zip(times, times[1:])]
    spread = pstdev(gaps) / mean(gaps)
    return spread if spread <= REGULAR else None


def inferred(profile: Profile) -> Clock:
    """An iteration begins at each allocation of the most regular site, if any site is regular."""
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
    """True: freed in the iteration of its allocation or in the next one; without iterations, by its share of the run."""
    if not o.to_ns:
        return False
    if when.source == "none":
        return o.to_ns - o.from_ns < SHARE * profile.end_ns
    return when.iteration(o.to_ns) - when.iteration(o.from_ns) <= 1
