"""Pages of reports as chromium shows them, for tests: what is too wide, cut, too small or too pale."""
import json
import os
import re
import subprocess
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

WIDTHS = (1280, 390)

PROBE = """<script>
const shown = e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 && !e.closest("thead") };
const place = t => { const b = t.getBBox(), m = t.getScreenCTM(); return {l: m.e + m.a * b.x, r: m.e + m.a * (b.x + b.width),
  t: m.f + m.d * b.y, b: m.f + m.d * (b.y + b.height), words: t.textContent, high: m.d * parseFloat(getComputedStyle(t).fontSize)} };
const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
  return .2126 * v[0] + .7152 * v[1] + .0722 * v[2] };
const back = getComputedStyle(document.body).backgroundColor;
const contrast = c => { const [a, b] = [light(c), light(back)]; return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) };
document.querySelectorAll("details").forEach(d => d.open = true);
const found = {width: innerWidth, scroll: document.documentElement.scrollWidth, back, cut: [], over: [], tiny: [], pale: [], wide: [], pictures: 0};
for (const s of [...document.querySelectorAll("svg")].filter(shown)) {
  found.pictures++;
  const box = s.getBoundingClientRect(), all = [...s.querySelectorAll("text")].map(place);
  for (const a of all) {
    if (a.l < box.left - 1 || a.r > box.right + 1 || a.t < box.top - 2 || a.b > box.bottom + 2) found.cut.push(a.words);
    if (a.high < 10) found.tiny.push(a.words);
    for (const b of all) if (a !== b && a.l < b.r - 1 && b.l < a.r - 1 && a.t < b.b - 3 && b.t < a.b - 3) found.over.push(a.words + " / " + b.words);
  }
  for (const t of s.querySelectorAll("text")) if (contrast(getComputedStyle(t).fill) < 4.5) found.pale.push(t.textContent);
  for (const p of s.querySelectorAll("path,rect:not(.track)")) if (contrast(getComputedStyle(p).fill) < 1.5) found.pale.push(p.textContent);
}
for (const e of [...document.querySelectorAll("td,th,li,li span,p,h1,h2,dt,dd,summary,figcaption")].filter(shown)) {
  if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline" || e.getBoundingClientRect().right > innerWidth + 1) found.wide.push(e.textContent);
  if (e.textContent && contrast(getComputedStyle(e).color) < 4.5) found.pale.push(e.textContent);
}
parent.document.documentElement.dataset.found = encodeURIComponent(JSON.stringify(found));
</script>"""


def browsed(page: str, folder: Path, width: int, scheme: int) -> dict[str, Any]:
    """What the probe finds in the page; scheme 0 is dark, 1 light. Windows are 500 pixels wide at least, frames are not."""
    file = folder / "page.html"
    file.write_text('<!doctype html><meta name="color-scheme" content="light dark">'
                    f'<iframe style="width:{width}px;height:900px;border:0;color-scheme:light dark" srcdoc="{escape(page + PROBE)}"></iframe>')
    run = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile",
                          f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1400,1000", "--dump-dom", f"file://{file}"],
                         capture_output=True, text=True, timeout=120, check=False, env=os.environ | {"HOME": str(folder)})
    found = re.search(r'data-found="([^"]*)"', run.stdout)
    if not found:
        return {"error": run.stderr[-500:]}
    return dict(json.loads(unquote(found[1])))
