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


def same(one: Measure, other: Measure) -> bool:
    return (one.socket, one.name, one.threads) == (other.socket, other.name, other.threads)


def of_others(measure: Measure, others: Iterable[SiteProfile]) -> float | None:
    values = [m.value for profile in others for m in profile.measures if same(m, measure)]
    return median(values) if values else None


def in_print(measure: Measure, reference: SiteProfile | None) -> Measure | None:
    """A figure of the same name that is printed, and not assumed. A reference has the same for each socket."""
    found = [m for m in reference.measures if (m.name, m.threads) == (measure.name, measure.threads) and not m.is_assumed] \
        if reference else []
    return found[0] if found else None


def rows(node: SiteProfile, others: list[SiteProfile], reference: SiteProfile | None) -> list[Row]:
    """A node under a hypervisor is not compared with print."""
    printed = None if node.is_virtual else reference
    return [Row(m, of_others(m, others), in_print(m, printed)) for m in node.measures]


def is_worse(row: Row) -> bool:
    share = row.share
    if share is None:
        return False
    return share < OUTLIER if row.measure.unit == "B/s" else share > 1 / OUTLIER


def outliers(nodes: list[SiteProfile]) -> list[tuple[SiteProfile, list[Row]]]:
    """Nodes that are more than a tenth worse than the median of all, with where. Two nodes say nothing of either."""
    found = [(node, [row for row in rows(node, nodes, None) if is_worse(row)]) for node in nodes]
    return [(node, worse) for node, worse in found if worse] if len(nodes) > 2 else []
