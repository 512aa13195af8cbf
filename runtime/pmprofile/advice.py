"""What the next run is advised: which sites' objects are worth their rank's DRAM.

Benefit by byte is how often a site's memory is allocated anew, for it is written and read each time; of sites with the
same, small objects come first, of which a program needs more at a time (paper 000, §IV-A: fields before particles). What
small objects below the profile's limit take is left to them.
"""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Mapping

from pmprofile.measure import MIB, Report, Site, peak, span
from pmprofile.records import Frame
from pmprofile.symbols import where

HEAD = "pmadvice 1"


@dataclass
class Choice:
    site: Site
    in_dram: bool
    limit: int | None = None        # bytes, where the site has more


def small_bytes(report: Report) -> int:
    """What small objects take in the rank with most: what they were seen to take, or a killed rank's samples stand for."""
    return max(max(p.slab_bytes, peak(span(o, p) for o in p.objects if o.bytes < p.large_bytes))
               for p in report.profiles)


def choose(report: Report, budget_bytes: int) -> list[Choice]:
    """By benefit, until it is full; the one that does not fit as a whole gets what is left, if that holds one object."""
    left = max(0, budget_bytes - small_bytes(report))
    choices = []
    for site in report.sites:
        if not site.is_large or not site.key:
            continue
        in_dram = site.largest <= left
        choices.append(Choice(site, in_dram, left if in_dram and site.held > left else None))
        left -= min(left, site.held) if in_dram else 0
    return choices


def line(choice: Choice, names: Mapping[Frame, str]) -> str:
    site = choice.site
    tier = "dram" if choice.in_dram else "pmem"
    limit = "" if choice.limit is None else f" {choice.limit}"
    return (f"{tier} {site.key:016x}{limit}  # {site.peak / MIB:.1f}M at most, {site.uses:.1f} uses a byte: "
            f"{where(site.frames, names)}")


def section(report: Report, choices: list[Choice], names: Mapping[Frame, str]) -> str:
    head = f"program {report.build:016x} {os.path.basename(report.program)}"
    return "\n".join([head, *(line(choice, names) for choice in choices)])
