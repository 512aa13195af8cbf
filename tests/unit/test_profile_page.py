#!/usr/bin/env python3
"""The page of a profile, pmreport --html: what it is made of; TAP. test_pages.py shows it in a browser."""
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from profile_records import GRANULE, MIB, accesses, end, mark, phase, program, read, site, source, thing
from report import report

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "pmreport"))
sys.dont_write_bytecode = True

from picture import axis, svg  # noqa: E402

from pmprofile import bars, html, marks, markup, measure, placement, series, sites, stack, symbols  # noqa: E402
from pmprofile.lifetimes import Clock  # noqa: E402
from pmprofile.told import Told  # noqa: E402

S = axis.NS_PER_S
LONG = "simulation::electromagnetics::particle_in_cell::FieldOnStaggeredGridWithGuardCells::interpolate_to_the_centers_of_cells<a&b>"


def names_of(r: measure.Report, name: str = "f") -> symbols.Names:
    """Sites are called NAME_<key>, in a file with lines."""
    frames = {frame: (symbols.Call(f"{name}_{frame.offset}", "a file.cc", str(frame.offset)),) for s in r.sites for frame in s.frames}
    return symbols.Names((s.frames for s in r.sites), frames)


def page_of(*profiles: Any, name: str = "f", budget: int | None = None, top: int = 20) -> str:
    r = measure.report(list(profiles))
    return html.page([(r, names_of(r, name))], budget, top)


def pictures(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(f"<svg{part.split('</svg>')[0]}</svg>") for part in page.split("<svg")[1:]]


def texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(e.itertext()) for e in picture.iter("text")]


# --- numbers ---

def axes() -> list[tuple[bool, str]]:
    y = axis.scale(90 * MIB, axis.BYTES, (100, 0), 4)
    t = axis.scale(0.93 * S, axis.TIMES, (0, 100), 5, is_rounded=False)
    return [([words for _, words in y.ticks()] == ["0", "25", "50", "75", "100"] and y.unit[0] == "MiB", "ticks are round numbers of a unit"),
            (y.at(100 * MIB) == 0 and y.at(0) == 100, "an axis that is rounded ends at a tick"),
            ([words for _, words in t.ticks()] == ["0", "0.2", "0.4", "0.6", "0.8"] and t.at(0.93 * S) == 100, "that of time ends with the run"),
            ([axis.unit_of(n, axis.TIMES)[0] for n in (5 * S, 599 * S, 600 * S, 36000 * S)] == ["s", "s", "min", "h"], "long runs have minutes and hours"),
            ([axis.shown(n, axis.BYTES) for n in (0, 512, 28 * MIB, 1536 * MIB, 768 * 1024 * MIB)] ==
             ["0 bytes", "512 bytes", "28 MiB", "1.5 GiB", "768 GiB"], "sizes in words"),
            (svg.fitted("abcdefghij", 5 * svg.LETTER) == "ab…j" and svg.fitted("abc", 5 * svg.LETTER) == "abc", "a long name keeps its begin and end")]


def of_time() -> list[tuple[bool, str]]:
    objects = [thing(1, 4 * MIB, 0, 0), thing(2, 8 * MIB, 100, 500), thing(3, 2 * MIB, 601, 602), thing(1, 6 * MIB, 200, 300, space=4),
               thing(1, 6 * MIB, 300, 400, space=4)]
    found = series.timeline(read(program(), *objects, end(1000)), lambda o: f"site {o.site}")
    dram = {step[0] // MIB * 100 + step[1] // MIB * 10 + step[2] // MIB for step in found.tiers[0]}
    many = series.timeline(read(program(), *[thing(i, i * MIB, 0, 0) for i in range(1, 12)], end(100)), lambda o: f"site {o.site}")
    sample = series.timeline(read(program(), thing(1, 100, 0, 0), end(100)), lambda o: "a")
    return [(found.labels == ["site 1", "site 2", "site 3"] and found.peaks == [10 * MIB, 8 * MIB, 2 * MIB], "the site that held most comes first"),
            (dram == {400, 480, 402}, "what lived for a thousandth of the run is seen, beside what was there at that moment"),
            (found.most(1) == 6 * MIB, "what is freed when another is allocated is not beside it"),
            (found.fullest(1) == 72 and stack.moment(found, 1) == "0.00 s", "when the tier was fullest"),
            (found.most(0) == 12 * MIB and found.tiers[0][-1] == (4 * MIB, 0, 0), "what is never freed stays to the end"),
            (len(many.labels) == series.SITES + 1 and many.labels[0] == "site 11" and many.labels[-1] == series.OTHERS, "of many sites, the others are one"),
            (many.peaks[-1] == 6 * MIB and many.tiers[0][50][-1] == 6 * MIB and sum(many.tiers[0][50]) == 66 * MIB, "with their bytes"),
            (many.style(0) == "c0" and many.style(many.index("site 11")) == "c0" and many.style(many.index("site 1")) == "others", "each has its colour"),
            (sample.most(0) == MIB, "a sample stands for more than its bytes")]


def of_marks() -> list[tuple[bool, str]]:
    p = read(program(), thing(1, MIB, 0, 0), *[phase(i, 10 * i, f"p{i % 8}") for i in range(1, 17)], phase(17, 170, "p3"), end(1000))
    rows = marks.rows(p)
    time = axis.scale(1000, axis.TIMES, (0, 600), 5, is_rounded=False)
    return [([row.name for row in rows][:2] == ["p1", "p2"] and len(rows) == marks.ROWS, "the longest phases have rows, in the order of the run"),
            (next(row for row in rows if row.name == "p3").ns == 850, "a phase's parts add up"),
            (marks.merged([(0, 1), (1.1, 2), (5, 5)]) == [(0, 2), (5, 5.5)], "bars that touch are one, and none is invisible"),
            (marks.every(list(range(20)), time, 10) == 1 and marks.every(list(range(150)), time, 10) == 5, "of many iterations, each fifth has a line"),
            ("one in 5 marked" in marks.title(Clock([1], "marked"), 5) and "inferred" in marks.title(Clock([1], "inferred"), 1), "which is said")]


# --- pictures ---

def line_at(picture: ElementTree.Element, style: str) -> list[float]:
    return [float(e.attrib["y1"]) for e in picture.iter("line") if e.attrib["class"] == style]


def level_of(picture: ElementTree.Element, words: str) -> float:
    """The height of the first tick with this text."""
    return float(next(e for e in picture.iter("text") if e.text == words).attrib["y"]) - 4


def of_pictures() -> list[tuple[bool, str]]:
    objects = [thing(1, 30 * MIB - GRANULE, 0, 0), thing(2, 10 * MIB, 100, 500), thing(3, 90 * MIB, 0, 0, space=4)]
    whole = [*objects, mark(1, 100), mark(2, 500), phase(1, 100, "push"), phase(2, 300, "solve"), end(S)]
    page = page_of(read(program(budget=40 * MIB), *[site(i, (i, "/bin/app")) for i in (1, 2, 3)], *whole))
    time, narrow, placed, *_ = pictures(page)
    far = pictures(page_of(read(program(budget=900 * MIB), *objects, end(S))))[0]
    bare = page_of(read(program(), thing(1, MIB, 0, 0), end(S)))
    two = page_of(read(program(), *whole), budget=200 * MIB)
    return [(line_at(time, "bound") == [level_of(time, "40")], "the budget is a line, at its height"),
            ("budget 40 MiB" in texts(time) and "DRAM, MiB" in texts(time) and "PMem, MiB" in texts(time), "tiers are apart, each with its unit"),
            (not line_at(far, "bound") and "budget 900 MiB, above this axis" in texts(far), "a budget far above is said to be"),
            ([w for w in texts(time) if w.startswith("time since")] == ["time since the process began, s"], "time has its unit"),
            ("push" in texts(time) and "solve" in texts(narrow) and "iterations" in texts(time), "phases and iterations are marked"),
            ({e.attrib["class"] for e in time.iter("path")} == {"phase", "c0", "c1", "c2"}, "each call site has an area"),
            ("f_3 a file.cc:3: at most 90 MiB in PMem" in [e.findtext("title") for e in time.iter("path")], "which tells its name and bytes"),
            (all(p.find("title") is not None and p.find("desc") is not None and p.attrib["role"] == "img" for p in pictures(page)), "pictures have titles and descriptions"),
            (len({e.attrib["id"] for p in pictures(page) for e in p.iter() if "id" in e.attrib}) == 2 * len(pictures(page)), "with names of their own"),
            (texts(placed).count("next run, as advised") == 2 and texts(placed).count("budget 40 MiB") == 2, "the placement of this run and the next"),
            ("budget 200 MiB" in texts(pictures(two)[2]), "with the next run's budget"),
            (not [words for words in texts(pictures(bare)[0]) if words.startswith("PMem")] and "Nothing was allocated in PMem." in bare, "a tier without objects has no axis"),
            ("Objects by iteration" not in bare and "<h2>Phases" not in bare and "Iterations are unknown" in bare, "a block without content is left out"),
            ("Absent: cpu s, page faults, instructions, read, written" in page and "<th>instructions" not in page, "and a column without numbers"),
            (not re.search(r"<script|https?://|src=|<link", page), "the page needs nothing else"),
            ("3 more" not in page and "<summary>2 more</summary>" in page_of(read(program(), *whole), top=1), "more call sites than --top are folded away")]


def of_placement() -> list[tuple[bool, str]]:
    p = read(program(budget=40 * MIB), *[site(i, (i, "/bin/app")) for i in (1, 2)], thing(1, 30 * MIB, 0, 0, space=4), thing(2, 16 * MIB, 0, 10),
             accesses(1, MIB), accesses(2, 900 * MIB), source(10 ** 6), end(S))
    r = measure.report([p])
    one, two = (names_of(r).of(p.sites[i]) for i in (1, 2))
    told, poor, grouped = (Told(r, names, budget, 20, 0) for names, budget in
                           ((names_of(r), 40 * MIB), (names_of(r), 0), (symbols.Names((s.frames for s in r.sites), names_of(r).known, True), 40 * MIB)))
    found = series.timeline(p, lambda o: names_of(r).of(p.sites[o.site]))
    few = series.timeline(p, lambda o: two)
    dram, pmem = placement.advised(told, found)
    now = placement.measured(found, 1, 40 * MIB)
    nothing = placement.advised(poor, found)
    return [([(style, name, size // MIB) for style, name, size in dram.parts] == [("c0", one, 22), ("c1", two, 16), ("others", placement.UNKNOWN, 2)],
             "the next run's DRAM holds what is advised, beside what small objects take"),
            ([(name, size // MIB) for _, name, size in pmem.parts] == [(one, 8)] and pmem.budget == 0, "and PMem the rest"),
            (dram.bytes <= dram.budget == 40 * MIB, "no more than its budget"),
            ([name for _, name, _ in placement.advised(told, few)[1].parts] == [series.OTHERS], "sites without a colour are one part"),
            (now.parts == [("c0", one, 30 * MIB)] and now.title == "this run, at 0.00 s", "this run has what was measured"),
            (nothing[0].parts == [] and nothing[1].bytes == 46 * MIB, "without a budget all is in PMem"),
            ([sites.tier_of(choice) for choice in told.choices] == ["DRAM", "22 MiB in DRAM"] and sites.tier_of(poor.choices[0]) == "PMem" and sites.tier_of(None) == "undecided", "the table has the same"),
            (grouped.choices == [] and "next run" not in html.part(grouped), "there is no advice for sites that are counted together")]


def of_served() -> list[tuple[bool, str]]:
    things = [thing(1, 30 * MIB, 0, 0), thing(2, 16 * MIB, 0, 0)]
    measured = page_of(read(program(budget=34 * MIB), *things, accesses(1, MIB), accesses(2, 900 * MIB, 100 * MIB), source(10 ** 6), end(S)))
    bare = page_of(read(program(), *things, end(S)))
    curve = next(picture for picture in pictures(measured) if any("budget 34 MiB: " in words for words in texts(picture)))
    paths = {e.attrib["class"]: re.findall(r"[\d.]+,([\d.]+)", e.attrib["d"]) for e in curve.iter("path")}
    return [("Traffic that DRAM serves" in measured and "Traffic that DRAM serves" not in bare, "the curve is there if accesses were measured"),
            (set(paths) == {"served", "first"} and paths["served"][-1] == paths["first"][-1], "of both, which end where all has room"),
            (any(float(a) < float(b) for a, b in zip(paths["served"], paths["first"])), "advice serves more in between"),
            ("accesses/byte" in measured and "accesses were not measured" in bare, "the table has accesses, or says that there are none")]


def of_bars() -> list[tuple[bool, str]]:
    return [(bars.together(100, svg.WIDE) == 1 and bars.together(1000, svg.WIDE) == 10 and bars.together(100, svg.NARROW) == 5, "many iterations share bars"),
            (bars.sums({0: 1, 4: 2, 5: 3, 11: 4}, 11, 5) == [3, 3, 4], "with the sum of their objects")]


# --- names ---

def crowded() -> str:
    """A page that has all there is: many sites with long names, phases and iterations, two programs, one without marks."""
    sites = [site(i, (i, "/opt/a very long directory/app"), (i + 100, "/bin/app"), (i + 200, "/bin/app")) for i in range(1, 31)]
    objects = [thing(i, i * MIB + 1, i * 10**7, S - i * 10**6, space=3 + i % 2) for i in range(1, 31)]
    phases = [phase(n, n * 10**7, f"phase {n % 9} with a name that is as long as names of phases can be...") for n in range(1, 90)]
    loud = [read(program(budget=budget * MIB), *sites, *objects, *phases, *[mark(n, n * n * 4 * 10**4) for n in range(1, 160)], end(S))
            for budget in (230, 64)]
    quiet = read(program(budget=10**6 * MIB), *sites, *objects[:12], thing(40, 100, 0, 0), end(5000 * S))
    told = []
    for profiles in (loud[:1], loud[1:] * 2, [quiet]):
        r = measure.report(profiles)
        r.program += "_with_a_long_name" * 6
        told.append((r, names_of(r, LONG)))
    return html.page(told, None, 3)


def of_names() -> list[tuple[bool, str]]:
    page = crowded()
    return [("&lt;a&amp;b&gt;" in page and "<a&b>" not in page, "names are shown as they are"),
            (markup.breakable("a::b_c<d>") == "a::<wbr>b_<wbr>c&lt;d&gt;", "and may be broken at their parts"),
            ([markup.sized(word) for word in ("28.0M", "0B", "5B", "12%", "1.5G")] == ["28.0 MiB", "0", "5 bytes", "12%", "1.5 GiB"],
             "tables have the units of the axes")]


if __name__ == "__main__":
    sys.exit(report(axes() + of_time() + of_marks() + of_pictures() + of_placement() + of_served() + of_bars() + of_names()))
