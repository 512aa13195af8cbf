"""The command line of `pmreport job`, which `pmctl report --output` runs."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jobreport.job import Job, ReportError, read
from jobreport.page import page
from picture.page_file import status_of, write


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="pmreport job", description="A job's report, which 'pmctl report --json' has printed, as a page: memory "
                                "over time by tier on each node, its limits, and the highest use by socket.")
    p.add_argument("report", metavar="REPORT", help="the file; - is stdin")
    p.add_argument("--html", metavar="FILE", default="-", help="write the page there; - is stdout, the default")
    p.add_argument("--top", metavar="N", type=int, default=4, help="nodes with a chart that is not folded away, those that used most; 4")
    return p


def load(name: str) -> Job:
    try:
        return read(sys.stdin.read() if name == "-" else Path(name).read_text(), name)
    except UnicodeDecodeError as error:
        raise ReportError(f"'{name}' is not text: {error}") from error
    except OSError as error:
        raise ReportError(f"read '{name}': {error.strerror}") from error


def main(arguments: list[str]) -> int:
    asked = parser().parse_args(arguments)
    return status_of(lambda: write(asked.html, page(load(asked.report), max(0, asked.top))), ReportError)
