"""The report as a page that needs no other files: its pictures are SVG."""
from __future__ import annotations

from html import escape
from typing import Iterable

from pmprofile import text
from pmprofile.measure import PMEM, Report, footprint
from pmprofile.records import Profile
from pmprofile.symbols import Names

WIDTH, HEIGHT, STEPS = 900, 220, 450
DRAM_COLOUR, PMEM_COLOUR, FREED_COLOUR = "#2a6f97", "#e09f3e", "#9aa5b1"
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2933}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}
td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #e4e7eb}
td:last-child.site,th:last-child.site{text-align:left;font-family:monospace}
svg{width:100%;height:auto}h2{margin-top:2.5rem}"""


def levels(profile: Profile) -> list[tuple[int, int]]:
    """Bytes in DRAM and in PMem over the run, in equal steps."""
    changes = [[0, 0] for _ in range(STEPS + 1)]
    for o in profile.objects:
        tier, size = int(o.space == PMEM), footprint(o, profile)
        changes[min(STEPS, o.from_ns * STEPS // (profile.end_ns or 1))][tier] += size
        if o.to_ns:
            changes[min(STEPS, o.to_ns * STEPS // (profile.end_ns or 1))][tier] -= size
    now, seen = [0, 0], []
    for dram, pmem in changes:
        now = [now[0] + dram, now[1] + pmem]
        seen.append((now[0], now[1]))
    return seen


def area(lower: list[float], upper: list[float], colour: str) -> str:
    points = [(i * WIDTH / STEPS, y) for i, y in enumerate(upper)]
    points += [(i * WIDTH / STEPS, lower[i]) for i in range(STEPS, -1, -1)]
    return f'<polygon fill="{colour}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def picture(body: Iterable[str], caption: str) -> str:
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 24}" role="img" aria-label="{escape(caption)}">{"".join(body)}'
            f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}" stroke="#7b8794"/>'
            f'<text x="0" y="{HEIGHT + 18}" font-size="13" fill="#52606d">{escape(caption)}</text></svg>')


def over_time(profile: Profile) -> str:
    seen = levels(profile)
    top = max(dram + pmem for dram, pmem in seen) or 1
    ground = [float(HEIGHT)] * (STEPS + 1)
    dram = [HEIGHT - HEIGHT * d / top for d, _ in seen]
    both = [HEIGHT - HEIGHT * (d + p) / top for d, p in seen]
    return picture([area(ground, dram, DRAM_COLOUR), area(dram, both, PMEM_COLOUR)],
                   f"{profile.path.name}: DRAM (blue) and PMem (yellow) over {profile.end_ns / 1e9:.1f} s, at most {text.size(top)}")


def bars(report: Report) -> str:
    numbers = sorted(set(report.allocations) | set(report.frees))[:STEPS // 3]
    top = max(max(report.allocations[n], report.frees[n]) for n in numbers) or 1
    step = WIDTH / len(numbers)
    body = []
    for i, n in enumerate(numbers):
        for j, (value, colour) in enumerate(((report.allocations[n], DRAM_COLOUR), (report.frees[n], FREED_COLOUR))):
            high = HEIGHT * value / top
            body.append(f'<rect x="{i * step + j * step * .4:.1f}" y="{HEIGHT - high:.1f}" width="{step * .38:.1f}" '
                        f'height="{high:.1f}" fill="{colour}"><title>iteration {n}: {value:.0f}</title></rect>')
    return picture(body, f"objects allocated (blue) and freed (grey) in iterations {numbers[0]} to {numbers[-1]}, at most {top:.0f}")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], last: str = "") -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        words = [f"<{tag}>{escape(cell)}</{tag}>" for cell in cells[:-1]]
        return f'<tr>{"".join(words)}<{tag} class="{last}">{escape(cells[-1])}</{tag}></tr>'
    return f'<table>{row(head, "th")}{"".join(row(cells, "td") for cells in rows)}</table>'


def part(report: Report, names: Names) -> str:
    largest = max(report.profiles, key=lambda p: sum(o.bytes for o in p.objects))
    return "\n".join([
        f"<h1>{escape(text.heading(report).splitlines()[0])}</h1>",
        "<h2>Memory over time</h2>", over_time(largest),
        f"<h2>Objects by iteration</h2><p>Iterations are {escape(text.NOTES[report.clocks[0].source])}.</p>", bars(report),
        f"<h2>Phases</h2><p>{escape(text.phases_note(report))}.</p>", table(text.PHASES_HEAD, text.phase_rows(report), "site"),
        f"<h2>Objects by size and lifetime</h2><p>{text.share_short(report):.1f}% of the objects are short-lived.</p>",
        table(text.SIZES_HEAD, text.bins(report.table)),
        "<h2>Call sites, by what each byte of DRAM would serve</h2>",
        table(text.SITES_HEAD, (text.site_row(site, names) for site in report.sites), "site")])


def page(told: list[tuple[Report, Names]]) -> str:
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>pmreport</title><style>{STYLE}</style>'
            + "\n".join(part(*one) for one in told) + "</html>")
