"""Pages and pictures as chromium shows them, for tests: what is too wide, cut, too small, too pale, or across an edge."""
import json
import os
import re
import subprocess
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

WIDTHS = (1280, 390)
THEMES = ("dark", "light")

# A page of a picture alone has the picture's own background, below all boxes.
PROBE = """<script>
const shown = e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 && !e.closest("thead") };
const place = t => { const b = t.getBBox(), m = t.getScreenCTM(); return {l: m.e + m.a * b.x, r: m.e + m.a * (b.x + b.width),
  t: m.f + m.d * b.y, b: m.f + m.d * (b.y + b.height), words: t.textContent, high: m.d * parseFloat(getComputedStyle(t).fontSize)} };
const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
  return .2126 * v[0] + .7152 * v[1] + .0722 * v[2] };
const ground = document.querySelector("svg rect.page");
const back = ground ? getComputedStyle(ground).fill : getComputedStyle(document.body).backgroundColor;
const contrast = (c, on = back) => { const [a, b] = [light(c), light(on)]; return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) };
const values = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number);
const mixed = (c, share, on) => "rgb(" + values(on).map((x, i) => x + share * (values(c)[i] - x)).join() + ")";
const filled = s => [...s.querySelectorAll("rect")].filter(r => getComputedStyle(r).fill !== "none")
  .map(r => [r.getBoundingClientRect(), getComputedStyle(r).fill, getComputedStyle(r).fillOpacity]);
const holds = (b, a) => b.left <= a.l + 1 && b.right >= a.r - 1 && b.top <= a.t + 3 && b.bottom >= a.b - 3;
const meets = (b, a) => b.left < a.r - 1 && b.right > a.l + 1 && b.top < a.b - 3 && b.bottom > a.t + 3;
const below = (boxes, a) => boxes.filter(([b]) => holds(b, a)).reduce((on, [, fill, share]) => mixed(fill, share, on), back);
document.querySelectorAll("details").forEach(d => d.open = true);
const found = {width: innerWidth, scroll: document.documentElement.scrollWidth, back, cut: [], over: [], tiny: [], pale: [], edge: [], wide: [], pictures: 0};
for (const s of [...document.querySelectorAll("svg")].filter(s => shown(s) && !s.querySelector("svg"))) {
  found.pictures++;
  const box = (s.ownerSVGElement || s).getBoundingClientRect(), all = [...s.querySelectorAll("text")].filter(t => t.textContent).map(place);
  for (const a of all) {
    if (a.l < box.left - 1 || a.r > box.right + 1 || a.t < box.top - 2 || a.b > box.bottom + 2) found.cut.push(a.words);
    if (a.high < 10) found.tiny.push(a.words);
    for (const b of all) if (a !== b && a.l < b.r - 1 && b.l < a.r - 1 && a.t < b.b - 3 && b.t < a.b - 3) found.over.push(a.words + " / " + b.words);
  }
  const boxes = ground ? filled(s) : [];
  if (ground) for (const [i, t] of [...s.querySelectorAll("text")].filter(t => t.textContent).entries()) {
    if (boxes.some(([b]) => meets(b, all[i]) && !holds(b, all[i]))) found.edge.push(t.textContent);
    if (contrast(getComputedStyle(t).fill, below(boxes, all[i])) < 4.5) found.pale.push(t.textContent);
  } else for (const t of s.querySelectorAll("text")) if (contrast(getComputedStyle(t).fill) < 4.5) found.pale.push(t.textContent);
  for (const p of s.querySelectorAll("path,rect:not(.track,.page,.panel,.under,.edge)")) if (contrast(getComputedStyle(p).fill) < 1.5) found.pale.push(p.textContent);
}
for (const e of [...document.querySelectorAll("td,th,li,li span,p,h1,h2,dt,dd,summary,figcaption")].filter(shown)) {
  if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline" || e.getBoundingClientRect().right > innerWidth + 1) found.wide.push(e.textContent);
  if (e.textContent && contrast(getComputedStyle(e).color) < 4.5) found.pale.push(e.textContent);
}
parent.document.getElementById(name).dataset.found = encodeURIComponent(JSON.stringify(found));
</script>"""


class Shown(NamedTuple):
    page: str
    width: int
    theme: str


def frame(name: str, page: str, shown: Shown) -> str:
    """Windows are 500 pixels wide at least, frames are not. A frame's theme is that of its element."""
    inner = escape(f"{page}<script>const name = {name!r}</script>{PROBE}")
    return f'<iframe id="{name}" style="width:{shown.width}px;height:900px;border:0;color-scheme:{shown.theme}" srcdoc="{inner}"></iframe>'


def browsed(pages: dict[str, str], folder: Path) -> dict[Shown, dict[str, Any]]:
    """What the probe finds in each page, wide and narrow, dark and light. All are shown by one start of chromium, since that takes seconds."""
    every = {f"frame{i}": Shown(*x) for i, x in enumerate((page, width, theme) for page in pages for width in WIDTHS for theme in THEMES)}
    file = folder / "pages.html"
    file.write_text('<!doctype html><meta name="color-scheme" content="light dark">'
                    + "".join(frame(name, pages[shown.page], shown) for name, shown in every.items()))
    run = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile",
                          "--window-size=1400,1000", "--dump-dom", f"file://{file}"],
                         capture_output=True, text=True, timeout=300, check=False, env=os.environ | {"HOME": str(folder)})
    found = dict(re.findall(r'id="(frame\d+)"[^>]* data-found="([^"]*)"', run.stdout))
    return {shown: json.loads(unquote(found[name])) if name in found else {"error": run.stderr[-500:]} for name, shown in every.items()}
