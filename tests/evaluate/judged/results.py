"""What follows from the counts of a configuration: its share, its predicted time, and who is ahead of whom."""
from __future__ import annotations

from dataclasses import dataclass

from configurations import CONFIGURATIONS
from meter import time_model

BASE = "dram"
PEERS = ("first touch", "tiering", "memtier ratio", "memtier size", "memory mode")
# Those that a user has without an emulator: the one with exact counts is shown, and not judged.
OURS = ("ours", "ours, advised", "ours, streams")


def share(result: dict) -> float:
    """Of the bytes behind the caches, that DRAM serves."""
    return result["dram"] / (total(result) or 1)


def total(result: dict) -> int:
    return result["dram"] + result["pmem_read"] + result["pmem_written"]


def seconds(result: dict) -> float:
    return time_model.fit().seconds(time_model.Traffic(result["dram"], result["pmem_read"], result["pmem_written"]))


@dataclass(frozen=True)
class One:
    """A configuration of a program. `time` is of all in DRAM; Memory Mode has no share, as it fills DRAM by itself."""
    name: str
    share: float | None
    time: float
    more: float     # traffic, of all in DRAM: 0.1 is a tenth more
    result: dict


def ones(program: dict) -> dict[str, One]:
    """Of a program, in the order of the configurations; those that failed are left out."""
    base, counted = program["configurations"][BASE], program["configurations"]
    return {name: One(name, None if name == "memory mode" else share(result), seconds(result) / seconds(base), total(result) / (total(base) or 1) - 1, result)
            for name, result in ((one.name, counted[one.name]) for one in CONFIGURATIONS if one.name in counted) if not result["status"]}


def failed(program: dict) -> list[str]:
    return [name for name, result in program["configurations"].items() if result["status"]]


def fastest(found: list[One]) -> One | None:
    return min(found, key=lambda one: one.time, default=None)


def best_share(found: list[One]) -> One | None:
    return max((one for one in found if one.share is not None), key=lambda one: one.share, default=None)
