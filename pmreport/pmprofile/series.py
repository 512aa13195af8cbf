"""Live bytes over time, by tier and call site: what the charts of a page show of one process."""
from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Callable, Iterator

from pmprofile.measure import PMEM, held, life, peak
from pmprofile.records import Object, Profile

STEPS = 360             # equal parts of the run
SITES = 8               # with colours of their own
OTHERS = "all others"
TIERS = ("DRAM", "PMem")
PMEM_TIER = 1           # of TIERS

Label = Callable[[Object], str]
Levels = tuple[int, ...]    # bytes of each label


@dataclass(frozen=True)
class Timeline:
    """In each part of the run a tier's levels are those of the moment in which it held most."""
    end_ns: int
    labels: list[str]           # most bytes first; if there are too many, OTHERS is the last
    peaks: list[int]            # of each label, in both tiers together
    tiers: tuple[list[Levels], ...]

    def index(self, label: str) -> int:
        """Its place among the labels; behind them if it has no colour of its own."""
        return self.labels.index(label) if label in self.labels else len(self.labels)

    def style(self, index: int) -> str:
        """The class of the label's colour in the style sheet."""
        return f"c{index}" if index < len(self.labels) and self.labels[index] != OTHERS else "others"

    def fullest(self, tier: int) -> int:
        """The part of the run in which the tier held most."""
        return max(range(STEPS), key=lambda step: sum(self.tiers[tier][step]))

    def most(self, tier: int) -> int:
        return sum(self.tiers[tier][self.fullest(tier)])


def tier_of(o: Object) -> int:
    return PMEM_TIER if o.space == PMEM else 0


def peaks_of(profile: Profile, label: Label) -> list[tuple[str, int]]:
    """All labels with the most bytes that each held, most first."""
    spans: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for o in profile.objects:
        spans[label(o)].append((*life(o, profile), held(o, profile)))
    return sorted(((name, peak(of_one)) for name, of_one in spans.items()), key=lambda one: (-one[1], one[0]))


def changes(profile: Profile, index_of: dict[str, int], label: Label) -> list[tuple[int, int, int, int]]:
    """Time, change of bytes, tier and label of each allocation and free, in order; what is freed makes room first."""
    found = []
    for o in profile.objects:
        begin, end = life(o, profile)
        size, tier, index = held(o, profile), tier_of(o), index_of[label(o)]
        found.append((begin, size, tier, index))
        if o.to_ns:
            found.append((end, -size, tier, index))
    return sorted(found)


def levels(steps: list[tuple[int, int, int]], end_ns: int, count: int) -> Iterator[Levels]:
    """The levels of one tier: from each time, change and label, the fullest moment of each part of the run."""
    now, at = [0] * count, 0
    for step in range(STEPS):
        best, most, total = tuple(now), sum(now), sum(now)
        while at < len(steps) and (step == STEPS - 1 or steps[at][0] * STEPS < (step + 1) * end_ns):
            _, change, index = steps[at]
            now[index] += change
            total, at = total + change, at + 1
            if total > most:
                best, most = tuple(now), total
        yield best


def timeline(profile: Profile, label: Label) -> Timeline:
    ranked = peaks_of(profile, label)
    own = ranked if len(ranked) <= SITES else ranked[:SITES]
    names = [name for name, _ in own] + [OTHERS] * (len(ranked) > SITES)
    index_of = {name: min(i, SITES) for i, (name, _) in enumerate(ranked)}
    found = changes(profile, index_of, label)
    end_ns = max(profile.end_ns, 1)
    tiers = tuple(list(levels([(ns, change, index) for ns, change, tier, index in found if tier == wanted], end_ns, len(names)))
                  for wanted in range(len(TIERS)))
    rest = peak((*life(o, profile), held(o, profile)) for o in profile.objects if index_of[label(o)] == SITES)
    return Timeline(end_ns, names, [size for _, size in own] + [rest] * (len(ranked) > SITES), tiers)
