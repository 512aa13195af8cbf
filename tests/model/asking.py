"""What a site and a rank have measured of a simulated machine, and what `pmctl model` answers to that."""
from __future__ import annotations

import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

from simulator import Machine, bandwidth

TOP = Path(__file__).resolve().parents[2]
KINDS = ("literal", "paced", "compared")
HELPERS = (0, 1, 2)
ERROR = 0.03        # of a measurement, one standard deviation


def profile_of(machine: Machine, dice: random.Random) -> dict:
    """The JSON of pmem-profile(5). Curves that an error makes fall are flat there, as `pmctl calibrate` would end them."""
    def curve(name: str, values: list[tuple[int, float]]) -> dict:
        points, last = [], 1
        for threads, value in values:
            last = max(last, round(value * dice.gauss(1, ERROR)))
            points.append({"threads": threads, "bytes_per_s": last})
        return {"name": name, "points": points}
    some = (1, 2, 4, 8, 16)
    return {"format": "slurm-pmem site profile", "version": 1, "class": "simulated", "sockets": [{
        "socket": 0,
        "curves": [curve("copy-in", [(n, bandwidth(machine, n, 0)[0]) for n in some]),
                   curve("copy-out", [(n, bandwidth(machine, 0, n)[1]) for n in some]),
                   curve("both-in", [(n, bandwidth(machine, n / 2, n / 2)[0]) for n in some[1:]]),
                   curve("both-out", [(n, bandwidth(machine, n / 2, n / 2)[1]) for n in some[1:]])],
        "values": [{"name": "peak-in", "value": round(machine.reads)}, {"name": "peak-out", "value": round(machine.writes)}]}]}


@dataclass(frozen=True)
class Measured:
    """An interval, as a rank has measured it."""
    in_bytes: float
    out_bytes: float
    compute_s: float
    placed_s: float         # in place
    traffic: float          # bytes per second
    other_in: float = 0     # copies of other streams
    other_out: float = 0


def ask(pmctl: Path, profile: Path, measured: Measured, ranks: int, threads: int, cpus: int) -> dict[str, int]:
    """Helpers by each model."""
    size = lambda count: f"{max(round(count / 1024), 1)}K" if count > 0 else "0"  # noqa: E731
    words = [f"in={size(measured.in_bytes)}", f"out={size(measured.out_bytes)}", f"compute={measured.compute_s:.9f}",
             *([f"placed={measured.placed_s:.9f}"] if measured.placed_s > 0 else []), f"traffic={size(measured.traffic)}", f"other-in={size(measured.other_in)}",
             f"other-out={size(measured.other_out)}", f"ranks={ranks}", f"threads={threads}", f"cpus={cpus}"]
    done = subprocess.run([pmctl, "model", "--json", f"--site-profile={profile}", *words], check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    return {kind: answer[kind]["helpers"] if kind in answer else answer["paced"]["helpers"] for kind in KINDS}


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"
