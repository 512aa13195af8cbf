"""A node beside the other nodes of its class, and beside figures that are printed somewhere."""
from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Iterable

from siteprofile.profiles import Measure, SiteProfile

OUTLIER = 0.9  # of the class's median: a node below has a slow module, or was not alone


@dataclass(frozen=True)
class Row:
    """A measure of the node; the median of those nodes that it is compared with, and what is printed for it, with the reference."""
    measure: Measure
    others: float | None
    printed: Measure | None
    printed_in: str

    @property
    def share(self) -> float | None:
        return self.measure.value / self.others if self.others else None

    @property
    def goodness(self) -> float:
        """The share for a bandwidth, its inverse for a latency: less is worse. 1 without other nodes."""
        share = self.share or 1.0
        return share if self.measure.unit == "B/s" else 1 / share


Key = tuple["int | None", str, "int | None"]


def key(measure: Measure) -> Key:
    return measure.socket, measure.name, measure.threads


def medians(profiles: Iterable[SiteProfile]) -> dict[Key, float]:
    values: dict[Key, list[int]] = {}
    for profile in profiles:
        for m in profile.measures:
            values.setdefault(key(m), []).append(m.value)
    return {found: median(those) for found, those in values.items()}


def in_print(measure: Measure, has_most_threads: bool, reference: SiteProfile) -> Measure | None:
    """A figure of the same name that is printed, and not assumed. A reference has the same for each socket. Where it does not say
    with how many threads, it is compared with what the most reach."""
    def is_same(m: Measure) -> bool:
        return (m.name == measure.name and (m.socket is None) == (measure.socket is None) and not m.is_assumed
                and (m.threads == measure.threads or (m.threads is None and has_most_threads)))
    return next((m for m in reference.measures if is_same(m)), None)


def rows(node: SiteProfile, others: list[SiteProfile], references: list[SiteProfile]) -> list[Row]:
    """The first reference that has a figure is the one. A node under a hypervisor is not compared with print."""
    of_others = medians(others)
    most = {(m.socket, m.name): m.threads for m in sorted(node.measures, key=lambda m: m.threads or 0)}

    def row(m: Measure) -> Row:
        found = [(in_print(m, most[m.socket, m.name] == m.threads, reference), reference.name)
                 for reference in references if not node.is_virtual]
        printed, name = next(((p, name) for p, name in found if p), (None, ""))
        return Row(m, of_others.get(key(m)), printed, name)
    return [row(m) for m in node.measures]


def outliers(nodes: list[SiteProfile]) -> list[tuple[SiteProfile, list[Row]]]:
    """Nodes that are more than a tenth worse than the median of all, with where. Two nodes say nothing of either."""
    found = [(node, [row for row in rows(node, nodes, []) if row.goodness < OUTLIER]) for node in nodes]
    return [(node, worse) for node, worse in found if worse] if len(nodes) > 2 else []
