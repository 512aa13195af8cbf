"""The page of one job: one file, no script, both themes, fit to be printed. A block without content is left out."""
from __future__ import annotations

from html import escape

from jobreport.chart import STYLES, chart, panels_of
from jobreport.job import TIERS, Job, Node
from picture.axis import BYTES, shown
from pmprofile.html import both
from pmprofile.markup import paragraph, section, table
from pmprofile.style import STYLE

PARTS_HEAD = ("socket", "at most", "limit", "node and tier")
TIMES_HEAD = ("mode", "set-up", "job", "clean-up", "memory at most", "limit", "node")
REBOOTS_HEAD = ("from", "to", "seconds", "node")


def span(seconds: float) -> str:
    """As pmctl report has them."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min" if whole < 48 * 3600 else f"{whole // 86400} days"


def energy(joules: int) -> str:
    """As pmctl report has it; empty where the site does not account it."""
    for unit, scale in (("MJ", 1e6), ("kJ", 1e3)):
        if joules >= scale:
            return f"{joules / scale:.1f} {unit}"
    return f"{joules} J" if joules else ""


def size(amount: int, without: str = "-") -> str:
    return shown(amount, BYTES) if amount else without


def facts(job: Job) -> str:
    slowest = max((node.setup_ms for node in job.nodes), default=0)
    cleanup = max((node.cleanup_ms for node in job.nodes), default=0)
    has_ended = any(node.seconds for node in job.nodes)
    reboots = [(r["start"], r["end"]) for r in job.reboots if r.get("end")]
    found = {"state": job.facts.get("state", ""), "mode": job.nodes[0].mode if job.nodes else "", "nodes": job.facts.get("nodes", ""),
             "reboot, not charged": span(max(e for _, e in reboots) - min(s for s, _ in reboots)) if reboots else "",
             "set-up, charged": span(slowest / 1000) if job.nodes else "",
             "clean-up, not charged": span(cleanup / 1000) if has_ended else "",
             "energy": energy(job.facts.get("energy_joules", 0)),
             "memory at most": size(max((node.peak for node in job.nodes), default=0), "")}
    return "<dl>" + "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in found.items() if value) + "</dl>"


def warnings(job: Job) -> str:
    told = [f"{r['node']} did not come back from its reboot as it should: {r['failure']}" for r in job.reboots if r.get("failure")]
    missing = job.facts.get("n_nodes", 0) - len(job.nodes)
    if missing > 0:
        why = ("a node failed before it could report" if job.facts.get("state") == "NODE_FAIL" else
               "nodes do when they have cleaned up after the job")
        told.append(f"{missing} of {job.facts['n_nodes']} nodes have not reported: {why}.")
    return "".join(paragraph(words, "warn") for words in told)


def legend(node: Node) -> str:
    items = "".join(f'<li><span class="swatch {style}"></span><span>{TIERS[tier]}</span><span class="size">at most {shown(node.most(tier), BYTES)}'
                    "</span></li>" for tier, style in STYLES.items() if node.most(tier))
    return f'<ul class="legend">{items}</ul>'


def over_time(node: Node, number: int) -> str:
    if not panels_of(node):
        return ""
    drawn = both(lambda form: chart(f"time{number}-{form.name}", form, node))
    note = (f"Bytes at each look, every {node.step_s} s in this chart; each holds until the next. The highest use that the kernel itself "
            "counted is in the tables.")
    return section(f"Memory of {node.name} over time",
                   f'<figure class="chart">{drawn}{legend(node)}<figcaption>{escape(note)}</figcaption></figure>')


def runtime(job: Job) -> str:
    """What the ranks' placement runtime has reported."""
    counts = {"dram": "in DRAM, at most", "pmem": "in PMem, at most", "spilled": "spilled", "promoted": "promoted"}
    rows = [(size(job.runtime[f"{key}_bytes"]), size(job.runtime[f"{key}_most_bytes"]), job.runtime[f"{key}_most_rank"] or "-", words)
            for key, words in counts.items() if job.runtime.get(f"{key}_bytes")]
    note = paragraph(f"Of {job.runtime.get('processes')} processes.", "soft")
    return section("Objects of the placement runtime", table(("all", "most of a rank", "rank", "bytes"), rows), note) if rows else ""


def charts(job: Job, top: int) -> str:
    found = [(node, i) for i, node in enumerate(job.nodes) if panels_of(node)]
    more = found[top:]
    folded = f"<details><summary>{len(more)} more node{'s' if len(more) > 1 else ''}</summary>{''.join(over_time(*one) for one in more)}</details>" if more else ""
    none = paragraph("No look at the job's memory was kept.", "soft") if job.nodes and not found else ""
    return "".join(over_time(*one) for one in found[:top]) + folded + none


def nodes(job: Job) -> str:
    if not job.nodes:
        return ""
    rows = ((node.mode, span(node.setup_ms / 1000), span(node.seconds) if node.seconds else "runs",
             span(node.cleanup_ms / 1000) if node.seconds else "-", size(node.peak), size(node.limit), node.name) for node in job.nodes)
    return section("Nodes", table(TIMES_HEAD, rows))


def parts(job: Job) -> str:
    rows = [(str(part.socket), size(part.peak), size(part.limit), f"{node.name}, {TIERS.get(part.tier, part.tier)}"
             + (str(part.number) if part.tier == "dir" else "")) for node in job.nodes for part in node.parts if part.peak or part.limit]
    return section("Highest use, by tier and socket", table(PARTS_HEAD, rows)) if rows else ""


def reboots(job: Job) -> str:
    rows = [(r.get("from", "-"), r.get("to", "-"), str(max(0, r["end"] - r["start"])), r["node"]) for r in job.reboots]
    return section("Reboots for the job", table(REBOOTS_HEAD, rows)) if rows else ""


def page(job: Job, top: int) -> str:
    name = escape(f"Job {job.number}" + (f", {job.facts['name']}" if job.facts.get("name") else ""))
    blocks = (f"<h1>{name}</h1>", facts(job), warnings(job), charts(job, top), nodes(job), parts(job), runtime(job), reboots(job))
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{name}</title><style>{STYLE}</style>" + "\n".join(block for block in blocks if block) + "</html>\n")
