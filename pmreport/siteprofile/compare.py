"""A node beside the other nodes of its class, and beside figures that are printed somewhere."""
from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Iterable

from siteprofile.profiles import Measure, SiteProfile

OUTLIER = 0.9  # of the class's median: a node below has a slow module, or was not alone


@dataclass(frozen=True)
class Row:
    """A measure of the node; the median of those nodes that it is compared with, and what is printed for it."""
    measure: Measure
    others: float | None
    printed: Measure | None

    @property
    def share(self) -> float | None:
        return self.measure.value / self.others if self.others else None

    @property
    def goodness(self) -> float:
        """The share for a bandwidth, its inverse for a latency: less is worse. 1 without other nodes."""
        share = self.share or 1.0
        return share if self.measure.unit == "B/s" else 1 / share


Key = tuple[int, str, "int | None"]


def key(measure: Measure) -> Key:
    return measure.socket, measure.name, measure.threads


def medians(profiles: Iterable[SiteProfile]) -> dict[Key, float]:
    values: dict[Key, list[int]] = {}
    for profile in profiles:
        for m in profile.measures:
            values.setdefault(key(m), []).append(m.value)
    return {found: median(those) for found, those in values.items()}


def in_print(measure: Measure, reference: SiteProfile | None) -> Measure | None:
    """A figure of the same name that is printed, and not assumed. A reference has the same for each socket."""
    found = [m for m in reference.measures if (m.name, m.threads) == (measure.name, measure.threads) and not m.is_assumed] \
        if reference else []
    return found[0] if found else None


def rows(node: SiteProfile, others: list[SiteProfile], reference: SiteProfile | None) -> list[Row]:
    """A node under a hypervisor is not compared with print."""
    printed = None if node.is_virtual else reference
    of_others = medians(others)
    return [Row(m, of_others.get(key(m)), in_print(m, printed)) for m in node.measures]


def outliers(nodes: list[SiteProfile]) -> list[tuple[SiteProfile, list[Row]]]:
    """Nodes that are more than a tenth worse than the median of all, with where. Two nodes say nothing of either."""
    found = [(node, [row for row in rows(node, nodes, None) if row.goodness < OUTLIER]) for node in nodes]
    return [(node, worse) for node, worse in found if worse] if len(nodes) > 2 else []
