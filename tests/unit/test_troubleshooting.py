#!/usr/bin/env python3
"""docs/admin/troubleshooting.md has each sentence that can become a drain reason or reach a user; TAP.

The sentences are taken from the sources, a conversion like %s being "…". In the page they stand in the first column of
its tables, as code. What stands there must be in the sources too, but for the table of Slurm's own reasons.
"""
import ast
import re
import sys
from pathlib import Path

from report import report

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs/admin/troubleshooting.md"
SLURMS_OWN = "## Reasons of Slurm's own"

LITERAL = r'"(?:[^"\\]|\\.)*"'
# What makes a sentence out of a format: an error, what stands in front of one, a verdict about the node, a remark to a user.
SPEAKERS = ("pm_err_set", "pm_err_prefix", "conclude", "slurm_spank_log")
CONVERSION = re.compile(r"%[-+0# ]*[0-9.*]*(?:hh?|ll?|z|j)?[a-zA-Z]")


def plain(text: str) -> str:
    """Without what merely joins it with others at the ends."""
    return " ".join(re.sub("…+", "…", text).split()).strip("…:;,. ")


def of_format(text: str) -> str:
    text = CONVERSION.sub("…", text.replace("%%", "\0")).replace("\0", "%")
    return plain(text.replace('\\"', '"').replace("\\n", " "))


def macros(sources: list[Path]) -> dict[str, str]:
    """Those that are one string."""
    found = (re.findall(rf"^[ \t]*#define[ \t]+(\w+)[ \t]+({LITERAL})", path.read_text(), re.M) for path in sources)
    return {name: text for pairs in found for name, text in pairs}


def arguments(text: str, start: int) -> list[str]:
    """Of the call whose parenthesis ends before `start`."""
    depth, begin, at, found = 1, start, start, []
    while depth:
        string = re.compile(LITERAL).match(text, at)
        if string:
            at = string.end()
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if not depth or (depth == 1 and text[at] == ","):
            found.append(text[begin:at])
            begin = at + 1
        at += 1
    return found


def joined(argument: str, known: dict[str, str]) -> str:
    """Literals beside each other are one, macros are what they stand for."""
    words = re.findall(rf"{LITERAL}|\w+", argument)
    return "".join(known.get(word, word)[1:-1] for word in words if word in known or word.startswith('"'))


def of_c() -> dict[str, str]:
    """Sentence to place."""
    sources = sorted(path for room in ("agent", "controller", "lib", "spank_plugin") for path in (TOP / room).glob("*.[ch]"))
    known, found = macros(sources), {}
    for path in sources:
        text = path.read_text()
        for call in re.finditer(rf"\b(?:{'|'.join(SPEAKERS)})\(", text):
            formats = [argument for argument in arguments(text, call.end()) if '"' in argument]
            if formats:
                line = text.count("\n", 0, call.start()) + 1
                found[of_format(joined(formats[0], known))] = f"{path.relative_to(TOP)}:{line}"
    return found


def of_lua() -> dict[str, str]:
    """What pmem.lua tells the user, and what it says of pmem.conf."""
    folder = TOP / "spank_plugin/controller"
    speech = {"pmem.lua": rf"problem\(\s*({LITERAL})", "pmem_conf.lua": rf"(?:return nil, |problem = nil, |format\()({LITERAL})"}
    return {of_format(text[1:-1]): name for name, pattern in speech.items()
            for text in re.findall(pattern, (folder / name).read_text())}


def of_roles() -> dict[str, str]:
    """The reasons that playbooks drain nodes with, and what makes a task fail, which becomes a part of one."""
    named = dict(re.findall(r'^(__pmem_reason): "(.*)"$', (TOP / "ansible/roles/pmem/vars/main.yml").read_text(), re.M))
    spoken = re.compile(r'"reason=([^"\n]*)"|^    fail_msg: >-\n((?:      .*\n)+)|^    fail_msg: "?(?!>-)(.*?)"?$', re.M)
    return {plain(jinja("".join(texts), named)): str(path.relative_to(TOP))
            for path in sorted((TOP / "ansible/roles").glob("*/tasks/*.yml")) for texts in spoken.findall(path.read_text())}


def jinja(text: str, named: dict[str, str]) -> str:
    """What an expression gives: words that it joins, names that are known, else something that differs."""
    def value(match: re.Match) -> str:
        parts = re.findall(r"'([^']*)'|(\w+)", re.sub(r"\|\s*default\([^)]*\)|\[:\d+\]", "", match[1]))
        if "~" not in match[1]:
            parts = parts[:1] if parts[0][1] in named else [("", "…")]
        return "".join(quoted or named.get(name, "…") for quoted, name in parts)
    return re.sub(r"\{\{(.*?)\}\}", value, text, flags=re.S)


def of_modules() -> dict[str, str]:
    """What pmem_mode and pmem_info fail with."""
    found = {}
    for path in sorted((TOP / "ansible/plugins").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("PmctlError", "missing.append") and node.args:
                found[plain(of_f_string(node.args[0]))] = f"{path.relative_to(TOP)}:{node.lineno}"
    return found


def of_f_string(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(map(of_f_string, node.values))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "…"


def speaks(sentence: str) -> bool:
    """Not what only passes another one on."""
    return re.search("[a-zA-Z]{2}", sentence) is not None


def of_page(text: str) -> set[str]:
    """Code in the first cells of tables."""
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    cells = (re.split(r"(?<!\\)\|", row)[1] for row in rows)
    codes = {plain(code.replace("\\|", "|")) for cell in cells for code in re.findall(r"`([^`]+)`", cell)}
    return {code for code in codes if speaks(code)}


def main() -> int:
    parts = (of_lua(), of_roles(), of_modules(), of_c())
    sources = {sentence: place for part in parts for sentence, place in part.items() if speaks(sentence)}
    ours, _, rest = PAGE.read_text().partition(SLURMS_OWN)
    page = of_page(ours + rest.partition("\n## ")[2])
    results = [(sentence in page, f"{place} is in the page: {sentence}") for sentence, place in sorted(sources.items())]
    results += [(code in sources, f"the page's sentence is in the sources: {code}") for code in sorted(page)]
    results += [(len(sources) > 100 and SLURMS_OWN in PAGE.read_text(), "there are sentences, and Slurm's own")]
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
