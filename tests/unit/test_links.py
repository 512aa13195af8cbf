#!/usr/bin/env python3
"""Links between the documents lead somewhere: to a file that is there, and in it to a heading; TAP."""
import re
import sys
from pathlib import Path

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
    good = [leads_somewhere(page, link) for page, link in links] + [len(links) > 20]
    texts = [f"{page.relative_to(TOP)}: {link}" for page, link in links] + ["there are links"]
    for number, (fine, text) in enumerate(zip(good, texts), 1):
        print(f"{'ok' if fine else 'not ok'} {number} - {text}".replace("#", "\\#"))
    print(f"1..{len(good)}")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
