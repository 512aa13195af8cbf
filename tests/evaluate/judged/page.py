"""The report of an evaluation as a page that needs no other files and no script, in the look of pmreport's pages."""
from __future__ import annotations

from collections.abc import Sequence
from html import escape

from meter import time_model
from picture.axis import BYTES, shown
from pmprofile.markup import both, paragraph, section, table
from pmprofile.style import STYLE
from judged.chart import PERCENT, RATIO, Bar, Panel, chart
from judged.results import One, failed, ones
from judged.verdict import percent, verdict

HEAD = ("share served", "predicted time", "read from PMem", "written to PMem", "copied", "traffic beyond all in DRAM", "DRAM used, at most", "configuration")
REMOTE = ("The machine has one socket: no byte is remote. `make papers` counts local and remote bytes of minipic on two sockets.")
COSTS = ("Traffic is of the program, its libraries and pages that the kernel copies: that of a configuration, less that of all in DRAM, is the cost of "
         "the library or kernel that places, and of caches that hit otherwise. The runtime tells the DRAM that it used, its slabs among it; the kernel does not.")


def used(one: One) -> int | None:
    return one.result.get("dram_peak_bytes")


def style(one: One) -> str:
    return "c0" if one.name.startswith("ours") else "others"


def cells(one: One) -> tuple[str, ...]:
    result, held = one.result, used(one)
    return ("-" if one.share is None else percent(one.share), f"{one.time:.2f}", *(shown(result[key], BYTES) for key in ("pmem_read", "pmem_written", "copied")),
            f"{100 * one.more:+.1f} %", "-" if held is None else shown(held, BYTES), one.name)


def amount(size: float) -> str:
    return shown(size, BYTES)


def panels(program: dict, found: Sequence[One]) -> list[Panel]:
    return [
        Panel("Share served by DRAM", [Bar(one.name, [] if one.share is None else [(style(one), "", one.share)]) for one in found], PERCENT, percent,
              ("oracle of call sites", program["oracle_share"])),
        Panel("Predicted time, of all in DRAM", [Bar(one.name, [(style(one), "", one.time)]) for one in found], RATIO),
        Panel("Bytes of PMem, read (blue) and written (orange)", [Bar(one.name, [("c0", "read ", one.result["pmem_read"]), ("c1", "written ", one.result["pmem_written"])])
                                                             for one in found], words=amount),
        Panel("DRAM used by the runtime, at most", [Bar(one.name, [(style(one), "", used(one))]) for one in found if used(one) is not None], words=amount,
              mark=("budget", program["dram_bytes"])),
    ]


def figures(program: dict, found: Sequence[One]) -> str:
    drawn = (both(lambda form: chart(f"{program['program']}-{i}-{form.name}", form, panel)) for i, panel in enumerate(panels(program, found)) if panel.bars)
    return "".join(f'<figure class="chart">{one}</figure>' for one in drawn)


def facts(program: dict) -> str:
    sizes = (f"heap {shown(program['peak_bytes'], BYTES)} at most, {shown(program['dram_bytes'], BYTES)} of DRAM for it; "
             f"an oracle that knows the counts of each call site serves {percent(program['oracle_share'])}.")
    slabs, small = (shown(program[key], BYTES) for key in ("slab_bytes", "small_peak_bytes"))
    return paragraph(f"{program['about']}: {sizes} Objects below 256 KiB hold {small} at most; a native run takes {slabs} for their slabs.", "soft")


def part(program: dict) -> str:
    found = list(ones(program).values())
    warning = paragraph(f"Failed: {', '.join(failed(program))}.", "warn") if failed(program) else ""
    return section(program["program"], facts(program), paragraph(verdict(program)), warning, table(HEAD, map(cells, found)), figures(program, found))


def head() -> str:
    error = time_model.predict(time_model.Traffic())
    model = (f"Share: of the bytes behind the caches, those that DRAM serves. Time: predicted for streams, of all in DRAM; the model errs by "
             f"{100 * error.error:.0f} % on the values that it is fitted to, and {100 * error.error_elsewhere:.0f} % elsewhere.")
    return f"<h1>Ways of placing memory, counted</h1>{paragraph(model)}{paragraph(REMOTE)}{paragraph(COSTS, 'soft')}"


def page(programs: Sequence[dict]) -> str:
    verdicts = section("Verdicts", table(("", "verdict"), ((one["program"], verdict(one)) for one in programs)))
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>evaluate: {escape(', '.join(one['program'] for one in programs))}</title><style>{STYLE}\nfigure{{margin-top:1.5rem}}</style>\n"
            + "\n".join([head(), verdicts, *map(part, programs)]) + "</html>\n")
