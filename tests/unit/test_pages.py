#!/usr/bin/env python3
"""Pages and pictures in a browser: of profiles, of jobs, of site profiles, of plans; wide and narrow, light and dark; TAP."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import test_job_page
import test_profile_page
import test_site_profile_report
from browser import THEMES, WIDTHS, Shown, browsed
from report import report

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("PM_BUILD", TOP / "build"))
WRONG = ("cut", "over", "tiny", "pale", "edge")
CALIBRATION = "a calibration's page"
PICTURES = {"a profile's page": 8, "a job's page": 3}

# The plans: few ranks and many, one socket and four, cores with four threads, nodes of all kinds.
PLANS = {"docs/user": ["-n4", "--pm-threads=10", "--machine=2x24x2,96G+768G"],
         "less DRAM than there is": ["-n24", "--pm-dram=2G", "--machine=2x24,96G+768G"],
         "one rank": ["-n1", "--machine=1x6,16G"],
         "Memory Mode": ["-n48", "synthetic-cascade-lake-memory"],
         "four sockets": ["-n8", "synthetic-cooper-lake-4-sockets"],
         "four threads a core": ["-n64", "--pm-smt=threads", "synthetic-knl-cache"],
         "high-bandwidth memory": ["-n8", "synthetic-sapphire-rapids-snc4-hbm"]}


def plan(words: list[str], config: Path) -> str:
    *options, last = words
    machine = last if last.startswith("--") else f"--topology={TOP}/tests/fixtures/topology/{last}.xml"
    return subprocess.run([BUILD / "pmrun", f"--config={config}", "--svg=-", *options, machine], capture_output=True, text=True, check=True).stdout


def alone(picture: str) -> str:
    return f'<!doctype html><meta name="color-scheme" content="light dark"><style>body{{margin:0}}</style>{picture}'


def of_page(shown: Shown, found: dict[str, Any], is_wide_cut: bool) -> list[tuple[bool, str]]:
    """Wide tables and pictures of a calibration are scrolled within its page."""
    keys = WRONG if is_wide_cut else (*WRONG, "wide")
    wrong = {key: found[key][:3] for key in keys if found.get(key)}
    fits = found.get("width") == shown.width and found["scroll"] <= shown.width
    at = f"{shown.page}, at {shown.width} pixels, {shown.theme}:"
    return [(fits and found["pictures"] > 0, f"{at} it has pictures, and nothing is wider than the page {'' if fits else found}"),
            (fits and not wrong, f"{at} no text is cut, tiny, pale, across an edge or over another {wrong or ''}")]


def main() -> int:
    pages = {"a profile's page": test_profile_page.crowded(), "a job's page": test_job_page.crowded(), CALIBRATION: test_site_profile_report.in_full()}
    # pmrun trusts no configuration in a folder that others may write.
    with tempfile.TemporaryDirectory(dir=None if os.getuid() else "/run") as folder:
        config = Path(folder) / "pmem.conf"
        config.touch()
        pages |= {f"the plan of {name}": alone(plan(words, config)) for name, words in PLANS.items()}
        every = browsed(pages, Path(folder))
    results = [result for shown, found in every.items() for result in of_page(shown, found, shown.page == CALIBRATION)]
    for page in pages:
        backs = {width: {every[Shown(page, width, theme)].get("back") for theme in THEMES} for width in WIDTHS}
        results.append((all(len(colours) == 2 for colours in backs.values()), f"{page}: both themes have their colours"))
    results += [(all(found.get("pictures") == count for shown, found in every.items() if shown.page == page), f"{page} shows all pictures, each once")
                for page, count in PICTURES.items()]
    results.append((all(found.get("pictures") == 1 for shown, found in every.items() if shown.page.startswith("the plan")),
                    "a plan is shown once, in the form that suits the width"))
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
