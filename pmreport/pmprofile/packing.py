"""Which bytes of DRAM each call site gets, when sites take it in an order.

Capacity is checked over time: a site may have the bytes that those before it in the order leave free at the fullest moment of its
own objects' lives. A site that does not fit gets these bytes, and objects are split. Sites of which no two objects live at the
same time share bytes.
"""
from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Iterable, Sequence

Span = tuple[int, int, int]     # from, to, bytes
MOMENTS = 4096                  # more of them are joined: an object then counts for the whole of each


def moments(spans: Iterable[Span]) -> list[int]:
    """The times at which bytes change; of many, evenly chosen ones. The first is that of the first span."""
    times = sorted({time for begin, end, _ in spans for time in (begin, end)})
    if len(times) <= MOMENTS:
        return times
    return [times[i * len(times) // MOMENTS] for i in range(MOMENTS)]


@dataclass
class Levels:
    """Bytes of a site's live objects between each moment and the next, from moment `first` on."""
    first: int
    bytes: list[int]

    @property
    def peak(self) -> int:
        return max(self.bytes)

    @property
    def last(self) -> int:
        return self.first + len(self.bytes)


def levels(spans: Sequence[Span], times: Sequence[int]) -> Levels:
    """The most bytes at a time between two moments, or at most the sum of the objects that live there."""
    inside = [(bisect_right(times, begin) - 1, max(bisect_right(times, begin), bisect_right(times, end - 1)), size) for begin, end, size in spans]
    first, last = min(begin for begin, _, _ in inside), max(end for _, end, _ in inside)
    changes = [0] * (last - first + 1)
    for begin, end, size in inside:
        changes[begin - first] += size
        changes[end - first] -= size
    most = peak(spans)
    return Levels(first, [min(most, level) for level in accumulate(changes[:-1])])


def peak(spans: Iterable[Span]) -> int:
    """The most bytes at a time. A span that ends when another begins does not overlap it."""
    steps = [step for begin, end, size in spans for step in ((begin, size), (end, -size))]
    return max(accumulate((change for _, change in sorted(steps)), initial=0))


@dataclass
class Packed:
    """Bytes of DRAM for each item, in the order, and those that no item uses at any time."""
    limits: list[int]
    rest: int


@dataclass
class Items:
    """All that takes DRAM: levels of each, in their order, and which of these only fit as a whole."""
    levels: list[Levels]
    whole: set[int] = field(default_factory=set)

    def pack(self, budget: int) -> Packed:
        used = [0] * max((one.last for one in self.levels), default=0)
        limits = []
        for i, one in enumerate(self.levels):
            live = [used[one.first + at] for at, level in enumerate(one.bytes) if level]
            room = max(0, budget - max(live, default=0))
            limit = min(room, one.peak) if i not in self.whole or one.peak <= room else 0
            if limit:
                used[one.first:one.last] = [now + min(level, limit) for now, level in zip(used[one.first:one.last], one.bytes)]
            limits.append(limit)
        return Packed(limits, max(0, budget - max(used, default=0)))


@dataclass
class Object:
    """For share(): `item` is its number in the order, None: it has none; `traffic` is its part of all traffic."""
    begin: int
    end: int
    bytes: int
    item: int | None
    traffic: float


def steps(objects: Sequence[Object]) -> list[tuple[int, bool, int]]:
    """Allocations (True) and frees in the order of time, frees first."""
    return sorted([(o.begin, True, i) for i, o in enumerate(objects)] + [(o.end, False, i) for i, o in enumerate(objects)])


def share(objects: Sequence[Object], in_time: Sequence[tuple[int, bool, int]], packed: Packed, budget: int) -> float:
    """The part of the traffic that DRAM serves, when the runtime places these objects by the limits, and the rest as they come."""
    left, rest, limits = budget, packed.rest, list(packed.limits)
    got = [0] * len(objects)
    from_rest = [0] * len(objects)
    served = 0.0
    for _, is_allocated, i in in_time:
        o = objects[i]
        if is_allocated:
            own = 0 if o.item is None else min(o.bytes, limits[o.item], left)
            from_rest[i] = min(o.bytes - own, rest, left - own)
            got[i] = own + from_rest[i]
            served += o.traffic * got[i] / o.bytes
        sign = -1 if is_allocated else 1
        if o.item is not None:
            limits[o.item] += sign * (got[i] - from_rest[i])
        rest += sign * from_rest[i]
        left += sign * got[i]
    return served / (sum(o.traffic for o in objects) or 1)


FIRST_COME = 1 << 62


def first_come(objects: Sequence[Object], in_time: Sequence[tuple[int, bool, int]], budget: int) -> float:
    """The same when all are placed as they come."""
    return share(objects, in_time, Packed([0] * (1 + max((o.item for o in objects if o.item is not None), default=0)), FIRST_COME), budget)
