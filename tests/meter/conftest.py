"""Where the meter is, for its tests."""
import os
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "twin"), str(TOP / "pmreport")]
BUILD = Path(os.environ.get("PM_BUILD", TOP / "build"))


@pytest.fixture(scope="session")
def build() -> Path:
    return BUILD


@pytest.fixture(scope="session")
def kernels() -> Path:
    """Loads and stores with a count known beforehand."""
    return BUILD / "tests/meter/kernels"
