"""How much of the traffic each call site has, estimated from the accesses in a profile.

A burst tells in how many of its epochs a page was accessed, a window how many bytes samples stand for. Each stands for the time from
its begin to the next one's. To pages that are looked at allocated bytes are added: they are written at least once, also if the
object is freed before an epoch ends. Samples have these writes among the others.
"""
from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import sqrt

from pmprofile.records import BURSTS, Profile
from pmprofile.weights import WRITES

Key = tuple[int, bool]      # a site's key, and whether its objects are large


@dataclass
class Traffic:
    """Bytes of pages that were accessed, and of these, that were written, over all epochs that fit into the run. written is 0 where
    the kernel does not tell."""
    accessed: int = 0
    written: int = 0
    count: int = 0          # epochs, or samples
    weight: float = WRITES  # bytes read from the slow tier that a byte written to it costs
    allocated: float = 1    # what an allocated byte adds

    @property
    def error(self) -> float:
        """Of what was accessed, as a part of it: two standard deviations of a count."""
        return min(1.0, 2 / sqrt(self.count)) if self.count else 1.0

    @property
    def cost(self) -> float:
        return self.accessed + (self.weight - 1) * self.written


def nothing(profile: Profile, weight: float = WRITES) -> Traffic:
    """Of a site without accesses in a profile that has a source of them."""
    return Traffic(weight=weight, allocated=float(profile.source.kind == BURSTS))


def spans(profile: Profile) -> dict[int, float]:
    """By burst or window: how many times it fits into the time that it stands for. The first one stands for what was before it, too."""
    bursts = sorted({(a.from_ns, a.burst, a.length_ns) for a in profile.accesses})
    begins = [0, *(begin for begin, _, _ in bursts[1:]), max(profile.end_ns, bursts[-1][0] if bursts else 0)]
    return {number: (end - begin) / max(1, length) for (_, number, length), begin, end in zip(bursts, begins, begins[1:])}


def traffic(profile: Profile, weight: float = WRITES) -> dict[Key, Traffic] | None:
    """None: not measured."""
    if profile.source is None:
        return None
    weights = spans(profile)
    found: dict[Key, Traffic] = defaultdict(lambda: nothing(profile, weight))
    for a in profile.accesses:
        sum_ = found[a.site, bool(a.is_large)]
        sum_.accessed += round(weights[a.burst] * a.read_bytes)
        sum_.written += round(weights[a.burst] * min(a.written_bytes or 0, a.read_bytes))
        sum_.count = profile.source.count if profile.source.kind == BURSTS else sum_.count + a.count
    return found
