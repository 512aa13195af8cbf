"""Counts one program under QEMU's user mode: the traffic of each of its objects."""
from __future__ import annotations

import csv
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Sequence

from meter.errors import MeterError, plugin

EMULATOR = "qemu-x86_64"
CPU = "max,-erms,-fsrm"     # without "fast string" instructions, which copy byte by byte here
COLUMNS = ("size", "sa", "sf", "ta", "tf", "rawr", "raww", "fillr", "fillw", "wb", "nt", "ref1", "wr1", "l1r", "l1w")


@dataclass(frozen=True)
class Caches:
    """Sizes as BYTES:WAYS. The last one decides what reaches memory; the first only tells what misses it."""

    last: str = f"{512 << 10}:8"
    first: str = f"{48 << 10}:12"


def count(command: Sequence[str], plugins: Path, out: Path, caches: Caches = Caches(), epoch: int = 2000000, least: int = 4096,
          marks: bool = False, frames: int = 3, variables: Mapping[str, str] | None = None, quiet: bool = False) -> int:
    """Runs the command and writes its table of objects (see tests/advice/traces/README.md) to `out`; its exit status.

    Objects of fewer bytes than `least` count as no object. With 8 `frames`, large objects have the call sites that profiles have;
    with 3, a site is the same if its objects become large. Of a program that forks, the first process is counted.
    """
    program = shutil.which(command[0])
    if not program:
        raise MeterError(f"there is no program '{command[0]}'")
    if not shutil.which(EMULATOR):
        raise MeterError(f"there is no {EMULATOR}: install qemu-user")
    with tempfile.TemporaryDirectory() as folder:
        counter = [str(plugin(plugins, "program.so")), f"out={folder}/table", f"cache={caches.last}", f"first={caches.first}", f"epoch={epoch}"]
        found = subprocess.Popen(
            [EMULATOR, "-cpu", CPU, "-plugin", ",".join(counter + ["marks=on"] * marks), "-E", f"LD_PRELOAD={plugin(plugins, 'allocations.so')}",
             "-E", f"PM_METER_LEAST={least}", "-E", f"PM_METER_FRAMES={frames}", program, *command[1:]],
            env=variables, stdout=subprocess.DEVNULL if quiet else None, stderr=subprocess.DEVNULL if quiet else None)
        try:
            status = found.wait()
        except BaseException:
            found.terminate()
            found.wait()
            raise
        table = Path(f"{folder}/table.{found.pid}")
        if not table.exists():
            raise MeterError(f"'{command[0]}' ended with {status} and wrote no table: is it a program for x86-64?")
        shutil.move(table, out)
    return status


def read(table: Path) -> tuple[dict[str, int], list[dict[str, int]]]:
    """What belongs to no object, and the objects in the order of their allocation."""
    with open(table, encoding="ascii", newline="") as file:
        rows = [{name: int(value, 16 if name == "site" else 10) for name, value in row.items()} for row in csv.DictReader(file)]
    return rows[0], rows[1:]
