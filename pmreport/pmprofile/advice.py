"""Advice for the next run: the call sites with objects that are worth DRAM.

The benefit of a byte is the number of times that its site allocates it anew, since it is written and read each time. Of
sites with the same benefit, the site with smaller objects comes first (paper 000, §IV-A: fields before particles). Objects
below the profile's limit have advice of their own only if their site has enough samples. The other ones, and jemalloc's own
memory, get a part of the budget first.
"""
from __future__ import annotations

import os
import struct
from collections import Counter
from dataclasses import dataclass
from typing import Collection

from pmprofile.measure import MIB, Report, Site, peak, span
from pmprofile.records import SITE_FRAMES, Frame, Profile
from pmprofile.symbols import Names

HEAD = "pmadvice 1"
SAMPLES = 4


@dataclass
class Choice:
    site: Site
    in_dram: bool
    limit: int | None = None        # bytes, if not all of the site's objects fit


def is_known(site: Site, report: Report) -> bool:
    """True: the site has a key and, if its objects are small, enough samples."""
    return bool(site.key) and (site.is_large or site.held >= SAMPLES * report.profiles[0].every_bytes)


def held_by_small(p: Profile, but: Collection[int] = ()) -> int:
    """The peak of live bytes of small objects, except objects of the sites `but`."""
    return peak(span(o, p) for o in p.objects if o.bytes < p.large_bytes and o.site not in but)


def slack(p: Profile) -> float:
    """Bytes of slabs for a byte of small objects: jemalloc rounds sizes up, and keeps memory that was freed."""
    return max(1.0, (p.slab_bytes - p.first_slab_bytes) / (held_by_small(p) or 1))


def others_bytes(report: Report) -> int:
    """Bytes that small objects of unknown sites take, in the rank with most of them."""
    known = {site.key for site in report.sites if not site.is_large and is_known(site, report)}
    return max(round(p.first_slab_bytes + slack(p) * held_by_small(p, known)) for p in report.profiles)


def choose(report: Report, budget_bytes: int) -> list[Choice]:
    """Fills the budget by benefit. If a site's large objects do not all fit, they get the rest, if one of them fits."""
    left = max(0, budget_bytes - others_bytes(report))
    looseness = max(slack(p) for p in report.profiles)
    choices = []
    for site in report.sites:
        if not is_known(site, report):
            continue
        held = site.held if site.is_large else round(site.held * looseness)
        in_dram = (site.largest if site.is_large else held) <= left
        choices.append(Choice(site, in_dram, left if in_dram and held > left else None))
        left -= min(left, held) if in_dram else 0
    return choices


def key(frames: tuple[Frame, ...]) -> int:
    """The runtime's key of a call site: FNV-1a of builds and offsets."""
    found = 0xcbf29ce484222325
    for byte in b"".join(struct.pack("<QQ", frame.build, frame.offset) for frame in frames):
        found = (found ^ byte) * 0x100000001b3 % (1 << 64)
    return found


def shortest_keys(sites: list[Site]) -> dict[int, int]:
    """The key that the runtime is told of each site with large objects: of its three innermost frames, or of as many as tell it apart."""
    shared = Counter(frames for site in sites for frames in {site.frames[:n] for n in range(SITE_FRAMES, len(site.frames) + 1)})
    found = {}
    for site in sites:
        fewer = (site.frames[:n] for n in range(SITE_FRAMES, len(site.frames)))
        found[site.key] = next((key(frames) for frames in fewer if shared[frames] == 1), site.key)
    return found


def line(choice: Choice, names: Names, keys: dict[int, int]) -> str:
    site = choice.site
    tier = "dram" if choice.in_dram else "pmem"
    limit = "" if choice.limit is None else f" {choice.limit}"
    if not site.is_large:
        limit = f" small {key(site.frames[:1]):016x}"
    told = keys.get(site.key, site.key) if site.is_large else site.key
    return (f"{tier} {told:016x}{limit}  # {site.peak / MIB:.1f}M at most, {site.uses:.1f} uses a byte: "
            f"{names[site.frames]}")


def section(report: Report, choices: list[Choice], names: Names) -> str:
    head = f"program {report.build:016x} {os.path.basename(report.program)}"
    said = [choice for choice in choices if choice.site.is_large or not choice.in_dram]
    keys = shortest_keys([site for site in report.sites if site.is_large and site.key])
    return "\n".join([head, *(line(choice, names, keys) for choice in said)])
