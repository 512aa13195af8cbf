#!/usr/bin/env python3
"""docs/admin/troubleshooting.md has each sentence that can become a drain reason or reach a user; TAP.

The sentences are taken from the sources, a conversion like %s being "…". In the page they stand in the first column of
its tables, as code. What stands there must be in the sources too, but for the table of Slurm's own reasons.
"""
import ast
import re
import sys
from pathlib import Path
from typing import Iterator

import yaml
from report import report

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs/admin/troubleshooting.md"
SLURMS_OWN = "## Reasons of Slurm's own"

LITERAL = r'"(?:[^"\\]|\\.)*"'
ROOMS = ("agent", "base", "controller", "launcher", "node", "plan", "pmreport", "protocol", "runtime", "site",
         "spank_plugin")
# What makes a sentence out of a format: an error, what stands in front of one, a verdict about the node, a remark.
SPEAKERS = ("pm_err_set", "pm_err_prefix", "pm_server_refuse", "finding", "conclude", "misread", "note", "pm_report", "pm_warn", "pm_log", "slurm_error", "slurm_info",
            "slurm_spank_log", "fprintf", "pm_job_update", "pm_job_update_tasks")
# What has a format and says none: the system's own words, which the page explains as a whole, parts of what is shown, and what passes a format on.
NO_SPEAKERS = ("pm_err_sys", "say", "line", "tell", "pm_gather_miss", "pm_show_block", "pm_columns_add", "report", "add_word", "add_text", "add", "pm_asprintf",
               "pm_vasprintf")
# The runtime's report (PM_REPORT), and what pmctl tells an admin who called it of its success, need no cure.
REPORTS = {"pm_report": ("agent/", "node/"), "pm_log": ("runtime/start/report.c",)}
WHO = re.compile("^(?:(?:pm|pmctl|pmrun|pmreport|pm-reachable|pm-resume|prolog|epilog)(?:: ?|$))+")
CONVERSION = re.compile(r"%[-+0# ]*[0-9.*]*(?:hh?|ll?|z|j)?[a-zA-Z]")


def plain(text: str) -> str:
    """Without who says it, and what merely joins it with others at the ends."""
    words = WHO.sub("", " ".join(re.sub("…+", "…", text).split()))
    return words.strip("…:;,. ")


def of_format(text: str) -> str:
    text = CONVERSION.sub("…", text.replace("%%", "\0")).replace("\0", "%")
    return plain(text.replace('\\"', '"').replace("\\n", " "))


def macros(sources: list[Path]) -> dict[str, str]:
    """Those that are one string."""
    found = (re.findall(rf"^[ \t]*#define[ \t]+(\w+)[ \t]+({LITERAL})", path.read_text(), re.M) for path in sources)
    return {name: text for pairs in found for name, text in pairs}


def arguments(text: str, start: int) -> list[str]:
    """Of the call that has its opening parenthesis before `start`."""
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


def files(*patterns: str) -> list[Path]:
    """In the rooms, also in one that is not there yet."""
    return sorted(path for room in ROOMS for pattern in patterns for path in (TOP / room).rglob(pattern) if path.is_file())


def spoken(path: Path, name: str) -> Iterator[tuple[str, int]]:
    """First of a call's arguments that have a string, and the call's line."""
    text = path.read_text()
    for call in re.finditer(rf"\b({name})\(", text):
        given = arguments(text, call.end())
        formats = [argument for argument in given if '"' in argument]
        reports = str(path.relative_to(TOP)).startswith(REPORTS.get(call[1], ()))
        if formats and not reports and not (call[1] == "fprintf" and given[0] != "stderr"):
            yield formats[0], text.count("\n", 0, call.start()) + 1


def of_c() -> dict[str, str]:
    """Sentence to place."""
    sources = files("*.[ch]")
    known, found = macros(sources), {}
    for path in sources:
        for argument, line in spoken(path, "|".join(SPEAKERS)):
            sentence = of_format(joined(argument, known))
            if not sentence.startswith("usage"):
                found[sentence] = f"{path.relative_to(TOP)}:{line}"
    return found


def unknown_speakers() -> list[str]:
    """Functions with a format that are in neither list: of a new one the sentences would go unseen."""
    declared = re.compile(r"__attribute__\(\(format\(printf[^;{]*?(\w+)\((?!\()|(\w+)\([^;{]*\)\s*__attribute__\(\(format\(printf")
    names = {one or other for path in files("*.[ch]") for one, other in declared.findall(path.read_text())}
    return sorted(names - {*SPEAKERS, *NO_SPEAKERS})


def of_lua() -> dict[str, str]:
    """What pmem.lua tells the user, and what it says of pmem.conf."""
    found = {}
    for path in files("*.lua"):
        text = path.read_text()
        parts = [argument for argument, _ in spoken(path, r"problem|refuse|slurm\.log_\w+")]
        parts += re.findall(rf"(?:return nil, |problem = nil, |, wrong = )({LITERAL})", text)
        parts += re.findall(rf"return (?:nil, )?string\.format\(({LITERAL}[^)]*)", text) if path.name != "pmem.lua" else []
        found |= {of_format(lua_text(part)): path.name for part in parts}
    return found


def lua_text(argument: str) -> str:
    """Literals, and what is joined with them."""
    words = re.findall(rf"{LITERAL}|(?<=\.\. )\w+|\w+(?= \.\.)", argument)
    return "".join(word[1:-1] if word.startswith('"') else "…" for word in words)


def of_shell() -> dict[str, str]:
    """What scripts print that run beside Slurm, or in a user's job."""
    printed = re.compile(r"\b(?:echo|fail|die|logger) ([^|>&\n]*\w \w[^|>&\n]*)")
    scripts = [path for path in files("*") if is_script(path, "/bin/sh", "/bin/bash")]
    return {of_words(words): str(path.relative_to(TOP))
            for path in scripts + sorted((TOP / "job_templates").glob("*/*.sh")) for words in printed.findall(path.read_text())}


def is_script(path: Path, *interpreters: str) -> bool:
    with open(path, "rb") as file:
        return file.readline().decode(errors="replace").strip() in {f"#!{name}" for name in interpreters}


def of_words(text: str) -> str:
    return plain(re.sub(r"\$\{[^}]*\}|\$\([^)]*\)|\$\w+", "…", text).replace('"', "").replace("'", ""))


def of_playbooks() -> dict[str, str]:
    """The reasons that playbooks drain nodes with, and what makes a task fail, which becomes a part of one."""
    named = yaml.safe_load((TOP / "ansible/roles/pmem/vars/main.yml").read_text())
    known = {"__pmem_reason": named["__pmem_reason"]}
    sources = [*(TOP / "ansible/roles").glob("*/[th]*/*.yml"), *(TOP / "ansible/playbooks").glob("*.yml")]
    return {plain(jinja(text, known)): str(path.relative_to(TOP))
            for path in sorted(sources) for text in of_yaml(yaml.safe_load(path.read_text()))}


def of_yaml(node: object, module: str = "") -> Iterator[str]:
    """Words of a task that fails, and of an order to Slurm."""
    if isinstance(node, list):
        for part in node:
            yield from of_yaml(part, module)
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, str) and (key == "fail_msg" or (key == "msg" and module.endswith("fail"))):
                yield value
            yield from of_yaml(value, str(key))
    elif isinstance(node, str) and (reason := re.match("reason=(.*)", node)):
        yield reason[1]


def jinja(text: str, named: dict[str, str]) -> str:
    """What an expression gives: words that it joins, names that are known, else something that differs."""
    def value(match: re.Match) -> str:
        parts = re.findall(r"'([^']*)'|(\w+)", re.sub(r"\|\s*default\([^)]*\)|\[:\d+\]", "", match[1]))
        if "~" not in match[1]:
            parts = parts[:1] if parts[0][1] in named else [("", "…")]
        return "".join(quoted or named.get(name, "…") for quoted, name in parts)
    return re.sub(r"\{\{(.*?)\}\}", value, text, flags=re.S)


def of_python() -> dict[str, str]:
    """What Ansible's modules fail with, and what our programs in Python end with."""
    found = {}
    scripts = {path for path in files("*") if is_script(path, "/usr/bin/python3", "/usr/bin/env python3")}
    for path in sorted({*(TOP / "ansible/plugins").rglob("*.py"), *files("*.py"), *scripts}):
        for node in ast.walk(ast.parse(path.read_text())):
            for said in said_by(node):
                found[plain(of_f_string(said))] = f"{path.relative_to(TOP)}:{node.lineno}"
    return found


def said_by(node: ast.AST) -> list[ast.expr]:
    """Of a call in raise, or of one that tells."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        return node.exc.args[:1]
    if not isinstance(node, ast.Call):
        return []
    name = ast.unparse(node.func)
    named = {word.arg: word.value for word in node.keywords}
    if name.endswith("fail_json"):
        return [named["msg"]] if "msg" in named else []
    told = name in ("PmctlError", "missing.append", "sys.exit") or name.endswith(".error") or (
        name == "print" and "file" in named and ast.unparse(named["file"]) == "sys.stderr")
    return node.args[:1] if told else []


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
    parts = {"Lua": of_lua(), "playbooks": of_playbooks(), "Python": of_python(), "shell": of_shell(), "C": of_c()}
    sources = {sentence: place for part in parts.values() for sentence, place in part.items() if speaks(sentence)}
    ours, _, rest = PAGE.read_text().partition(SLURMS_OWN)
    page = of_page(ours + rest.partition("\n## ")[2])
    results = [(sentence in page, f"{place} is in the page: {sentence}") for sentence, place in sorted(sources.items())]
    results += [(code in sources, f"the page's sentence is in the sources: {code}") for code in sorted(page)]
    results += [(any(map(speaks, part)), f"there are sentences in {kind}") for kind, part in parts.items()]
    results += [(not unknown_speakers(), f"of each function with a format it is known whether it speaks: {unknown_speakers()}")]
    results += [(len(sources) > 100 and SLURMS_OWN in PAGE.read_text(), "there are sentences, and Slurm's own")]
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
