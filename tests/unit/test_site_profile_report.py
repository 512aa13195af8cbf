#!/usr/bin/env python3
"""What `pmctl report calibration` says of site profiles that are written here; TAP. test_pages.py shows its page in a browser."""
import json
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from report import report

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "pmreport"))
sys.dont_write_bytecode = True

from siteprofile import compare, merge, page, profiles, words  # noqa: E402
from siteprofile.chart import step_of  # noqa: E402

SHIPPED = [profiles.read(path) for path in sorted((TOP / "site/references").glob("*.json"))]
REFERENCE = next(profile for profile in SHIPPED if profile.name == "warpx-pm")
WITHOUT_END = {"meta", "link", "br"}


def curve(name: str, *points: tuple[int, int]) -> dict[str, Any]:
    return {"name": name, "points": [{"threads": n, "bytes_per_s": rate, "low": rate - 10**7, "high": rate + 10**7, "samples": 12}
                                     for n, rate in points]}


def node(host: str, slow: float = 1, **members: str) -> profiles.SiteProfile:
    sockets = [{"socket": socket, "curves": [curve("copy-in", (1, int(3e9 * rate)), (8, int(24e9 * rate)))],
                "values": [{"name": "pmem-random", "value": int(300000 / rate)}]} for socket, rate in ((0, 1), (1, slow))]
    return profiles.parse(Path(f"{host}.json"), {"class": "<class>", "host": host, "date": "2026-11-25T12:00:00.000Z", "cpu": "A & B",
                                                 "sockets": sockets} | members)


def loop(name: str, place: str, *points: dict[str, int]) -> dict[str, Any]:
    return {"loop": name, "place": place, "points": list(points)}


def with_loops(host: str, mode: str = "flat", rate: int = 10**9) -> profiles.SiteProfile:
    """A node of two sockets that was measured in one mode."""
    place = "memory" if mode == "memory" else "pmem"
    sockets = [{"socket": n, "loops": [loop("triad", place, {"threads": 24, "bytes_per_s": 12 * rate}),
                                       loop("random", place, {"threads": 1, "bytes_per_s": rate}, {"threads": 8, "bytes_per_s": 7 * rate},
                                            {"threads": 24, "bytes_per_s": 5 * rate})]} for n in (0, 1)]
    return profiles.parse(Path(f"{host}-{mode}.json"), {"class": "loops", "host": host, "date": f"2026-11-25 {mode}", "sockets": sockets, "loops": [
        loop("triad", place, {"threads": 48, "bytes_per_s": 20 * rate})]})


def of_loop(profile: dict[str, Any], name: str, place: str) -> list[dict[str, Any]]:
    return next((item["points"] for item in profile["loops"] if (item["loop"], item["place"]) == (name, place)), [])


def checks_of_loops() -> list[tuple[bool, str]]:
    nodes = [with_loops(host) for host in ("n1", "n2")]
    found = {(row.measure.socket, row.measure.name, row.measure.threads): row for row in compare.rows(nodes[0], [nodes[1]], SHIPPED)}
    text = Reader(page.page(nodes, SHIPPED)).text
    merged = dict(json.loads(merge.merge([*nodes, *(with_loops(host, "memory") for host in ("n1", "n2"))])))
    again = dict(json.loads(merge.merge([with_loops("n1"), with_loops("n1", "flat, later", 2 * 10**9)])))
    at = "triad at pmem"
    return [
        (found[None, at, 48].printed_in == "nextgenio-early" and getattr(found[None, at, 48].printed, "value", 0) == 32 * 10**9,
         "what all sockets reach at once is compared with a node in print"),
        (found[0, at, 24].printed_in == "pegasus", "a socket with a printed node of one socket, also without a number of threads"),
        (found[0, "random at pmem", 24].printed is None and found[0, "random at pmem", 8].share == 1, "a loop that is not in print, beside other nodes"),
        ("All sockets at once" in text and "1 write, 4 reads in random order, socket 0" in text, "the page has tables of loops, and curves"),
        ([p["bytes_per_s"] for p in of_loop(merged["sockets"][0], "random", "pmem")] == [10**9, 7 * 10**9, 5 * 10**9], "a loop may fall"),
        (of_loop(merged, "triad", "pmem")[0]["samples"] == 2 and of_loop(merged, "triad", "memory")[0]["samples"] == 2,
         "a node that was measured in two modes is one node of its class"),
        (of_loop(again, "triad", "pmem")[0]["bytes_per_s"] == 40 * 10**9, "what was measured twice is taken from the newest file"),
        (all(m.source for profile in SHIPPED for m in profile.measures), "each printed figure has its place"),
    ]


def one_class() -> dict[str, Any]:
    """Three nodes; one has a point behind the others' peak, one falls there."""
    nodes = [node("n1"), node("n2", 1.2), node("n3", 0.8)]
    extra = profiles.Measure(0, "copy-in", 16, 10**9, None, None, 12, "", False)
    nodes = [profiles.SiteProfile(**vars(n) | {"measures": n.measures + (extra,) * (n.host != "n3")}) for n in nodes]
    nodes[0] = profiles.SiteProfile(**vars(nodes[0]) | {"measures": nodes[0].measures + (profiles.Measure(0, "copy-in", 24, 9 * 10**10,
                                                                                                          None, None, 12, "", False),)})
    return dict(json.loads(merge.merge(nodes)))


class Reader(HTMLParser):
    """Tags that are open, and all text; an end that fits no start is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.is_sound = True
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag not in WITHOUT_END:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        self.is_sound &= bool(self.open) and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def pictures(text: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(f"<svg{part.split('</svg>')[0]}</svg>") for part in text.split("<svg")[1:]]


def in_bounds(picture: ElementTree.Element) -> bool:
    width, height = (float(n) for n in picture.attrib["viewBox"].split()[2:])
    dots = picture.findall("circle")
    return bool(dots) and all(0 <= float(d.attrib["cx"]) <= width and 0 <= float(d.attrib["cy"]) <= height for d in dots)


def page_is_sound() -> tuple[bool, str]:
    text = page.page([node("n1"), node("n2"), node("n3", 0.8)], [REFERENCE])
    reader = Reader(text)
    return (reader.is_sound and reader.open == [] and "script" not in reader.tags and "http" not in text and "<class>, n1" in reader.text
            and all(in_bounds(picture) for picture in pictures(text))), "the page is well-formed, shows names as they are, and needs nothing else"


def in_full() -> str:
    """A page that has all there is."""
    return page.page([node("n1"), node("n2"), with_loops("n3")], [REFERENCE])


def refused(text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        path.write_text(text)
        try:
            profiles.read(path)
        except profiles.SiteProfileError as error:
            return str(error).replace(folder, "")
    return ""


def main() -> int:
    good, slow, virtual = node("n1"), node("n3", 0.8), node("vm", machine="virtual")
    rows = compare.rows(good, [node("n2"), slow], [REFERENCE])
    of = {(row.measure.socket, row.measure.name, row.measure.threads): row for row in rows}
    lines = words.outlier_lines(compare.outliers([good, node("n2"), slow]))
    faster = compare.outliers([good, node("n2"), node("n4", 1.3)])
    merged = one_class()
    points = merged["sockets"][1]["curves"][0]["points"]
    svg = pictures(page.page([good, slow], [REFERENCE]))[0]
    return report([
        (of[1, "copy-in", 8].others == (24e9 + 19.2e9) / 2, "a measure has the median of the other nodes beside it"),
        (of[1, "copy-in", 8].share == 24e9 / 21.6e9, "and its share of that"),
        (of[0, "pmem-random", None].printed == next(m for m in REFERENCE.measures if m.name == "pmem-random"), "a printed figure of its name"),
        (of[0, "copy-in", 1].printed is None, "none where the figure is assumed"),
        (all(row.printed is None for row in compare.rows(virtual, [], [REFERENCE])), "a node under a hypervisor is not compared with print"),
        ("hypervisor" in Reader(page.page([virtual], [REFERENCE])).text and "in print" not in page.page([virtual], [REFERENCE]).split("<th>")[0],
         "which the page says"),
        (lines == ["n3, socket 1: 3 of 3 measures are more than a tenth worse than the median of the nodes, most of all "
                   "copy from PMem to DRAM with 1 thread: 2.40 GB/s, 80% of it"], "a slow module is named"),
        (faster == [], "a fast one is not"),
        (compare.outliers([good, slow]) == [], "of two nodes neither is an outlier"),
        (points[1] == {"threads": 8, "bytes_per_s": 24 * 10**9, "low": 19190000000, "high": 28810000000, "samples": 3,
                       "from": "median of 3 nodes"}, "of a class each number is the median, between the least and the most"),
        ([p["threads"] for p in merged["sockets"][0]["curves"][0]["points"]] == [1, 8], "a point that falls, or that few nodes have, is left out"),
        ((merged["host"], merged["cpu"], merged["class"]) == ("n1,n2,n3", "A & B", "<class>"), "with all that its nodes have in common"),
        page_is_sound(),
        (len(svg.findall("polyline")) == 4 and len([e for e in svg.iter() if e.attrib.get("class") == "bound"]) == 1,
         "a chart has a line for each socket of each node, and the printed bound"),
        ([step_of(top) for top in (0.3, 1, 4, 10, 39, 104)] == [0.1, 0.2, 1, 2, 10, 25], "grid lines are at round numbers"),
        (all(m.is_assumed or m.source.startswith("section ") for m in REFERENCE.measures), "each reference has its place, or is assumed"),
        *checks_of_loops(),
        (refused("{}") == "'/a.json' is not a site profile: 'format'; see pmem-profile(5)", "a file of another kind is refused"),
        (refused('{"format": "slurm-pmem site profile", "version": 9}') == "'/a.json' is not a site profile of version 1", "and another version"),
        (refused('{"format": "slurm-pmem site profile", "version": 1, "class": "a", "sockets": [{}]}') ==
         "'/a.json' is not a site profile: 'socket'; see pmem-profile(5)", "and a part of one"),
    ])


if __name__ == "__main__":
    sys.exit(main())
