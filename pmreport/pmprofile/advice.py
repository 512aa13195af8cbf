"""What the next run is advised: which sites' objects are worth their rank's DRAM.

Benefit by byte is how often a site's memory is allocated anew, for it is written and read each time; of sites with the
same, small objects come first, of which a program needs more at a time (paper 000, §IV-A: fields before particles). Of
small objects below the profile's limit only sites of which there are some samples are told apart; the others, and what
jemalloc needs for itself, have their part of the budget.
"""
from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import Collection, Mapping

from pmprofile.measure import MIB, Report, Site, peak, span
from pmprofile.records import Frame, Profile
from pmprofile.symbols import where

HEAD = "pmadvice 1"
SAMPLES = 4


@dataclass
class Choice:
    site: Site
    in_dram: bool
    limit: int | None = None        # bytes, where the site has more


def is_known(site: Site, report: Report) -> bool:
    """Is it more than a chance of sampling?"""
    return bool(site.key) and (site.is_large or site.held >= SAMPLES * report.profiles[0].every_bytes)


def held_by_small(p: Profile, but: Collection[int] = ()) -> int:
    """The peak of small objects, but those of some sites."""
    return peak(span(o, p) for o in p.objects if o.bytes < p.large_bytes and o.site not in but)


def slack(p: Profile) -> float:
    """What small objects take, of what they are: jemalloc's classes, and what it has got back and not used again."""
    return max(1.0, (p.slab_bytes - p.first_slab_bytes) / (held_by_small(p) or 1))


def others_bytes(report: Report) -> int:
    """What small objects of no known site take in the rank with most."""
    known = {site.key for site in report.sites if not site.is_large and is_known(site, report)}
    return max(round(p.first_slab_bytes + slack(p) * held_by_small(p, known)) for p in report.profiles)


def choose(report: Report, budget_bytes: int) -> list[Choice]:
    """By benefit, until it is full; large objects of a site that does not fit get what is left, if that holds one."""
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
    """As the runtime makes it: FNV-1a of builds and offsets."""
    found = 0xcbf29ce484222325
    for byte in b"".join(struct.pack("<QQ", frame.build, frame.offset) for frame in frames):
        found = (found ^ byte) * 0x100000001b3 % (1 << 64)
    return found


def line(choice: Choice, names: Mapping[Frame, str]) -> str:
    site = choice.site
    tier = "dram" if choice.in_dram else "pmem"
    limit = "" if choice.limit is None else f" {choice.limit}"
    if not site.is_large:
        limit = f" small {key(site.frames[:1]):016x}"
    return (f"{tier} {site.key:016x}{limit}  # {site.peak / MIB:.1f}M at most, {site.uses:.1f} uses a byte: "
            f"{where(site.frames, names)}")


def section(report: Report, choices: list[Choice], names: Mapping[Frame, str]) -> str:
    head = f"program {report.build:016x} {os.path.basename(report.program)}"
    said = [choice for choice in choices if choice.site.is_large or not choice.in_dram]
    return "\n".join([head, *(line(choice, names) for choice in said)])
