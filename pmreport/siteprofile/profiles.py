"""Site profiles as measures: pmem-profile(5). `pmctl report calibration` has checked each file before."""
from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMAT, VERSION = "slurm-pmem site profile", 1

CURVES = {
    "copy-in": "copy from PMem to DRAM",
    "copy-out": "copy from DRAM to PMem",
    "both-in": "copy from PMem to DRAM while half of the threads copy back",
    "both-out": "copy from DRAM to PMem while half of the threads copy in",
}
PICOSECONDS = {"dram-sequential", "dram-random", "pmem-sequential", "pmem-random"}


class SiteProfileError(Exception):
    """The file is not a site profile. The text is the message for the user."""


@dataclass(frozen=True)
class Measure:
    """A bandwidth in bytes per second or a latency in picoseconds: a point of a curve, or a value."""
    socket: int
    name: str
    threads: int | None  # None: a value
    value: int
    low: int | None  # bounds of the 95 % confidence interval
    high: int | None
    samples: int | None
    source: str  # where it is printed, or what is to be said of it
    is_assumed: bool

    @property
    def unit(self) -> str:
        return "ps" if self.name in PICOSECONDS else "B/s"


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

    def curve(self, socket: int, name: str) -> list[Measure]:
        return [m for m in self.measures if (m.socket, m.name) == (socket, name) and m.threads]

    def sockets(self) -> list[int]:
        return sorted({m.socket for m in self.measures})


def measure(socket: int, name: str, item: dict[str, Any]) -> Measure:
    return Measure(socket, name, item.get("threads"), item["bytes_per_s" if "threads" in item else "value"],
                   item.get("low"), item.get("high"), item.get("samples"), item.get("from", ""), item.get("origin") == "assumed")


def measures(socket: dict[str, Any]) -> list[Measure]:
    number = socket["socket"]
    points = [measure(number, curve["name"], point) for curve in socket.get("curves", []) for point in curve["points"]]
    return points + [measure(number, value["name"], value) for value in socket.get("values", [])]


def parse(path: Path, whole: dict[str, Any]) -> SiteProfile:
    about = tuple((label, whole[label]) for label in ("cpu", "modules", "kernel") if whole.get(label))
    return SiteProfile(path, whole["class"], whole.get("host", ""), whole.get("date", ""), about, whole.get("reference", ""),
                       whole.get("machine") == "virtual", tuple(m for socket in whole["sockets"] for m in measures(socket)))


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
