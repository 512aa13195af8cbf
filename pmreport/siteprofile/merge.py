"""The profile of a class from those of its nodes, for SiteProfileDir: each number is the median of the nodes'."""
from __future__ import annotations

import json
from statistics import median_low
from typing import Any

from siteprofile.profiles import CURVES, FORMAT, VERSION, Measure, SiteProfile

NAMES_MAX = 255


def number_key(measure: Measure) -> str:
    return "bytes_per_s" if measure.threads else "value"


def merged(measures: list[Measure]) -> dict[str, Any]:
    """low and high are those of all nodes. The median is a number that some node has."""
    first = measures[0]
    threads = {"threads": first.threads} if first.threads else {}
    return {**threads, number_key(first): median_low(m.value for m in measures),
            "low": min(m.low or m.value for m in measures), "high": max(m.high or m.value for m in measures),
            "samples": len(measures), "from": f"median of {len(measures)} nodes"}


def rising(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A curve ends at its peak; medians of different nodes may fall."""
    kept: list[dict[str, Any]] = []
    for point in points:
        if not kept or point["bytes_per_s"] >= kept[-1]["bytes_per_s"]:
            kept.append(point)
    return kept


def of_most(nodes: list[SiteProfile], socket: int) -> dict[tuple[str, int | None], list[Measure]]:
    """What more than half of the nodes have of a socket, by name and threads: a point that one lacks was behind its peak."""
    found: dict[tuple[str, int | None], list[Measure]] = {}
    for node in nodes:
        for m in node.measures:
            if m.socket == socket:
                found.setdefault((m.name, m.threads), []).append(m)
    return {key: measures for key, measures in found.items() if 2 * len(measures) > len(nodes)}


def socket_of(nodes: list[SiteProfile], socket: int) -> dict[str, object]:
    found = of_most(nodes, socket)
    curves = {name: rising([merged(found[key]) for key in sorted((k for k in found if k[0] == name), key=lambda k: k[1] or 0)])
              for name in CURVES}
    return {"socket": socket, "curves": [{"name": name, "points": points} for name, points in curves.items() if points],
            "values": [{"name": name} | merged(measures) for (name, threads), measures in found.items() if threads is None]}


def common(nodes: list[SiteProfile]) -> dict[str, str]:
    """What all nodes were measured on."""
    return {label: text for label, text in nodes[0].about if all((label, text) in node.about for node in nodes)}


def merge(nodes: list[SiteProfile]) -> str:
    sockets = sorted({socket for node in nodes for socket in node.sockets() if of_most(nodes, socket)})
    machine = {"machine": "virtual"} if any(node.is_virtual for node in nodes) else {}
    hosts = ",".join(node.host for node in nodes)
    return json.dumps({"format": FORMAT, "version": VERSION, "class": nodes[0].name, **machine, "date": max(node.date for node in nodes),
                       "host": hosts if len(hosts) <= NAMES_MAX else f"{len(nodes)} nodes", **common(nodes),
                       "sockets": [socket_of(nodes, socket) for socket in sockets]}, indent=1) + "\n"
