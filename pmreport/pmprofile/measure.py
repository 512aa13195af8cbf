"""The report's numbers: objects by iteration, footprints by size and lifetime, call sites."""
from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Callable, Iterable

from pmprofile.accesses import Key, Traffic, nothing, traffic
from pmprofile.lifetimes import Clock, clock, is_short
from pmprofile.packing import peak
from pmprofile.phases import Phase, phases
from pmprofile.records import SPACES, Frame, Object, Profile
from pmprofile.weights import WRITES

MIB = 1 << 20
PMEM = SPACES.index("pmem")
BINS = [0, 1, 2, 4, 8, 16, 32, 64]      # MiB: paper 000, Table II


def footprint(o: Object, profile: Profile) -> int:
    """Bytes of a large object, or the bytes that a sample stands for."""
    return o.bytes if o.bytes >= profile.large_bytes else profile.every_bytes


def held(o: Object, profile: Profile) -> int:
    """The same in whole granules: the memory that the object takes from its tier."""
    size = footprint(o, profile)
    return -(-size // profile.granule_bytes) * profile.granule_bytes


def count(o: Object, profile: Profile) -> float:
    """The number of objects that this one stands for."""
    return footprint(o, profile) / o.bytes


def life(o: Object, profile: Profile) -> tuple[int, int]:
    """Begin and end of its life, at least a nanosecond apart."""
    return o.from_ns, max(o.to_ns or profile.end_ns, o.from_ns + 1)


def span(o: Object, profile: Profile) -> tuple[int, int, int]:
    return *life(o, profile), footprint(o, profile)


@dataclass
class Cell:
    """A cell of paper 000, Table II."""
    objects: float = 0
    accumulated: int = 0
    peak: int = 0


def bin_of(size: int) -> int:
    return max(i for i, low in enumerate(BINS) if size >= low * MIB)


def sizes(profile: Profile, when: Clock) -> dict[tuple[int, bool], Cell]:
    """The cells, by bin of size and by whether the objects are short-lived."""
    groups: dict[tuple[int, bool], list[Object]] = defaultdict(list)
    for o in profile.objects:
        groups[bin_of(o.bytes), is_short(o, when, profile)].append(o)
    return {key: Cell(sum(count(o, profile) for o in objects), sum(footprint(o, profile) for o in objects),
                      peak(span(o, profile) for o in objects)) for key, objects in groups.items()}


def added(tables: Iterable[dict[tuple[int, bool], Cell]]) -> dict[tuple[int, bool], Cell]:
    total: dict[tuple[int, bool], Cell] = defaultdict(Cell)
    for table in tables:
        for key, cell in table.items():
            sum_ = total[key]
            sum_.objects += cell.objects
            sum_.accumulated += cell.accumulated
            sum_.peak += cell.peak
    return dict(total)


def by_iteration(profile: Profile, when: Clock) -> tuple[Counter[int], Counter[int]]:
    """Objects allocated and freed in each iteration: paper 000, Figure 1."""
    allocations: Counter[int] = Counter()
    frees: Counter[int] = Counter()
    for o in profile.objects:
        allocations[when.iteration(o.from_ns)] += count(o, profile)
        if o.to_ns:
            frees[when.iteration(o.to_ns)] += count(o, profile)
    return allocations, frees


@dataclass
class Site:
    """A call site in all ranks; `peak`, `held` and `largest` are each of the rank with the most."""
    key: int
    frames: tuple[Frame, ...]
    is_large: bool
    objects: float = 0
    allocated: int = 0
    peak: int = 0
    held: int = 0                   # the peak in whole granules
    largest: int = 0
    short: float = 0                # of `objects`
    in_dram: int = 0                # of `allocated`
    ranks: int = 0
    first_ns: int = 1 << 63         # the first allocation in any rank
    traffic: Traffic | None = None  # of all ranks; None: not measured

    def costs(self, errors: int = 0) -> float:
        """Traffic of a rank for each byte of the peak, with so many errors of its measurement."""
        if self.traffic is None:
            return self.allocated / self.ranks / self.peak
        accessed = self.traffic.cost * (1 + errors * self.traffic.error)
        return (accessed + self.traffic.allocated * self.allocated) / self.ranks / self.peak

    def is_like(self, other: Site) -> bool:
        """True: it has less, and the measurement does not tell it apart."""
        return self.costs(1) >= other.costs(-1)

    @property
    def worth(self) -> str:
        return f"{self.uses:.1f} uses a byte" if self.traffic is None else f"{self.costs():.1f} accesses a byte"

    @property
    def uses(self) -> float:
        """How often a rank allocates each byte of the peak: each time, the byte is written and read at least once."""
        return self.allocated / self.ranks / self.peak


def add_site(site: Site, objects: list[Object], profile: Profile, when: Clock, measured: dict[Key, Traffic] | None) -> None:
    site.objects += sum(count(o, profile) for o in objects)
    site.allocated += sum(footprint(o, profile) for o in objects)
    site.short += sum(count(o, profile) for o in objects if is_short(o, when, profile))
    site.in_dram += sum(footprint(o, profile) for o in objects if o.space != PMEM)
    site.peak = max(site.peak, peak(span(o, profile) for o in objects))
    site.held = max(site.held, peak((*life(o, profile), held(o, profile)) for o in objects))
    site.largest = max(site.largest, max(held(o, profile) for o in objects))
    site.ranks += 1
    site.first_ns = min(site.first_ns, min(o.from_ns for o in objects))
    if measured is not None:
        site.traffic = site.traffic or nothing(profile)
        for one in (measured[key, site.is_large] for key in {o.site for o in objects} if (key, site.is_large) in measured):
            site.traffic.accessed += one.accessed
            site.traffic.written += one.written
            site.traffic.count += one.count
            site.traffic.weight = one.weight


@dataclass
class Report:
    """All profiles of one program."""
    program: str
    build: int
    profiles: list[Profile]
    clocks: list[Clock] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    table: dict[tuple[int, bool], Cell] = field(default_factory=dict)
    allocations: Counter[int] = field(default_factory=Counter)
    frees: Counter[int] = field(default_factory=Counter)
    phases: list[Phase] = field(default_factory=list)
    traffic: list[dict[Key, Traffic]] = field(default_factory=list)     # of each profile; empty: not measured in each of them

    @property
    def is_measured(self) -> bool:
        return bool(self.traffic)

    @property
    def budget_bytes(self) -> int:
        """The smallest budget of a rank."""
        return min(profile.budget_bytes for profile in self.profiles)

    @property
    def allocated(self) -> int:
        return sum(cell.accumulated for cell in self.table.values())

    @property
    def in_dram(self) -> int:
        """The part of `allocated` that was in DRAM."""
        return sum(site.in_dram for site in self.sites)


Group = Callable[[tuple[Frame, ...]], str]


def all_traffic(profiles: list[Profile], weight: float) -> list[dict[Key, Traffic]]:
    """Of each profile; none if one has not measured them: a site's would be of some ranks only."""
    found = [one for profile in profiles if (one := traffic(profile, weight)) is not None]
    return found if len(found) == len(profiles) else []


def all_sites(profiles: list[Profile], clocks: list[Clock], measured: list[dict[Key, Traffic]], group: Group | None) -> list[Site]:
    """With `group`, sites of which it has the same text are one, which has the frames of the first."""
    sites: dict[tuple[int | str, bool], Site] = {}
    for i, (profile, when) in enumerate(zip(profiles, clocks)):
        groups: dict[tuple[int | str, bool], list[Object]] = defaultdict(list)
        for o in profile.objects:
            groups[group(profile.sites.get(o.site, ())) if group else o.site, o.bytes >= profile.large_bytes].append(o)
        for (which, is_large), objects in groups.items():
            key = objects[0].site
            site = sites.setdefault((which, is_large), Site(key, profile.sites.get(key, ()), is_large))
            add_site(site, objects, profile, when, measured[i] if measured else None)
    return sorted(sites.values(), key=lambda site: (-(site.costs() if measured else site.uses), site.largest, site.key))


def report(profiles: list[Profile], group: Group | None = None, weight: float = WRITES) -> Report:
    clocks, measured = [clock(profile) for profile in profiles], all_traffic(profiles, weight)
    result = Report(profiles[0].program, profiles[0].build, profiles, clocks, all_sites(profiles, clocks, measured, group),
                    added(sizes(*both) for both in zip(profiles, clocks)), phases=phases(profiles), traffic=measured)
    for profile, when in zip(profiles, clocks):
        allocations, frees = by_iteration(profile, when)
        result.allocations += allocations
        result.frees += frees
    return result


def reports(profiles: list[Profile], group: Group | None = None, weight: float = WRITES) -> list[Report]:
    """A report for each program; the program with most bytes comes first. `weight` is that of a written byte."""
    groups: dict[tuple[int, str], list[Profile]] = defaultdict(list)
    for profile in profiles:
        groups[profile.build, profile.program].append(profile)
    return sorted((report(of_one, group, weight) for of_one in groups.values()), key=lambda r: -r.allocated)
