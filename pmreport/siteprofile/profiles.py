"""Site profiles as measures: pmem-profile(5). `pmctl report calibration` has checked each file before."""
from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from siteprofile.measures import LATENCIES

FORMAT, VERSION = "slurm-pmem site profile", 1


class SiteProfileError(Exception):
    """The file is not a site profile. The text is the message for the user."""


@dataclass(frozen=True)
class Measure:
    """A bandwidth in bytes per second or a latency in picoseconds: a point of a curve or of a loop, or a value."""
    socket: int | None  # None: all sockets at once
    name: str  # of a loop with its place: "triad at pmem"
    threads: int | None  # None: a value, or all cores
    value: int
    low: int | None  # bounds of the 95 % confidence interval
    high: int | None
    samples: int | None
    source: str  # where it is printed, or what is to be said of it
    is_assumed: bool

    @property
    def unit(self) -> str:
        return "ps" if self.name in LATENCIES else "B/s"


@dataclass(frozen=True)
class SiteProfile:
    path: Path
    name: str  # of the class
    host: str
    date: str
    about: tuple[tuple[str, str], ...]  # what it was measured on: label and text
    reference: str  # "": it was measured
    is_virtual: bool
    measures: tuple[Measure, ...]

    def curve(self, socket: int | None, name: str) -> list[Measure]:
        return [m for m in self.measures if (m.socket, m.name) == (socket, name) and m.threads]

    def sockets(self) -> list[int]:
        return sorted({m.socket for m in self.measures if m.socket is not None})


def loop_name(loop: str, place: str) -> str:
    return f"{loop} at {place}"


def measure(socket: int | None, name: str, item: dict[str, Any]) -> Measure:
    return Measure(socket, name, item.get("threads"), item["bytes_per_s" if "bytes_per_s" in item else "value"],
                   item.get("low"), item.get("high"), item.get("samples"), item.get("from", ""), item.get("origin") == "assumed")


def of_loops(socket: int | None, loops: list[dict[str, Any]]) -> list[Measure]:
    return [measure(socket, loop_name(loop["loop"], loop["place"]), point) for loop in loops for point in loop["points"]]


def measures(socket: dict[str, Any]) -> list[Measure]:
    number = socket["socket"]
    points = [measure(number, curve["name"], point) for curve in socket.get("curves", []) for point in curve["points"]]
    values = [measure(number, value["name"], value) for value in socket.get("values", [])]
    return points + values + of_loops(number, socket.get("loops", []))


def parse(path: Path, whole: dict[str, Any]) -> SiteProfile:
    about = tuple((label, whole[label]) for label in ("cpu", "modules", "kernel") if whole.get(label))
    return SiteProfile(path, whole["class"], whole.get("host", ""), whole.get("date", ""), about, whole.get("reference", ""),
                       whole.get("machine") == "virtual",
                       tuple([m for socket in whole["sockets"] for m in measures(socket)] + of_loops(None, whole.get("loops", []))))


def read(path: Path) -> SiteProfile:
    try:
        whole = json.loads(path.read_text())
        if (whole["format"], whole["version"]) != (FORMAT, VERSION):
            raise SiteProfileError(f"'{path}' is not a site profile of version {VERSION}")
        return parse(path, whole)
    except OSError as error:
        raise SiteProfileError(f"read '{path}': {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise SiteProfileError(f"'{path}' is not a site profile: {error}; see pmem-profile(5)") from None
