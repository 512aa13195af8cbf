"""Accesses that an emulator has counted, in the place of a profile's own: a table of `pmmeter program --out`.

The counted run may have a smaller input. So a site's counts are taken for each byte that it holds at most, and stand for as many bytes as
it holds at most in the profile.
"""
from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from pmprofile import records
from pmprofile.measure import span
from pmprofile.packing import peak
from pmprofile.records import SITE_FRAMES, Accesses, Profile, ProfileError, Source, site_key

LINE = 64
COLUMNS = ("site", "size", "sa", "sf", "fillr", "fillw", "wb", "nt")


@dataclass
class Counted:
    """Of one site in the counted run. Its peak is of bytes that are live at once."""

    read_bytes: int
    written_bytes: int
    peak: int

    @property
    def lines(self) -> int:
        return (self.read_bytes + self.written_bytes) // LINE


Counts = dict[int, Counted]     # by the site's key


def rows_of(path: Path) -> list[dict[str, int]]:
    try:
        with open(path, encoding="ascii", newline="") as file:
            return [{name: int(row[name], 16 if name == "site" else 10) for name in COLUMNS} for row in csv.DictReader(file)]
    except OSError as error:
        raise ProfileError(f"'{path}': {error.strerror}") from None
    except (KeyError, TypeError, ValueError):
        raise ProfileError(f"'{path}' is not a table of objects: pmmeter program --out=FILE writes one") from None


def read(path: Path) -> Counts:
    """Lines that the last-level cache reads, and what is written behind it. The first row is of no object."""
    found: dict[int, list[dict[str, int]]] = defaultdict(list)
    rows = rows_of(path)[1:]
    end = 1 + max((max(row["sa"], row["sf"]) for row in rows), default=0)
    for row in rows:
        found[row["site"]].append(row)
    return {key: Counted(sum(LINE * (row["fillr"] + row["fillw"]) for row in of_site), sum(LINE * row["wb"] + row["nt"] for row in of_site),
                         peak((row["sa"], max(row["sf"] or end, row["sa"] + 1), row["size"]) for row in of_site))
            for key, of_site in found.items()}


def found_for(profile: Profile, key: int, counts: Counts) -> Counted | None:
    """A large object's site may have small objects in a counted run with a smaller input: these have the key of fewer frames."""
    return counts.get(key) or counts.get(site_key(profile.sites.get(key, ())[:SITE_FRAMES]))


def apply(profile: Profile, counts: Counts) -> None:
    """Small objects of a site that was not counted become those of an unknown site; a large one's has no accesses."""
    spans: dict[tuple[int, bool], list[tuple[int, int, int]]] = defaultdict(list)
    for o in profile.objects:
        spans[o.site, o.bytes >= profile.large_bytes].append(span(o, profile))
    counted = {which: found_for(profile, which[0], counts) for which in spans}
    profile.objects = [o if o.bytes >= profile.large_bytes or counted[o.site, False] else o._replace(site=0) for o in profile.objects]
    profile.accesses = [
        Accesses(1, site, 0, 0, 0, max(1, profile.end_ns), int(is_large), round((one.read_bytes + one.written_bytes) * ratio),
                 round(one.written_bytes * ratio), one.lines)
        for (site, is_large), one in counted.items() if one
        for ratio in [peak(spans[site, is_large]) / one.peak]]
    profile.source = Source(records.COUNTS, 0, 0, 0, 0, 0, 0, 0, sum(one.lines for one in counts.values()), 0, 0)


def match(profiles: list[Profile], counts: Counts) -> None:
    """A table of another program has none of the profiles' sites."""
    if not any(found_for(profile, key, counts) for profile in profiles for key in profile.sites):
        raise ProfileError("the table and the profile have no call site in common: were both written by the same build of the program?")
    for profile in profiles:
        apply(profile, counts)
