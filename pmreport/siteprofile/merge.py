"""The profile of a class from those of its nodes, for SiteProfileDir: each number is the median of the nodes'."""
from __future__ import annotations

import json
from dataclasses import replace
from statistics import median_low
from typing import Any

from siteprofile.compare import key
from siteprofile.measures import CURVES, LOOPS, PLACES, VALUES
from siteprofile.profiles import FORMAT, VERSION, Measure, SiteProfile, loop_name

NAMES_MAX = 255


def number_key(measure: Measure) -> str:
    return "value" if measure.name in VALUES else "bytes_per_s"


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


Found = dict[tuple[str, "int | None"], list[Measure]]


def of_most(nodes: list[SiteProfile], socket: int | None) -> Found:
    """What more than half of the nodes have of a socket, by name and threads: a point that one lacks was behind its peak."""
    found: Found = {}
    for node in nodes:
        for m in node.measures:
            if m.socket == socket:
                found.setdefault((m.name, m.threads), []).append(m)
    return {key: measures for key, measures in found.items() if 2 * len(measures) > len(nodes)}


def points_of(found: Found, name: str) -> list[dict[str, Any]]:
    return [merged(found[key]) for key in sorted((k for k in found if k[0] == name), key=lambda k: k[1] or 0)]


def loops_of(found: Found) -> list[dict[str, Any]]:
    loops = [{"loop": loop, "place": place, "points": points_of(found, loop_name(loop, place))} for place in PLACES for loop in LOOPS]
    return [loop for loop in loops if loop["points"]]


def socket_of(nodes: list[SiteProfile], socket: int) -> dict[str, object]:
    found = of_most(nodes, socket)
    curves = {name: rising(points_of(found, name)) for name in CURVES}
    return {"socket": socket, "curves": [{"name": name, "points": points} for name, points in curves.items() if points],
            "values": [{"name": name} | merged(found[name, None]) for name in VALUES if (name, None) in found],
            "loops": loops_of(found)}


def common(nodes: list[SiteProfile]) -> dict[str, str]:
    """What all nodes were measured on."""
    return {label: text for label, text in nodes[0].about if all((label, text) in node.about for node in nodes)}


def of_files(files: list[SiteProfile]) -> SiteProfile:
    """One node; what is in more than one file is taken from the newest."""
    newest = {key(m): m for file in sorted(files, key=lambda file: file.date) for m in file.measures}
    return replace(files[0], measures=tuple(newest.values()), is_virtual=any(file.is_virtual for file in files))


def by_host(profiles: list[SiteProfile]) -> list[SiteProfile]:
    """A node that was measured in several modes has several files."""
    hosts: dict[str, list[SiteProfile]] = {}
    for profile in profiles:
        hosts.setdefault(profile.host or str(profile.path), []).append(profile)
    return [of_files(files) for files in hosts.values()]


def merge(profiles: list[SiteProfile]) -> str:
    nodes = by_host(profiles)
    sockets = sorted({socket for node in nodes for socket in node.sockets() if of_most(nodes, socket)})
    machine = {"machine": "virtual"} if any(node.is_virtual for node in nodes) else {}
    hosts = ",".join(node.host for node in nodes)
    return json.dumps({"format": FORMAT, "version": VERSION, "class": nodes[0].name, **machine, "date": max(node.date for node in nodes),
                       "host": hosts if len(hosts) <= NAMES_MAX else f"{len(nodes)} nodes", **common(nodes),
                       "sockets": [socket_of(nodes, socket) for socket in sockets],
                       "loops": loops_of(of_most(nodes, None))}, indent=1) + "\n"
