"""The page of `pmctl report calibration`: one file, no script, both themes, fit to be printed."""
from __future__ import annotations

from html import escape
from typing import Iterable

from siteprofile import words
from siteprofile.chart import Bound, Line, chart
from siteprofile.compare import Row, outliers, rows
from siteprofile.measures import CURVES, LOOPS, PLACES
from siteprofile.profiles import SiteProfile, loop_name

STYLE = """:root{--page:#fff;--ink:#1f2933;--soft:#52606d;--rule:#d9dee4;--warn:#fdf3e1;
--s0:#1f6fb2;--s1:#b4530a;--s2:#2e7d4f;--s3:#7b4fa3;--other:#9aa5b1;--bound:#8a1c3b;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e4e7eb;--soft:#a3afbc;--rule:#323a44;--warn:#3a2f18;
--s0:#6db3f2;--s1:#f0a35e;--s2:#7fd1a0;--s3:#c6a5e8;--other:#66717d;--bound:#f08aa4}}
@media print{:root{--page:#fff;--ink:#000;--soft:#333;--rule:#bbb;--warn:#fff;
--s0:#1f6fb2;--s1:#b4530a;--s2:#2e7d4f;--s3:#7b4fa3;--other:#888;--bound:#8a1c3b}section,tr{break-inside:avoid}}
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--page)}
h1{margin-bottom:.2rem}p.soft,figcaption{color:var(--soft)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:1rem}figure{margin:0;overflow-x:auto}
svg{display:block;width:100%;min-width:31rem;height:auto;font-size:13px}polyline{fill:none;stroke-width:2}
.grid{stroke:var(--rule)}.tick{fill:var(--soft)}.spread{stroke-width:1.5}
.bound{stroke:var(--bound);stroke-dasharray:5 4}text.bound{fill:var(--bound);stroke:none}text.label{stroke:none}
.s0{stroke:var(--s0)}circle.s0,text.s0{fill:var(--s0)}.s1{stroke:var(--s1)}circle.s1,text.s1{fill:var(--s1)}
.s2{stroke:var(--s2)}circle.s2,text.s2{fill:var(--s2)}.s3{stroke:var(--s3)}circle.s3,text.s3{fill:var(--s3)}
.other{stroke:var(--other)}circle.other,text.other{fill:var(--other)}
.table{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}
td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
.first td:first-child,.first th:first-child{text-align:left}.first td:nth-child(n+2){text-align:right}
td:nth-child(2),th:nth-child(2),td:last-child,th:last-child{text-align:left}td:last-child{white-space:normal}
.warn{background:var(--warn);border-left:4px solid var(--s1);padding:.5rem 1rem}"""

# Each direction is bounded by one tier: copies in by reading PMem, copies out by writing it.
BOUNDS = {"copy-in": "pmem-read", "both-in": "pmem-read", "copy-out": "pmem-write", "both-out": "pmem-write"}


def lines(node: SiteProfile, others: list[SiteProfile], name: str) -> list[Line]:
    behind = [Line(words.title(other), "other", other.curve(socket, name), has_label=False)
              for other in others for socket in other.sockets()]
    own = [Line(f"socket {socket}", f"s{i % 4}", node.curve(socket, name)) for i, socket in enumerate(node.sockets())]
    return [line for line in behind + own if line.points]


def bounds(node: SiteProfile, references: list[SiteProfile], name: str) -> list[Bound]:
    """The first that is printed."""
    found = [Bound(f"{m.name} in print", m.value) for reference in references for m in reference.measures
             if m.name == BOUNDS[name] and not m.is_assumed and not node.is_virtual]
    return found[:1]


def figure(caption: str, drawn: list[Line], levels: list[Bound]) -> str:
    return f"<figure>{chart(caption, drawn, levels)}<figcaption>{escape(caption)}</figcaption></figure>" if drawn else ""


def charts(node: SiteProfile, others: list[SiteProfile], references: list[SiteProfile]) -> str:
    figures = (figure(text, lines(node, others, name), bounds(node, references, name)) for name, text in CURVES.items())
    return f'<section class="charts">{"".join(figures)}</section>'


def loop_lines(node: SiteProfile, socket: int, loop: str) -> list[Line]:
    """The places with more than one number of threads."""
    found = [(place, node.curve(socket, loop_name(loop, place))) for place in PLACES]
    return [Line(place, f"s{i % 4}", points) for i, (place, points) in enumerate(found) if len(points) > 1]


def loop_charts(node: SiteProfile) -> str:
    figures = "".join(figure(f"{text}, socket {node.sockets()[0]}", loop_lines(node, node.sockets()[0], loop), [])
                      for loop, text in LOOPS.items()) if node.sockets() else ""
    return f'<h2>Loops over threads</h2><section class="charts">{figures}</section>' if figures else ""


def most_of(node: SiteProfile, socket: int | None, loop: str, place: str) -> str:
    points = node.curve(socket, loop_name(loop, place))
    return f"{points[-1].value / 1e9:.1f}" if points else ""


def loop_table(node: SiteProfile, socket: int | None) -> str:
    """With all cores; loops and places that were measured."""
    cells = {(loop, place): most_of(node, socket, loop, place) for loop in LOOPS for place in PLACES}
    loops = [loop for loop in LOOPS if any(cells[loop, place] for place in PLACES)]
    places = [place for place in PLACES if any(cells[loop, place] for loop in LOOPS)]
    body = "".join(row_of((PLACES[place], *(cells[loop, place] for loop in loops)), "td") for place in places)
    where = "All sockets at once" if socket is None else f"Socket {socket}"
    return f'<h3>{where}</h3><div class="table first"><table>{row_of(("GB/s", *loops), "th")}{body}</table></div>' if body else ""


def loops_section(node: SiteProfile) -> str:
    places: list[int | None] = [None, *node.sockets()]
    tables = "".join(loop_table(node, socket) for socket in places)
    key = "".join(f"<li>{escape(loop)}: {escape(text)}</li>" for loop, text in LOOPS.items())
    return f"{loop_charts(node)}<section><h2>Loops with all cores</h2>{tables}<ul class=soft>{key}</ul></section>" if tables else ""


def row_of(cells: Iterable[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def table(found: Iterable[Row]) -> str:
    return f'<div class="table"><table>{row_of(words.HEAD, "th")}{"".join(row_of(words.cells(r), "td") for r in found)}</table></div>'


def warnings(nodes: list[SiteProfile]) -> str:
    told = [f"{words.title(n)} was measured under a hypervisor: its numbers say nothing of a real node, and are not compared with "
            "printed ones." for n in nodes if n.is_virtual]
    return "".join(f'<p class="warn">{escape(text)}</p>' for text in told)


def nodes_section(nodes: list[SiteProfile]) -> str:
    if len(nodes) == 1:
        return ""
    told = words.outlier_lines(outliers(nodes)) or (
        ["No node is more than a tenth worse than the median of all."] if len(nodes) > 2 else
        ["With two nodes neither is an outlier: measure a third."])
    items = "".join(f"<li>{escape(line)}</li>" for line in told)
    return f"<section><h2>Nodes of the class</h2><p>{len(nodes)} nodes. The others are grey in the charts.</p><ul>{items}</ul></section>"


def reference_note(reference: SiteProfile) -> str:
    places = "; ".join(f"{words.TEXTS.get(m.name, m.name)} {words.number(m.value, m.unit)} ({m.source})"
                       for m in reference.measures if not m.is_assumed)
    return f'<p class="soft">In print, {escape(reference.name)}: {escape(reference.reference)}. {escape(places)}.</p>'


def page(nodes: list[SiteProfile], references: list[SiteProfile]) -> str:
    """The first node in detail, the others behind it."""
    node, others = nodes[0], nodes[1:]
    name = escape(words.title(node))
    notes = "".join(reference_note(reference) for reference in references if not node.is_virtual)
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{name}: calibration</title><style>{STYLE}</style><h1>{name}</h1>"
            f'<p class="soft">{escape("; ".join(words.provenance(node)))}</p>{warnings(nodes)}'
            f"<h2>Copies over threads</h2>{charts(node, others, references)}{nodes_section(nodes)}{loops_section(node)}"
            f"<section><h2>All measures</h2>{table(rows(node, others, references))}{notes}</section></html>\n")
