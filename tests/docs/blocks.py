#!/usr/bin/env python3
"""The code blocks of the documents, and the marker in front of each that says who types it where, and what tests it.

A marker is an HTML comment, the last line before its block:

    <!-- typed on a login node; tested on the bench -->
    <!-- typed in the sources; not tested: REASON -->
    <!-- shows C -->

The host is the one of the tests (tests/unit/test_doc_commands.py), the chroot the one into which tests/packages installs, the
control host the one of the playbooks (tests/ansible/test_docs.py). A marker of a block in a list is indented as the list's text.
"shows NAME.py" is a file that the commands of pages may start. In a block with lines that begin with "$ " these are the commands, and the others are what they print. Otherwise each line
is one; a block of commands is one script, so that "cd" holds until its end.
"""
from __future__ import annotations

import argparse
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PLACES = ("on a login node", "in a job", "in a job's script", "on any machine", "in the sources", "where Ansible runs",
          "on a compute node, as root", "on the controller, as root", "on a login node, as root", "on each machine, as root",
          "on the host of Prometheus, as root", "on the web host of Open OnDemand")
TESTERS = ("bench of 20 nodes", "bench", "twin", "host", "chroot", "control host")
TYPED = re.compile(rf"<!-- typed ({'|'.join(PLACES)}); (?:tested on the ({'|'.join(TESTERS)})|not tested: .+) -->")
SHOWN = re.compile(r"<!-- (shows|made by) .+ -->")
FILE = re.compile(r"<!-- shows ([\w-]+\.py) -->")


@dataclass
class Block:
    page: str
    line: int       # of its first line, from 1
    text: str
    marker: str

    @property
    def typed(self) -> re.Match | None:
        return TYPED.fullmatch(self.marker)

    @property
    def is_marked(self) -> bool:
        return bool(self.typed or SHOWN.fullmatch(self.marker))

    @property
    def commands(self) -> str:
        lines = textwrap.dedent(self.text).splitlines(keepends=True)
        prompted = [line[2:] for line in lines if line.startswith("$ ")]
        return "".join(prompted or lines)

    @property
    def output(self) -> str:
        """What a block with prompts says that its commands print."""
        lines = self.text.splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("$ ")) if self.text.startswith("$ ") else ""


def blocks(path: Path) -> list[Block]:
    """Of a page: fenced ones, and ones that are indented by four blanks."""
    found: list[Block] = []
    before, fence, inside = "", False, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```"):
            fence = not fence
            inside = Block(page_name(path), number + 1, "", before) if fence else None
            found += [inside] if fence else []
            before = ""
        elif fence:
            inside.text += line + "\n"
        elif line.startswith("    ") and (inside or not before or before.startswith("<!--")):
            if not inside:
                inside = Block(page_name(path), number, "", before)
                found.append(inside)
            inside.text += line[4:] + "\n"
        elif not line:
            if inside:
                inside.text += "\n"
            elif not before.startswith("<!--"):
                before = ""
        else:
            inside, before = None, line.strip()
    for block in found:
        block.text = block.text.rstrip("\n") + "\n"
    return found


def shown_files() -> dict[str, str]:
    """The programs that pages show, by name, for the commands that start them."""
    found = [(FILE.fullmatch(block.marker), block) for page in pages() for block in blocks(page)]
    return {match[1]: block.text for match, block in found if match}


def page_name(path: Path) -> str:
    return str(path.resolve().relative_to(TOP))


def pages() -> list[Path]:
    """All pages of which each block has a marker."""
    return [TOP / "README.md", TOP / "CONTRIBUTING.md", TOP / "ansible/README.md", *sorted((TOP / "docs").glob("*/*.md")),
            *sorted((TOP / "job_templates").glob("*/README.md"))]


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the commands of each block to a FILE, with what they print to FILE.prints, and prints 'PAGE:LINE FILE PLACE'.")
    parser.add_argument("tester", choices=TESTERS)
    parser.add_argument("directory", type=Path)
    args = parser.parse_args()
    for name, text in shown_files().items():
        (args.directory / name).write_text(text)
    for block in (block for page in pages() for block in blocks(page)):
        if block.typed and block.typed[2] == args.tester:
            file = args.directory / f"{block.page.replace('/', '-')}-{block.line}"
            file.write_text(block.commands)
            if block.output:
                Path(f"{file}.prints").write_text(block.output)
            print(f"{block.page}:{block.line} {file} {block.typed[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
