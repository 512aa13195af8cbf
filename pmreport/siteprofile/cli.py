"""The command line of `pmreport calibration`, which `pmctl report calibration` runs."""
from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path

from picture.page_file import status_of, write
from siteprofile import words
from siteprofile.compare import Row, outliers, rows
from siteprofile.merge import merge
from siteprofile.page import page
from siteprofile.profiles import SiteProfile, SiteProfileError, read

HERE = Path(__file__).resolve().parent.parent
REFERENCES = (HERE / "site-profiles", HERE.parent / "site" / "references")  # installed; in the source tree


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="pmreport calibration", description="Site profiles, the measured bandwidths of nodes, for people: "
                                "tables, a page with curves, JSON or CSV. The first one is told in detail, beside the others of its class.")
    p.add_argument("profiles", metavar="PROFILE", nargs="+", type=Path, help="what pmctl calibrate has written")
    p.add_argument("--html", metavar="FILE", help="write a page; - is stdout")
    p.add_argument("--merge", metavar="FILE", help="write the profile of the class, of which each number is the median of the nodes'; - is stdout")
    p.add_argument("--reference", metavar="FILE", help="figures in print to compare with, or none; without it, those of all papers that are "
                   "installed")
    p.add_argument("--json", action="store_true", help="print JSON")
    p.add_argument("--csv", action="store_true", help="print CSV")
    return p


def find_references(asked: str | None) -> list[SiteProfile]:
    """WarpX-PM's come first: they are of each tier, others of STREAM."""
    if asked:
        return [] if asked == "none" else [read(Path(asked))]
    shipped = next((sorted(folder.glob("*.json")) for folder in REFERENCES if folder.is_dir()), [])
    return sorted(map(read, shipped), key=lambda profile: profile.name != "warpx-pm")


def fields(profile: SiteProfile, row: Row) -> dict[str, object]:
    m = row.measure
    return {"class": profile.name, "host": profile.host, "date": profile.date, "socket": m.socket, "measure": m.name,
            "threads": m.threads, "unit": m.unit, "value": m.value, "low": m.low, "high": m.high, "samples": m.samples,
            "assumed": m.is_assumed, "from": m.source, "others_median": row.others, "printed": row.printed.value if row.printed else None,
            "printed_in": row.printed_in or None}


def all_fields(nodes: list[SiteProfile], references: list[SiteProfile]) -> list[dict[str, object]]:
    return [fields(node, row) for node in nodes for row in rows(node, [n for n in nodes if n is not node], references)]


def as_csv(told: list[dict[str, object]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(told[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(told)
    return text.getvalue()


def as_text(nodes: list[SiteProfile], references: list[SiteProfile]) -> str:
    node = nodes[0]
    table = [words.HEAD, *(words.cells(row) for row in rows(node, nodes[1:], references))]
    widths = [max(len(cells[i]) for cells in table) for i in range(len(words.HEAD))]
    body = ["  ".join(cell.ljust(width) if i in (1, len(widths) - 1) else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(cells, widths))).rstrip() for cells in table]
    virtual = ["measured under a hypervisor: not compared with printed figures"] if node.is_virtual else []
    return "\n".join([words.title(node), *words.provenance(node), *virtual, "", *body, *words.outlier_lines(outliers(nodes))]) + "\n"


def check(nodes: list[SiteProfile]) -> None:
    for node in nodes[1:]:
        if node.name != nodes[0].name:
            raise SiteProfileError(f"'{node.path}' is of class '{node.name}', '{nodes[0].path}' of class '{nodes[0].name}': "
                                   "report on one class at a time")
    if not nodes[0].measures:
        raise SiteProfileError(f"'{nodes[0].path}' has no measures")


def run(arguments: argparse.Namespace) -> None:
    nodes = [read(path) for path in arguments.profiles]
    references = find_references(arguments.reference)
    check(nodes)
    if arguments.html:
        write(arguments.html, page(nodes, references))
    if arguments.merge:
        write(arguments.merge, merge(nodes))
    if arguments.json:
        print(json.dumps(all_fields(nodes, references), indent=1))
    elif arguments.csv:
        print(as_csv(all_fields(nodes, references)), end="")
    elif not (arguments.html or arguments.merge):
        print(as_text(nodes, references), end="")


def main(arguments: list[str]) -> int:
    return status_of(lambda: run(parser().parse_args(arguments)), SiteProfileError)
