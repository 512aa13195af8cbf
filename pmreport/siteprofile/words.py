"""Numbers and names as people read them."""
from __future__ import annotations

from siteprofile.compare import Row
from siteprofile.measures import CURVES, LOOPS, PLACES, VALUES
from siteprofile.profiles import Measure, SiteProfile, loop_name

TEXTS = CURVES | VALUES | {loop_name(loop, place): f"{text}; {where}" for loop, text in LOOPS.items() for place, where in PLACES.items()}
HEAD = ("socket", "measure", "threads", "value", "95 % interval", "runs", "other nodes", "in print", "remark")


def number(value: float, unit: str) -> str:
    return f"{value / 1e9:.2f} GB/s" if unit == "B/s" else f"{value / 1000:.0f} ns"


def interval(m: Measure) -> str:
    if m.low is None or m.high is None:
        return ""
    return f"{m.low / 1e9:.2f} to {m.high / 1e9:.2f}" if m.unit == "B/s" else f"{m.low / 1000:.0f} to {m.high / 1000:.0f}"


def remark(m: Measure) -> str:
    return f"assumed: {m.source}" if m.is_assumed else m.source


def socket_text(socket: int | None) -> str:
    return "all" if socket is None else str(socket)


def cells(row: Row) -> tuple[str, ...]:
    m = row.measure
    others = f"{number(row.others, m.unit)}, {row.share:.0%} of it" if row.others and row.share else ""
    return (socket_text(m.socket), TEXTS.get(m.name, m.name), str(m.threads or ""), number(m.value, m.unit), interval(m),
            str(m.samples or ""), others, f"{number(row.printed.value, m.unit)}, {row.printed_in}" if row.printed else "", remark(m))


def title(profile: SiteProfile) -> str:
    return f"{profile.name}, {profile.host}" if profile.host else profile.name


def provenance(profile: SiteProfile) -> list[str]:
    when = [f"measured {profile.date[:10]}" + (f" on {profile.host}" if profile.host else "")] if profile.date else []
    return when + [f"{label}: {text}" for label, text in profile.about]


def place(m: Measure) -> str:
    return TEXTS.get(m.name, m.name) + (f" with {m.threads} thread{'s' if m.threads > 1 else ''}" if m.threads else "")


def outlier_line(node: SiteProfile, socket: int | None, worse: list[Row]) -> str:
    worst = min(worse, key=lambda row: row.goodness)
    all_of_it = sum(m.socket == socket for m in node.measures)
    where = "all sockets at once" if socket is None else f"socket {socket}"
    return (f"{node.host or node.path.name}, {where}: {len(worse)} of {all_of_it} measures are more than a tenth worse than the "
            f"median of the nodes, most of all {place(worst.measure)}: {number(worst.measure.value, worst.measure.unit)}, "
            f"{worst.share:.0%} of it")


def outlier_lines(found: list[tuple[SiteProfile, list[Row]]]) -> list[str]:
    return [outlier_line(node, socket, [row for row in worse if row.measure.socket == socket])
            for node, worse in found for socket in dict.fromkeys(row.measure.socket for row in worse)]
