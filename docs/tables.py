#!/usr/bin/env python3
"""Writes what follows from site/keys.def into the files that have it. Usage: tables.py [--check]

With --check it writes nothing, and fails where a file has something else.
"""
from __future__ import annotations

import ast
import json
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

TOP = Path(__file__).resolve().parents[1]
KEYS = "site/keys.def"
BINDIR = '"/usr/bin" '  # as all texts name it: make install puts another one in
WIDTH = 120

# How Ansible takes the kinds of value that are not text to it.
ANSIBLE_TYPES = {"count": "int", "delay": "int", "reserve": "int", "seconds": "int", "share": "int", "yes_no": "bool",
                 **dict.fromkeys(("modes", "nodes", "usable", "users", "versions"), "list")}


def rows(path: str) -> list[tuple[str, list]]:
    """Macro and arguments. Without comments and the preprocessor's lines, rows are calls in Python as well."""
    text = re.sub(r"^/\*.*?\*/", "", (TOP / path).read_text(), flags=re.M | re.S)
    text = re.sub(r"^#.*", "", text, flags=re.M).replace("PM_BINDIR ", BINDIR)
    calls = [statement.value for statement in ast.parse(text).body]
    return [(call.func.id, [getattr(word, "id", None) or word.value for word in call.args]) for call in calls]


@dataclass
class Key:
    section: str
    intro: str  # of the section
    is_policy: bool
    name: str
    kind: str
    default: str
    example: str
    comment: str
    manual: str

    def says(self, value: str) -> str:
        return f"{self.name}={value}"


def keys() -> list[Key]:
    found, section = [], ["", ""]
    for macro, words in rows(KEYS):
        if macro == "PM_KEY_SECTION":
            section = words
        else:
            _, name, kind, _, *texts = words
            found.append(Key(*section, macro == "PM_POLICY_KEY", name, kind, *texts))
    return found


def sections() -> dict[tuple[str, str], list[Key]]:
    found: dict[tuple[str, str], list[Key]] = {}
    for key in keys():
        found.setdefault((key.section, key.intro), []).append(key)
    return found


def wrapped(text: str, before: str, width: int = WIDTH) -> str:
    """Pairs of Key=Value stay on one line."""
    joined = re.sub(r"(=\S+) (?=\w+=)", "\\1\0", text)
    return textwrap.fill(joined, width, initial_indent=before, subsequent_indent=before, break_long_words=False,
                         break_on_hyphens=False).replace("\0", " ") + "\n"


# --- pmem.conf(5) ---

def manual_of(key: Key) -> str:
    default = key.default.replace("*", r"\*")
    return f"{key.name}\n" + wrapped(f"{key.manual} Default: {default}. Example: {key.says(key.example)}", "    ")


def manual() -> str:
    parts = []
    for (section, _), members in sections().items():
        parts += [f"{section}\n{'-' * len(section)}\n", *map(manual_of, members)]
    return "\n" + "\n".join(parts) + "\n"


# --- The sample ---

def sample_of(key: Key) -> str:
    above = "\n" + wrapped(key.comment, "# ", 100) if key.comment else ""
    shown = [key.default] + ([key.example] if key.default == "none" else [])
    return above + "".join(f"#{key.says(value)}\n" for value in shown)


def sample() -> str:
    parts = []
    for (section, intro), members in sections().items():
        head = f"--- {section}. {intro}".strip() + " ---"
        parts += ["\n" + wrapped(head, "# ", 100), *map(sample_of, members)]
    return "".join(parts)


# --- pmem_conf.lua ---

def lua() -> str:
    policy = "".join(f'\t{{ name = "{key.name}", kind = "{key.kind}", default = "{key.default}" }},\n'
                     for key in keys() if key.is_policy)
    others = wrapped(" ".join(f'"{key.name}",' for key in keys() if not key.is_policy), "\t", 96)
    return f"conf.keys = {{\n{policy}}}\n\n-- The nodes' keys.\nconf.others = {{\n{others}}}\n"


# --- The Ansible role ---

def ansible_default(kind: str, default: str) -> str:
    """As JSON, which YAML takes."""
    forms = {"int": int, "bool": lambda text: text == "yes", "list": lambda text: text.split(",")}
    return json.dumps(forms.get(ANSIBLE_TYPES.get(kind, "str"), str)(default))


def ansible_text(key: Key) -> str:
    """The manual's first sentence, without its markup; of yes or no it explains only one."""
    first = key.comment if key.kind == "yes_no" else key.manual.split(". ")[0].rstrip(".") + "."
    return re.sub(r"\\(.)", r"\1", re.sub(r"(?<!\\)\*", "", first))


def ansible_of(key: Key) -> str:
    type_ = ANSIBLE_TYPES.get(key.kind, "str")
    elements = "            elements: str\n" if type_ == "list" else ""
    return (f"          {key.name}:\n            type: {type_}\n{elements}"
            f"            default: {ansible_default(key.kind, key.default)}\n"
            "            description: >-\n" + wrapped(ansible_text(key), " " * 14))


def ansible() -> str:
    return "        options: &keys\n" + "".join(map(ansible_of, keys()))


# --- The files ---

@dataclass
class Part:
    """Of a file: what stands behind `begin` and in front of `end`; to the end of the file where that is empty."""
    file: str
    begin: str
    end: str
    make: Callable[[], str]

    def update(self, text: str) -> str:
        before, begin, rest = text.partition(self.begin)
        _, end, after = rest.partition(self.end) if self.end else ("", "", "")
        if not begin or end != self.end:
            raise SystemExit(f"{self.file}: there is no '{self.begin.strip()}' with '{self.end.strip()}' behind it")
        return before + begin + self.make() + end + after


MADE = "made by 'make tables' from site/keys.def\n"
PARTS = [
    Part("docs/man/pmem.conf.5.rst", "\nKEYS\n====\n", "EXAMPLE\n=======\n", manual),
    Part("etc/pmem.conf", "prints what is in force.\n", "", sample),
    Part("controller/pmem_conf.lua", f"-- {MADE}", "-- end\n", lua),
    Part("ansible/roles/pmem/meta/argument_specs.yml", f"        # {MADE}", "        # end\n", ansible),
]


def main() -> int:
    stale = []
    for part in PARTS:
        path = TOP / part.file
        text = path.read_text()
        made = part.update(text)
        if made != text:
            stale.append(part.file)
            if "--check" not in sys.argv:
                path.write_text(made)
    if stale and "--check" in sys.argv:
        print(f"not what the tables say, run 'make tables': {', '.join(stale)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
