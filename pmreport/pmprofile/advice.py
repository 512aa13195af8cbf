"""Advice for the next run: how many bytes of DRAM the objects of each call site get, for any budget.

Sites take DRAM in the order of their traffic for each byte that they hold at their peak, or of their objects' sizes where the
measurement does not tell them apart (paper 000, IV-A: fields before particles); where no accesses were measured, in the order of
their first allocation. Objects below the profile's limit have advice of their own only if their site has enough samples.
The other ones, and jemalloc's own memory, get a part of the budget first.
"""
from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Collection, Iterable

from pmprofile.accesses import Key, Traffic, nothing
from pmprofile.measure import MIB, Report, Site, held, life, span
from pmprofile.packing import Items, Levels, Object, Packed, Span, first_come, levels, moments, peak, share, steps
from pmprofile.records import BURSTS, SITE_FRAMES, Profile, site_key
from pmprofile.symbols import Names

HEAD = "pmadvice 2"
SAMPLES = 4
COLUMNS = 17            # of the advice: the bytes that all objects hold, and so many parts of them, each by the fourth root of two less


@dataclass
class Choice:
    site: Site
    in_dram: bool
    limit: int | None = None        # bytes, if not all of the site's objects fit


def is_known(site: Site, report: Report) -> bool:
    """True: the site has a key and, if its objects are small, enough samples."""
    return bool(site.key) and (site.is_large or site.held >= SAMPLES * report.profiles[0].every_bytes)


def held_by_small(p: Profile, but: Collection[int] = ()) -> int:
    """The peak of live bytes of small objects, except objects of the sites `but`."""
    return peak(span(o, p) for o in p.objects if o.bytes < p.large_bytes and o.site not in but)


def slack(p: Profile) -> float:
    """Bytes of slabs for a byte of small objects: jemalloc rounds sizes up, and keeps memory that was freed."""
    return max(1.0, (p.slab_bytes - p.first_slab_bytes) / (held_by_small(p) or 1))


def others_bytes(report: Report) -> int:
    """Bytes that small objects of unknown sites take, in the rank with most of them."""
    known = {site.key for site in report.sites if not site.is_large and is_known(site, report)}
    return max(round(p.first_slab_bytes + slack(p) * held_by_small(p, known)) for p in report.profiles)


def ranked(sites: list[Site]) -> list[Site]:
    """By traffic for each byte, as estimated: any other order of sites that samples do not tell apart serves less."""
    return sorted(sites, key=lambda site: (-site.costs(), site.largest, site.key))


def ranked_by_pages(sites: list[Site]) -> list[Site]:
    """The same for looks at pages; but sites that are not told apart from the first of them go by size. Of a page it is known whether
    it was accessed in an epoch, not how often, so that a hot small site and a large one look alike: this one costs less DRAM."""
    left = ranked(sites)
    found: list[Site] = []
    while left:
        alike = [site for site in left if site is left[0] or site.is_like(left[0])]
        found += sorted(alike, key=lambda site: (site.largest, site.key))
        left = [site for site in left if site not in alike]
    return found


def order(report: Report) -> list[Site]:
    known = [site for site in report.sites if is_known(site, report)]
    if report.is_measured:
        return ranked_by_pages(known) if any(p.source.kind == BURSTS for p in report.profiles) else ranked(known)
    return sorted(known, key=lambda site: (site.first_ns, site.key))


class Plan:
    """A report's sites in their order, and the levels of each in the process that holds most."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.sites = order(report)
        self.profile = max(report.profiles, key=lambda p: peak((*life(o, p), held(o, p)) for o in p.objects))
        self.others = others_bytes(report)
        self.looseness = max(slack(p) for p in report.profiles)
        self.index = {(site.key, site.is_large): i for i, site in enumerate(self.sites)}

    def bytes_of(self, site: Site) -> int:
        """What it holds at its peak, in the rank that has most."""
        return site.held if site.is_large else round(site.held * self.looseness)

    @cached_property
    def items(self) -> Items:
        """Levels are scaled to the rank that has most of a site. One without objects in this process counts for all of the run."""
        found: dict[int, list[Span]] = {}
        for o in self.profile.objects:
            number = self.index.get((o.site, o.bytes >= self.profile.large_bytes))
            if number is not None:
                found.setdefault(number, []).append((*life(o, self.profile), held(o, self.profile)))
        times = moments(one for spans in found.values() for one in spans) or [0]
        return Items([self.scaled(levels(found.get(i) or [(times[0], times[-1] + 1, 1)], times), site) for i, site in enumerate(self.sites)],
                     {i for i, site in enumerate(self.sites) if not site.is_large})

    def scaled(self, found: Levels, site: Site) -> Levels:
        ratio = self.bytes_of(site) / found.peak
        return Levels(found.first, [round(level * ratio) for level in found.bytes])

    @cached_property
    def objects(self) -> list[Object]:
        """Those of this process, with their parts of the traffic: a site's, by bytes and by lifetime or by allocation."""
        p, sums = self.profile, Counter[Key]()
        measured = self.report.traffic[self.report.profiles.index(p)] if self.report.is_measured else {}
        for o in p.objects:
            begin, end = life(o, p)
            sums[o.site, o.bytes >= p.large_bytes] += held(o, p) * (end - begin)
        found = []
        unseen = nothing(p) if measured else Traffic()
        for o in p.objects:
            key, (begin, end), size = (o.site, o.bytes >= p.large_bytes), life(o, p), held(o, p)
            if key[1] or key in self.index:     # small objects of unknown sites have their own part of the budget
                traffic = unseen.allocated * size + measured.get(key, unseen).cost * size * (end - begin) / sums[key]
                found.append(Object(begin, end, size, self.index.get(key), traffic))
        return found

    def left(self, budget: int) -> int:
        """What a budget has besides small objects of unknown sites. They are kept half of it at most: they may be cold, and large
        objects that are known to be hot would have nothing."""
        return max(0, budget - min(self.others, budget // 2))

    def budget_of(self, left: int) -> int:
        """The budget that has so much left."""
        return left + min(self.others, left)

    def pack(self, budget: int) -> Packed:
        return self.items.pack(self.left(budget))

    @cached_property
    def all_bytes(self) -> int:
        """The budget from which on all that is known has room."""
        return self.others + peak((o.begin, o.end, o.bytes) for o in self.objects)

    @cached_property
    def data_bytes(self) -> int:
        """What large objects hold at most."""
        p = self.profile
        return peak((*life(o, p), held(o, p)) for o in p.objects if o.bytes >= p.large_bytes)

    @cached_property
    def steps(self) -> list[tuple[int, bool, int]]:
        return steps(self.objects)

    def share(self, budget: int) -> float:
        """The part of the counted traffic that a budget serves, as advised."""
        return share(self.objects, self.steps, self.pack(budget), self.left(budget))

    def first_come(self, budget: int) -> float:
        return first_come(self.objects, self.steps, self.left(budget))

    def budgets(self, budget: int) -> list[int]:
        """The columns of the advice: this budget, and others from a 16th of all bytes to all of them."""
        return sorted({budget, *(round(self.all_bytes * 2 ** (-i / 4)) for i in range(COLUMNS))})

    @cached_property
    def curve(self) -> list[tuple[int, float]]:
        """Budgets, and the part of the counted traffic that each serves."""
        return [(budget, self.share(budget)) for budget in self.budgets(self.report.budget_bytes)]


def choose(plan: Plan, budget: int) -> list[Choice]:
    """What each site gets of a budget."""
    return [Choice(site, limit > 0, limit if 0 < limit < plan.bytes_of(site) else None)
            for site, limit in zip(plan.sites, plan.pack(budget).limits)]


def shortest_keys(sites: list[Site]) -> dict[int, int]:
    """The key that the runtime is told of each site with large objects: of its three innermost frames, or of as many as tell it apart."""
    shared = Counter(frames for site in sites for frames in {site.frames[:n] for n in range(SITE_FRAMES, len(site.frames) + 1)})
    found = {}
    for site in sites:
        fewer = (site.frames[:n] for n in range(SITE_FRAMES, len(site.frames)))
        found[site.key] = next((site_key(frames) for frames in fewer if shared[frames] == 1), site.key)
    return found


def line(site: Site, limits: list[int], names: Names, keys: dict[int, int]) -> str:
    told = f"site {keys.get(site.key, site.key):016x}" if site.is_large else f"small {site.key:016x} {site_key(site.frames[:1]):016x}"
    return f"{told} {' '.join(map(str, limits))}  # {site.peak / MIB:.1f}M at most, {site.worth}: {names[site.frames]}"


def scaled_budget(plan: Plan, budget: int, scale: float) -> int:
    """The budget for large objects of `scale` times the size; small ones need as much as before."""
    return plan.budget_of(round(plan.left(budget) * scale))


def section(plan: Plan, budget: int, names: Names, data: int | None = None) -> str:
    """For a run of which the large objects hold `data` bytes at most: each site then holds as much more or less."""
    report, scale = plan.report, 1 if data is None else data / (plan.data_bytes or 1)
    budgets = plan.budgets(budget if data is None else scaled_budget(plan, budget, 1 / scale))
    packed = [plan.pack(one) for one in budgets]
    keys = shortest_keys([site for site in report.sites if site.is_large and site.key])

    def scaled(sizes: Iterable[int]) -> list[int]:
        return [round(size * scale) for size in sizes]
    told = budgets if data is None else [scaled_budget(plan, one, scale) for one in budgets]
    return "\n".join([f"program {report.build:016x} {os.path.basename(report.program)}",
                      *["# accesses were not measured: sites are in the order of their first allocation"] * (not report.is_measured),
                      f"data {round(plan.data_bytes * scale)}  # bytes that large objects hold at most",
                      f"budgets {' '.join(map(str, told))}",
                      f"rest {' '.join(map(str, scaled(one.rest for one in packed)))}",
                      *(line(site, scaled(one.limits[i] for one in packed), names, keys) for i, site in enumerate(plan.sites))])
