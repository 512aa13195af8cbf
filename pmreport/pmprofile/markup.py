"""Parts of a page that its blocks share: sections, tables, names that may be broken."""
from __future__ import annotations

import re
from html import escape
from typing import Callable, Iterable, Sequence

from picture import svg

SIZE = re.compile(r"([\d.]+)([BKMGT])")


def sized(word: str) -> str:
    """A size of the text report, with the unit that the charts have: "28.0M" is "28.0 MiB"."""
    found = SIZE.fullmatch(word)
    if not found:
        return word
    return f"{found[1]} {'bytes' if found[2] == 'B' else found[2] + 'iB'}" if found[1] != "0" else "0"


def breakable(words: str) -> str:
    """Escaped; a long name may continue on the next line behind its colons and low lines."""
    return re.sub(r"(::|_)(?=\w)", r"\1<wbr>", escape(words))


Row = Sequence[str]


def cells(head: Row, row: Row, style: str, swatch: str) -> str:
    """All but the last are numbers. A narrow page shows the heads beside them."""
    numbers = "".join(f'<td data-label="{escape(name)}">{escape(sized(word))}</td>' for name, word in zip(head, row[:-1]))
    dot = f'<span class="swatch {swatch}"></span>' if swatch else ""
    return f'<tr>{numbers}<td class="text {style}">{dot}{breakable(row[-1])}</td></tr>'


def table(head: Row, rows: Iterable[Row], style: str = "", swatches: Iterable[str] = ()) -> str:
    """Rows with a text at their end."""
    dots = iter(swatches)
    heads = "".join(f"<th>{escape(name)}</th>" for name in head[:-1]) + f'<th class="text">{escape(head[-1])}</th>'
    body = "".join(cells(head, row, style, next(dots, "")) for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def turned(row: Row) -> Row:
    """The first cell last."""
    return *row[1:], row[0]


def section(title: str, *parts: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def paragraph(words: str, style: str = "") -> str:
    return f'<p class="{style}">{escape(words)}</p>' if style else f"<p>{escape(words)}</p>"


def both(draw: Callable[[svg.Format], str]) -> str:
    """A picture for wide pages, and one for narrow ones."""
    return "".join(f'<div class="{form.name}">{draw(form)}</div>' for form in (svg.WIDE, svg.NARROW))
