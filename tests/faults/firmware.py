"""What can go wrong at a power-on, by the emulated firmware: the names of twin/machine/faults.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "twin"))
from machine.faults import FAULTS  # noqa: E402

DIMMS = tuple(name for name, fault in FAULTS.items() if fault.ailment)
HANGS = tuple(name for name, fault in FAULTS.items() if fault.hangs)
GOALS = tuple(name for name in FAULTS if name not in DIMMS + HANGS)
