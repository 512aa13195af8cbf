#!/usr/bin/env python3
"""pmreport's parts on profiles that are written here, by the format's description; TAP."""
import argparse
import json
import re
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable

import jsonschema
from profile_records import EVERY, GRANULE, MIB, accesses, counters, end, mark, phase, program, read, record, site, source, thing
from report import report

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "pmreport"))
sys.dont_write_bytecode = True

from jobreport import cli as job_cli  # noqa: E402
from siteprofile import cli as calibration_cli  # noqa: E402

from pmprofile import advice, cli, counts, lifetimes, measure, records, symbols, text, weights  # noqa: E402


def refusal(what: Callable[[], object]) -> str:
    try:
        what()
    except records.ProfileError as error:
        return str(error)
    return ""


def fails(*parts: bytes) -> str:
    return refusal(lambda: read(*parts))


def reading() -> list[tuple[bool, str]]:
    whole = read(program(), thing(5, MIB, 1, 9), record(99, 0, b"of the future"), site(5, (16, "/bin/app"), (32, "/lib/libc.so")),
                 mark(1, 4), record(5, 1, struct.pack("<Q", 6) + b"push".ljust(64, b"\0")), end(100, 2 * MIB))
    deep = read(program(), site(6, *[(offset, "/bin/app") for offset in range(1, 5)], (5, "/lib/b.so")), end(100))
    cut = read(program(), thing(5, MIB, 1, 9), thing(6, MIB, 20, 30)[:-8])
    return [(whole.rank == 3 and whole.pid == 4711 and whole.program == "/bin/app", "who wrote it"),
            (whole.budget_bytes == 64 * MIB and whole.every_bytes == EVERY, "with what budget"),
            (whole.sites[5][1].file == "/lib/libc.so" and whole.sites[5][0].offset == 16, "a site has its frames"),
            ([frame.offset for frame in deep.sites[6]] == [1, 2, 3, 4, 5] and deep.sites[6][4].file == "/lib/b.so", "and those outside of its record"),
            (whole.objects == [records.Object(3, 5, MIB, 1, 9, 0, 0)], "an object, its own numbers"),
            (whole.iterations == [(1, 4)] and whole.phases == [(6, "push")], "marks"),
            (whole.is_whole and whole.end_ns == 100 and whole.slab_bytes == 2 * MIB, "and an end"),
            (not cut.is_whole and len(cut.objects) == 1 and cut.end_ns == 9, "of a killed process, what is whole"),
            ("is not a profile" in fails(b"something else"), "what is none is told of"),
            ("is not a profile" in fails(), "nothing, too"),
            ("version 2" in fails(program(version=2)), "a version that is not known"),
            ("is damaged" in fails(program(), record(3, 0, b"short")), "a record that is too short"),
            ("is damaged" in fails(program(), thing(1, 0, 1, 2)) and "is damaged" in fails(program(), thing(1, 8, 3, 2))
             and "is damaged" in fails(program(), thing(1, 8, 1, 2, space=6)), "an object that cannot be")]


def living() -> list[tuple[bool, str]]:
    marks = [mark(i, 100 * i) for i in range(1, 6)]
    loop = [thing(9, MIB, 100 * i + 1, 100 * i + 50) for i in range(1, 6)]
    marked = read(program(), *marks, thing(1, MIB, 110, 150), thing(2, MIB, 110, 250), thing(3, MIB, 110, 350), thing(4, MIB, 50, 0),
                  end(600))
    unmarked = read(program(), *loop, thing(1, MIB, 110, 350), end(600))
    silent = read(program(), thing(1, MIB, 0, 500), thing(2, MIB, 0, 50), end(600))
    clocks = [lifetimes.clock(p) for p in (marked, unmarked, silent)]
    return [([lifetimes.is_short(o, clocks[0], marked) for o in marked.objects] == [True, True, False, False],
             "short-lived is in one iteration, or into the next"),
            (clocks[0].source == "marked" and clocks[0].iteration(99) == 0 and clocks[0].iteration(100) == 1, "iterations count from 1"),
            (clocks[1].source == "inferred" and clocks[1].site == 9 and len(clocks[1].starts) == 5, "a site's calls are iterations"),
            (not lifetimes.is_short(unmarked.objects[-1], clocks[1], unmarked), "by which others are long-lived"),
            (clocks[2].source == "none", "two objects are no loop"),
            ([lifetimes.is_short(o, clocks[2], silent) for o in silent.objects] == [False, True], "then a tenth of the run is short")]


def measuring() -> list[tuple[bool, str]]:
    p = read(program(), *[mark(i, 100 * i) for i in range(1, 4)], thing(1, 3 * MIB, 110, 120), thing(1, 3 * MIB, 120, 130),
             thing(2, 70 * MIB, 10, 0, space=4), thing(3, 1024, 10, 0), end(400))
    r = measure.report([p, p])
    sites = {s.key: s for s in r.sites}
    blink = read(program(), thing(1, 3 * MIB, 10, 10), end(10))
    return [(measure.report([blink]).sites[0].uses == 1, "an object within the clock's tick was there"),
            (measure.peak([(0, 10, 5), (10, 20, 5), (15, 16, 1)]) == 6, "what follows is not beside"),
            (r.table[2, True].objects == 4 and r.table[2, True].accumulated == 12 * MIB, "[2,4) MiB, of both ranks"),
            (r.table[2, True].peak == 6 * MIB, "the peaks of the ranks together"),
            (r.table[7, False].accumulated == 140 * MIB, "[64,∞) MiB"),
            (r.table[0, False].objects == 2 * 1024 and r.table[0, False].accumulated == 2 * MIB, "a sample stands for others"),
            (sites[1].uses == 2 and sites[1].peak == 3 * MIB and sites[1].short == 4, "a site's memory is used twice"),
            (sites[2].in_dram == 0 and sites[1].in_dram == sites[1].allocated, "where it was"),
            (r.allocations[1] == 4 and r.frees[1] == 4 and r.allocations[0] == 2 + 2 * 1024, "objects by iteration"),
            (r.allocated == 154 * MIB and r.in_dram == 14 * MIB, "and how much of all of it in DRAM"),
            ("[64,∞)" in text.tell(r, measure_names(r), 9), "which can be told")]


def measure_names(r: measure.Report) -> symbols.Names:
    known = {frame: (symbols.Call("f"),) for s in r.sites for frame in s.frames}
    return symbols.Names((s.frames for s in r.sites), known)


# As c++filt prints it, and the function's name alone.
FUNCTIONS = (("main", "main"), ("double* Allocate<double>(unsigned long)", "Allocate"),
             ("Field::Field(unsigned long)", "Field::Field"), ("(anonymous namespace)::forces(int) const", "{anonymous}::forces"),
             ("std::vector<std::pair<int, A<B> >, C>::operator[](unsigned long)", "std::vector<std::pair<int, A<B> >, C>::operator[](unsigned long)"),
             ("void (*table(int))(double)", "void (*table(int))(double)"), ("f<&g>", "f"), ("<", "<"))


def naming() -> list[tuple[bool, str]]:
    a, b, c, d = (records.Frame(7, offset, "/bin/app") for offset in (16, 32, 48, 64))
    inside = symbols.Call("std::allocator::allocate", "new.h", "9", True), symbols.Call("Allocate", "stl.cpp", "4"), symbols.Call("forces", "stl.cpp", "6")
    known = {a: inside, b: (symbols.Call("main", "main.cpp", "11"),), c: (symbols.Call("main", "main.cpp", "11"),),
             d: (symbols.Call("std::allocator::allocate", "new.h", "9", True),)}
    told = symbols.Names([(a, b), (b,), (c,), (d,), ()], known)
    alike = symbols.Names([(a, b), (a, c), (b, c), (b, b), (c, b)], known)
    return [(symbols.short(long) == name, f"{long} is {name}") for long, name in FUNCTIONS] + [
        (symbols.without_namespaces("a::b::Field::grow b.cc:7") == "Field::grow b.cc:7"
         and symbols.without_namespaces("a::b<c::d>::e") == "a::b<c::d>::e", "a short name has no namespaces"),
        (symbols.brief("a::b::f < g < h", 9) == "b::f < g" and symbols.brief("a_long_name < g", 4) == "a_long_name", "and the callers for which there is room"),
        (symbols.briefs([f"f < {'g' * 60} < h", f"f < {'g' * 60} < i", "j"]) ==
         {f"f < {'g' * 60} < h": f"f < {'g' * 60} < h", f"f < {'g' * 60} < i": f"f < {'g' * 60} < i", "j": "j"}, "unless others have the same"),
        (symbols.call("f<int> inlined at /a/b.cc:9:4 in g", "/a/b.cc:7:2") == symbols.Call("f", "b.cc", "7"), "as elfutils prints a call"),
        (symbols.call("f(int)", "/a/b.cc:7 (discriminator 3)") == symbols.Call("f", "b.cc", "7"), "as binutils do"),
        (symbols.call("f", "??:0") == symbols.Call("f") == symbols.call("f", "b.cc:0"), "without a line"),
        (symbols.call("make_unique<A>", "/usr/include/c++/12/bits/unique_ptr.h:1065").is_library, "the library's, by its header"),
        (told[a, b] == "Allocate stl.cpp:4 < forces:6 < main main.cpp:11", "the program's own calls, a file once"),
        (told[b,] == "main main.cpp:11 +0x20" and told[c,] == "main main.cpp:11 +0x30", "equal lines have offsets"),
        (alike[a, b].endswith(" +0x20") and alike[a, c].endswith(" +0x30"), "of the frames that differ"),
        ([alike[x, y].partition(" +")[2] for x, y in ((b, c), (b, b), (c, b))] == ["0x20 +0x30", "0x20 +0x20", "0x30"], "of as many as tell them apart"),
        (told[d,] == "std::allocator::allocate new.h:9", "the library's, if there are no others"),
        (told[()] == "unknown", "a site without frames"),
        (symbols.Names([(a, b)], known, by_function=True)[a, b] == "Allocate < forces < main", "functions alone"),
        (told.calls((a, b))[0] == "std::allocator::allocate, new.h:9", "all calls"),
        (not told.are_without_lines("/bin/app"), "there are lines"),
        (symbols.Names([(a,)], {a: (symbols.Call("main"),)}).are_without_lines("/bin/app"), "there are none"),
        (not symbols.Names([(a,)], {a: (symbols.Call("main"),)}).are_without_lines("/bin/other"), "of the program")]


def asking() -> list[tuple[bool, str]]:
    """A tool that knows a line of the first address, and none of the last: elfutils' ends with 1 then."""
    known, unknown = (records.Frame(7, offset, "/bin/app") for offset in (16, 32))
    with tempfile.TemporaryDirectory() as folder:
        tool = Path(folder) / "tool"
        tool.write_text("#!/bin/sh\nprintf '0xf\\nf\\na.c:7\\n0x1f\\n??\\n??:0\\n'\nexit 1\n")
        tool.chmod(0o755)
        found = symbols.ask(str(tool), "/bin/app", [known, unknown])
        tool.write_text("#!/bin/sh\nexit 1\n")
        nothing = symbols.ask(str(tool), "/bin/app", [known, unknown])
    return [(found == {known: (symbols.Call("f", "a.c", "7"),)}, "the last address without a line takes nothing from the others"),
            (nothing == {}, "a file that cannot be read has no names")]


def grouping() -> list[tuple[bool, str]]:
    p = read(program(), site(1, (16, "/bin/app")), site(2, (32, "/bin/app")), thing(1, 3 * MIB, 10, 20), thing(2, 3 * MIB, 30, 40), end(50))
    one, = measure.report([p], lambda frames: "f").sites
    return [(one.objects == 2 and one.allocated == 6 * MIB, "sites of a group are counted together"),
            (one.peak == 3 * MIB, "their peak is of all of them")]


def phasing() -> list[tuple[bool, str]]:
    none = records.ABSENT
    p = read(program(), thing(1, MIB, 0, 0), phase(1, 100, "push"), counters(100, 10, 5, 1000, 3, none),
             phase(2, 300, "solve"), counters(300, 50, 5, 9000, 4, none), mark(1, 350), counters(350, 60, 6, 9500, 4, none),
             phase(3, 400, "push"), counters(400, 70, 7, 9900, 5, none), counters(600, 80, 8, 10000, 9, none), end(600))
    q = read(program(), thing(1, MIB, 0, 0), end(600))
    before, push, solve = measure.report([p]).phases
    both = measure.report([p, q]).phases
    return [((push.times, push.ns, push.counters) == (2, 400, [50, 1, 8100, 5, None]), "a phase's parts add up"),
            ((solve.times, solve.ns, solve.counters) == (1, 100, [20, 2, 900, 1, None]), "an iteration ends none"),
            (before.ns == 100 and before.counters == [10, 5, 1000, 3, None], "what is before the first counts from the start"),
            (both[0].ns == 700 and both[0].counters[0] is None, "what one process has not counted, all have not"),
            ("absent" in text.tell(measure.report([p]), measure_names(measure.report([p])), 9) and "phases, of all processes:" in text.tell(measure.report([p]), measure_names(measure.report([p])), 9),
             "what is absent is said to be")]


def weighing() -> list[tuple[bool, str]]:
    """Site 1 is read, site 2 is written; PMem reads at 20, writes at 5, DRAM at 100 and 50 GB/s: (1/5 - 1/50) / (1/20 - 1/100) = 4.5."""
    profile = {"format": "slurm-pmem site profile", "version": 1, "class": "a", "sockets": [{"socket": 0, "values": [
        {"name": name, "bytes_per_s": value * 10 ** 9} for name, value in
        (("pmem-read", 20), ("pmem-write", 5), ("dram-read", 100), ("dram-write", 50))]}]}
    p = read(program(), thing(1, MIB, 0, 0), thing(2, MIB, 0, 0), accesses(1, 400 * MIB, 0, length=100), accesses(2, 100 * MIB, 100 * MIB, length=100),
             source(10 ** 6), end(100))
    light, heavy = (measure.report([p], weight=weight).sites[0].key for weight in (weights.WRITES, 4.5))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "site.json"
        path.write_text(json.dumps(profile))
        found = weights.writes(path)
        profile["sockets"][0]["values"] = []  # type: ignore[index]
        path.write_text(json.dumps(profile))
        try:
            weights.writes(path)
            said = ""
        except records.ProfileError as error:
            said = str(error)
    return [(round(found, 6) == 4.5, "a written byte counts by the site's bandwidths"),
            (weights.writes(None) == 3, "or three times"),
            (light == 1 and heavy == 2, "which ranks sites"),
            (said.endswith("has no 'pmem-read', by which writes would be weighed; leave --site-profile out"), "a profile without them is refused")]


Told = list[tuple[int, bool, int | None]]


def told_of(report_: measure.Report, budget: int) -> Told:
    return [(c.site.key, c.in_dram, c.limit) for c in advice.choose(advice.Plan(report_), budget)]


def advising() -> list[tuple[bool, str]]:
    """Accesses say that site 3 has most for each byte, then 1, then 4 and 2; site 5 is of small objects that are too few."""
    objects = [*[thing(1, 4 * MIB, i, i + 1) for i in range(10)], *[thing(2, MIB + 1, 0, 0) for _ in range(10)],
               *[thing(3, 8 * MIB, 0, 0) for _ in range(2)], thing(4, 10 * MIB, 0, 0), thing(5, 100, 0, 0)]
    counts = [accesses(key, size * MIB, length=100) for key, size in ((1, 200), (2, 10), (3, 1600), (4, 20))]
    r = measure.report([read(program(), *objects, *counts, source(10 ** 6), end(100, 4 * MIB))])
    rough, unmeasured = (measure.report([read(program(), *objects, *more, end(100, 4 * MIB))]) for more in ([*counts, source(1)], []))
    small = measure.report([read(program(), site(7, (16, "/bin/app"), (32, "/lib/libc.so")), *objects[:10], *[thing(6, 1000, 0, 0) for _ in range(4)],
                                 *[thing(7, 2000, 0, 0) for _ in range(6)], thing(8, 10, 0, 0), accesses(6, 40 * MIB, length=100, large=False),
                                 source(10 ** 6), end(100, 24 * MIB))])
    few, many = (measure.report([read(program(), thing(1, 2 * MIB, 0, 0), thing(2, MIB, 0, 0), accesses(1, 200 * MIB, length=100, count=count),
                                      accesses(2, 50 * MIB, length=100, count=count // 2), source(2 * count, kind=records.SAMPLES), end(100))])
                 for count in (20, 2000))
    unseen = measure.report([read(program(), thing(1, 2 * MIB, 0, 0), thing(2, MIB, 0, 0), accesses(1, 200 * MIB, length=100, count=2000),
                                  source(2000, kind=records.SAMPLES), end(100))])
    ten, others = 10 * (MIB + GRANULE), 4 * MIB
    return [(told_of(r, 64 * MIB) == [(3, True, None), (1, True, None), (4, True, None), (2, True, None)], "all that fits"),
            (told_of(r, others + 20 * MIB) == [(3, True, None), (1, True, None), (4, False, None), (2, False, None)],
             "what has most accesses for each byte, beside small objects' own"),
            (told_of(r, others + 24 * MIB)[2:] == [(4, True, 4 * MIB), (2, False, None)], "of an object that does not fit, a part"),
            (told_of(r, others + 32 * MIB)[3] == (2, True, 2 * MIB), "and of a site"),
            ([key for key, _, _ in told_of(rough, 64 * MIB)] == [2, 1, 3, 4], "sites that few epochs do not tell apart: small objects first"),
            ([key for key, _, _ in told_of(few, 64 * MIB)] == [1, 2] and [key for key, _, _ in told_of(many, 64 * MIB)] == [1, 2],
             "sites that few samples do not: as estimated all the same"),
            ([text.rate(s) for s in many.sites] == [("100.0", "4%"), ("50.0", "6%")] and text.site_rows(few.sites, measure_names(few))[1][1] == "~63%",
             "which the table shows: samples have the first writes of allocated bytes among the others"),
            ([text.rate(s) for s in unseen.sites] == [("100.0", "4%"), ("0.0", "-")], "and a site without samples has no accesses"),
            ([key for key, _, _ in told_of(unmeasured, 64 * MIB)] == [1, 2, 3, 4] and told_of(unmeasured, others + 4 * MIB + ten)[2:] ==
             [(3, False, None), (4, False, None)], "without accesses, what is allocated first"),
            (told_of(small, 64 * MIB) == [(6, True, None), (1, True, None), (7, True, None)], "small objects of which there are some samples, too"),
            (told_of(small, 20 * MIB) == [(6, True, None), (1, True, None), (7, False, None)], "with what jemalloc adds to them"),
            (told_of(r, 0) == [(key, False, None) for key in (3, 1, 4, 2)], "nothing fits into nothing")]


def over_time() -> list[tuple[bool, str]]:
    """Sites 1 and 2 are hot one after the other, 3 all the time; each holds 8 MiB."""
    objects = [thing(1, 8 * MIB, 0, 50), thing(2, 8 * MIB, 50, 100), thing(3, 8 * MIB, 0, 0)]
    counts = [accesses(key, size * MIB, length=100) for key, size in ((1, 800), (2, 400), (3, 80))]
    plan = advice.Plan(measure.report([read(program(budget=10 * MIB), *objects, *counts, source(10 ** 6), end(100))]))
    base = plan.others
    late = advice.Plan(measure.report([read(program(), *objects, accesses(1, 10 * MIB, burst=1, begin=20, length=10),
                                            accesses(1, 20 * MIB, burst=2, begin=60, length=20), source(50), end(100))]))
    return [(plan.pack(base + 8 * MIB).limits == [8 * MIB, 8 * MIB, 0], "sites that live at different times share bytes"),
            (plan.pack(base + 10 * MIB).limits == [8 * MIB, 8 * MIB, 2 * MIB], "and the next one gets what both leave"),
            (plan.pack(base + 30 * MIB).rest == 14 * MIB and plan.pack(base + 10 * MIB).rest == 0, "what nobody uses at any time is told"),
            (round(plan.share(base + 8 * MIB), 3) == round((808 + 408) / 1304, 3), "the share that is served, by accesses and allocations"),
            (plan.share(base + 16 * MIB) == 1 and plan.share(0) == 0, "of all and of nothing"),
            (plan.pack(base).limits == [base // 2, base // 2, 0] and plan.pack(2 * base).limits[0] == base and plan.left(2 * base + MIB) == base + MIB,
             "small objects of unknown sites have their part, and half of a small budget"),
            (all(plan.budget_of(plan.left(one)) == one for one in (0, base // 2, base, 2 * base, 9 * base)), "which a budget is told from"),
            (plan.first_come(base + 8 * MIB) < 1 and round(plan.first_come(base + 8 * MIB), 3) == round(1216 / 1304, 3), "what comes first, beside it"),
            (late.report.sites[0].traffic is not None and late.report.sites[0].traffic.accessed == 10 * MIB * 6 + 20 * MIB * 2,
             "a burst stands for the time up to the next one, the first one for what was before it")]


def written() -> list[tuple[bool, str]]:
    """The file of advice: for this budget and others, and for more data."""
    objects = [site(1, (16, "/bin/app"), (32, "/lib/libc.so")), thing(1, 8 * MIB, 0, 0), thing(2, 8 * MIB, 0, 0),
               site(7, (16, "/bin/app"), (32, "/lib/libc.so")), *[thing(7, 2000, 0, 0) for _ in range(6)]]
    r = measure.report([read(program(), *objects, accesses(1, 800 * MIB, length=100), accesses(2, 8 * MIB, length=100), source(10 ** 6), end(100))])
    plan, names = advice.Plan(r), measure_names(r)
    lines = [one.split("#")[0].split() for one in advice.section(plan, 14 * MIB, names).splitlines()]
    more = [one.split("#")[0].split() for one in advice.section(plan, 26 * MIB, names, 32 * MIB).splitlines()]
    columns = dict(zip(lines[2][1:], zip(*(one[2:] for one in lines if one[0] == "site"))))
    unmeasured = measure.report([read(program(), *objects, end(100))])
    return [([one[0] for one in lines] == ["program", "data", "budgets", "rest", "site", "site", "small"], "its lines"),
            (lines[1] == ["data", str(16 * MIB)], "what large objects held"),
            (str(14 * MIB) in columns and [int(budget) for budget in columns] == sorted(map(int, columns)), "the budget is among the columns, in their order"),
            (columns[str(14 * MIB)] == (str(8 * MIB), str(14 * MIB - plan.others - 8 * MIB)), "with what sites get of it"),
            (all(len(one) - (1 if one[0] == "rest" else 3 if one[0] == "small" else 2) == len(columns) for one in lines[3:]), "each line has as many"),
            (lines[-1][:3] == ["small", f"{7:016x}", "8ad24ef1d6b4bdb2"] and lines[-1][3] == "0", "small objects by their innermost frame"),
            (lines[-1][-1] == str(6 * MIB) and columns[max(columns, key=int)] == (str(8 * MIB), str(8 * MIB)), "the last budget is enough for all"),
            (more[1] == ["data", str(32 * MIB)] and more[4][-1] == str(16 * MIB), "for twice the data each site has twice the bytes"),
            ("from 4 samples of the processor" in text.source(measure.report([read(program(), thing(1, MIB, 0, 0), source(4, kind=records.SAMPLES), end(9))]))
             and text.source(measure.report([read(program(), thing(1, MIB, 0, 0), source(4, 8000000, not_samples=13), end(9))]))
             == "from pages accessed in 4 epochs of 2.0 ms, and allocated bytes; no samples of the processor: Permission denied",
             "how accesses were measured, and why not better"),
            ("not measured" in advice.section(advice.Plan(unmeasured), MIB, names), "advice without accesses says so")]


def counted_in(*rows: tuple[int, ...]) -> counts.Counts:
    """Rows of site, size, allocated, freed, lines read and lines written, behind one that is of no object."""
    with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:
        file.write("site,size,sa,sf,fillr,fillw,wb,nt\n" + "".join(f"{key:x},{size},{sa},{sf},{read_},0,{written_},0\n"
                                                                  for key, size, sa, sf, read_, written_ in [(0, 0, 0, 0, 9, 9), *rows]))
        file.flush()
        return counts.read(Path(file.name))


def counting() -> list[tuple[bool, str]]:
    """Counts of a run with half of the data. Site 1 has two objects there, one after the other; site 2's is small there; 3 and 4 are not there."""
    deep = [(offset, "/bin/app") for offset in (1, 2, 3, 4)]
    profile = read(program(), site(1, (16, "/bin/app")), site(2, *deep), site(3, (48, "/bin/app")), thing(1, 4 * MIB, 0, 100), thing(2, MIB, 0, 100),
                   thing(3, MIB, 0, 100), thing(4, 2000, 0, 100), accesses(3, MIB), source(25), end(100))
    three = records.site_key(profile.sites[2][:3])
    counted = counted_in((1, 2 * MIB, 1, 2, 100, 50), (1, 2 * MIB, 3, 0, 0, 50), (three, MIB // 8, 4, 5, 1000, 0))
    counts.match([profile], counted)
    r = measure.report([profile])
    told = {site.key: site.traffic for site in r.sites}
    other = read(program(), site(9, (16, "/bin/app")), thing(9, MIB, 0, 100), end(100))
    return [(told[1].accessed == 2 * 200 * 64 and told[1].written == 2 * 100 * 64, "bytes are counted for each that its site holds at most"),
            (told[2].accessed == 8 * 1000 * 64, "a large object's site is known where its objects are small"),
            (told[3].accessed == 0 and told[3].cost == 0, "what was not counted has no accesses, and not the profile's own"),
            (4 not in told and 0 in told, "but small objects are of an unknown site then"),
            ([site.key for site in advice.Plan(r).sites] == [2, 1, 3], "advice is in the order of the counts"),
            ("1200 lines that an emulator has counted" in text.source(r), "and the report says who counted"),
            ("no call site in common" in refusal(lambda: counts.match([other], counted)), "another program's table is refused"),
            ("is not a table of objects" in refusal(lambda: counts.read(Path(__file__))), "and a file that is none"),
            (refusal(lambda: counts.read(Path("/nowhere"))) == "'/nowhere': No such file or directory", "or is not there")]


def keys() -> list[tuple[bool, str]]:
    """Of sites a, b, c: the first two differ in the fifth frame; the third in the second; the last has no more than three."""
    paths = ((1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 9, 6), (1, 8, 3, 4, 5, 6), (7, 2, 3))
    p = read(program(), *[site(100 + i, *[(offset, "/bin/app") for offset in path]) for i, path in enumerate(paths)],
             *[thing(100 + i, MIB, 0, 10) for i in range(4)], end(100))
    told = advice.shortest_keys(measure.report([p]).sites)
    frames = [p.sites[100 + i] for i in range(4)]
    return [(told[100] == records.site_key(frames[0][:5]) and told[101] == records.site_key(frames[1][:5]), "a key is of as many frames as tell its site apart"),
            (told[102] == records.site_key(frames[2][:3]), "of three where these suffice"),
            (told[103] == 103, "and of all where there are no more")]


def has_options(page: str, parser: argparse.ArgumentParser) -> bool:
    options = {option: action for action in parser._actions for option in action.option_strings if option.startswith("--")}
    forms = {f"{option}={action.metavar}" if action.metavar else option for option, action in options.items()}
    return set(re.findall(r"^(?:-h, )?(--[a-z-]+(?:=[A-Z]+)?)  ", page, re.M)) == forms


def closed(part: Any) -> Any:
    """The schema, in which no object may have other members than those that it describes."""
    if isinstance(part, list):
        return [closed(one) for one in part]
    if not isinstance(part, dict):
        return part
    inner = {name: closed(one) for name, one in part.items()}
    return inner | {"additionalProperties": False} if part.get("type") == "object" else inner


def printed(*extra: bytes, group: measure.Group | None = None) -> Any:
    """What --json prints of a program."""
    p = read(program(), site(1, (16, "/bin/app"), (32, "/lib/libc.so")), thing(1, 3 * MIB, 10, 20), thing(2, 100, 30, 0), *extra)
    r = measure.report([p], group)
    return json.loads(json.dumps([cli.as_json(r, measure_names(r))]))


def schema() -> list[tuple[bool, str]]:
    document = json.loads((TOP / "docs/schema/pmreport.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(document)
    open_, strict = (jsonschema.Draft202012Validator(one) for one in (document, closed(document)))
    bare = printed()
    full = printed(mark(1, 5), phase(1, 10, "push"), counters(10, 1, 2, 3, 4, records.ABSENT), accesses(1, MIB, MIB), source(25), end(100))
    broken = [[{**full[0], "version": 2}], [{name: one for name, one in full[0].items() if name != "sites"}],
              [{**full[0], "sites": [{**full[0]["sites"][0], "key": "5"}]}], [{**full[0], "iterations": "guessed"}], []]
    return [(strict.is_valid(bare) and strict.is_valid(full) and strict.is_valid(printed(group=lambda frames: "f")),
             "--json is as the schema says, and has no members of which it does not tell"),
            (full[0]["phases"][1]["name"] == "push" and len(full[0]["sites"]) == 2 and full[0]["accesses"]["count"] == 25, "of all parts"),
            (bare[0]["accesses"] is None and bare[0]["sites"][0]["accessed_bytes"] is None, "and null for what was not measured"),
            (open_.is_valid([{**full[0], "new": 1}]), "to which members may be added"),
            (not any(open_.is_valid(one) for one in broken), "but a member that is missing or of another kind is not")]


def documented() -> list[tuple[bool, str]]:
    page, rest = (TOP / "docs/man/pmreport.1.rst").read_text().split("CALIBRATION\n")
    calibration, job = rest.split("\nJOB\n")
    return [*schema(), (has_options(page, cli.parser()), "the page has the options that there are"),
            (has_options(calibration, calibration_cli.parser()), "and those of pmreport calibration"),
            (has_options(job, job_cli.parser()), "and of pmreport job")]


if __name__ == "__main__":
    sys.exit(report(reading() + living() + measuring() + phasing() + advising() + weighing() + over_time() + written() + counting() + keys() + naming() + asking() + grouping() + documented()))
