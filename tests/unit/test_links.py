#!/usr/bin/env python3
"""Links between the documents lead somewhere: to a file that is there, and in it to a heading; TAP."""
import re
import sys
from pathlib import Path

from report import report

TOP = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")


def prose(text: str) -> str:
    """Without what is shown as code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S))


def anchors(text: str) -> set[str]:
    """Of its headings, as GitHub makes them: in lower case, words and hyphens only, blanks being hyphens."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def leads_somewhere(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.exists():
        return False
    return not anchor or target.suffix != ".md" or anchor in anchors(target.read_text())


def main() -> int:
    pages = [path for pattern in ("*.md", "docs/**/*.md", "ansible/**/*.md", "job_templates/**/*.md") for path in TOP.glob(pattern)]
    links = [(page, link) for page in sorted(pages) for link in LINK.findall(prose(page.read_text()))
             if not re.match("[a-z]+:", link)]
    results = [(leads_somewhere(page, link), f"{page.relative_to(TOP)}: {link}") for page, link in links]
    return report(results + [(len(links) > 20, "there are links")])


if __name__ == "__main__":
    sys.exit(main())
