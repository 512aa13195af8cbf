#!/usr/bin/env python3
"""Each row of docs/admin/compatibility.md names a test that exists, and each test of those suites is in a row; TAP."""
import re
import sys
from pathlib import Path

from report import report

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs/admin/compatibility.md"
TWIN = ("300-containers", "310-health", "320-suspend", "330-security", "340-cgroup-v1", "360-selinux")  # of tests/twin
ROW = re.compile(r"^\| .* \| `([^`|]+\.bats)`: (.+) \|$", re.M)
TEST = re.compile(r'^@test "((?:[^"\\]|\\.)+)" \{$', re.M)


def tests_of(path: Path) -> set[str]:
    return set(TEST.findall(path.read_text())) if path.exists() else set()


def main() -> int:
    lines = PAGE.read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| point |")]
    named = [match.groups() for row in rows if (match := ROW.match(row))]
    results = [(len(named) == len(rows) > 0, "each row ends with a file and a test")]
    results += [(name in tests_of(TOP / file), f"{file} has '{name}'") for file, name in named]
    for path in sorted([*TOP.glob("tests/slurm/2*.bats"), *TOP.glob("tests/controllers/*.bats"),
                         *(TOP / f"tests/twin/{name}.bats" for name in TWIN)]):
        missing = tests_of(path) - {name for file, name in named if TOP / file == path}
        results.append((not missing, f"{path.name}: rows for all of its tests {sorted(missing) or ''}"))
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
