"""The curve of the counted traffic that DRAM serves, against the DRAM of a rank: how much to ask for."""
from __future__ import annotations

from picture import svg
from picture.axis import BYTES, Scale, scale, shown
from pmprofile import text
from pmprofile.markup import both, section
from pmprofile.told import Told

LEFT, RIGHT, TOP, AXIS = 44, 14, 26, 40
STEP = 0.2
KINDS = (("served", "as advised"), ("first", "what comes first"))
NOTE = ("Each point is what the runtime would serve of this run's traffic with that budget, estimated {}. The first part of the "
        "budget is for small objects of which too little is known.")


def line(style: str, name: str, points: list[tuple[float, float]]) -> str:
    data = "M" + "L".join(f"{svg.num(x)},{svg.num(y)}" for x, y in points)
    return svg.path(style, data, name)


def grid(form: svg.Format, x: Scale, y: Scale) -> str:
    foot = TOP + form.panel
    levels = [(y.at(i * STEP), f"{100 * i * STEP:.0f}%") for i in range(round(1 / STEP) + 1)]
    return ("".join(svg.line("grid", (LEFT, form.width - RIGHT), (at, at)) + svg.text(LEFT - 6, at + 4, words, "tick", "end") for at, words in levels)
            + "".join(svg.text(at, foot + 17, words, "tick", "middle") for at, words in x.ticks())
            + svg.text(form.width - RIGHT, foot + 34, f"DRAM of a rank, {x.unit[0]}", "tick", "end"))


def chart(form: svg.Format, told: Told) -> str:
    budgets = told.plan.budgets(told.budget)
    x = scale(max(budgets), BYTES, (LEFT, form.width - RIGHT), form.lines)
    y = Scale(("", 1.0), STEP, 1.0, TOP + form.panel, TOP)
    shares = ([(budget, told.plan.share(budget)) for budget in budgets], [(budget, told.plan.first_come(budget)) for budget in budgets])
    body = [grid(form, x, y)]
    for (style, name), points in zip(KINDS, shares):
        body.append(line(style, name, [(x.at(0), y.at(0)), *((x.at(budget), y.at(part)) for budget, part in points)]))
    served = text.percent(told.plan.share(told.budget))
    body.append(svg.line("bound", (x.at(told.budget),) * 2, (TOP - 4, TOP + form.panel)))
    anchor = "start" if x.at(told.budget) < form.width / 2 else "end"
    body.append(svg.text(x.at(told.budget), TOP - 9, f"budget {shown(told.budget, BYTES)}: {served}", "bound", anchor))
    about = "; ".join(f"{shown(budget, BYTES)}: {text.percent(part)}" for budget, part in shares[0])
    return svg.picture(f"served{told.number}-{form.name}", (form.width, TOP + form.panel + AXIS), ("Traffic that DRAM serves, as advised", about), body)


def served(told: Told) -> str:
    """Nothing where accesses were not measured."""
    if not told.report.is_measured or told.names.by_function:
        return ""
    key = "".join(f'<li><span class="swatch {style}"></span><span>{word}</span></li>' for style, word in KINDS)
    drawn = both(lambda form: chart(form, told))
    return section("Traffic that DRAM serves", f'<figure class="chart">{drawn}<ul class="legend">{key}</ul>'
                   f"<figcaption>{NOTE.format(text.source(told.report))}</figcaption></figure>")
