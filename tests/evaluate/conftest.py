"""Where the products are, for the evaluation's tests."""
import os
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / one) for one in ("twin", "pmreport", "tests/evaluate")]


@pytest.fixture(scope="session")
def build() -> Path:
    return Path(os.environ.get("PM_BUILD", TOP / "build"))
