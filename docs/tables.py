#!/usr/bin/env python3
"""Writes what follows from site/keys.def, site/modes.def, site/measures.def and plan/options.def into other files. Usage: tables.py [--check]

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
OPTIONS = "plan/options.def"
MODES = "site/modes.def"
MEASURES = "site/measures.def"
BINDIR = '"/usr/bin" '  # as all texts name it: make install puts another one in
WIDTH = 120

# How Ansible takes the kinds of value that are not text to it.
ANSIBLE_TYPES = {"count": "int", "days": "int", "delay": "int", "minutes": "int", "reserve": "int", "seconds": "int", "share": "int", "yes_no": "bool",
                 **dict.fromkeys(("clusters", "modes", "nodes", "usable", "users", "versions"), "list")}


def rows(path: str) -> list[tuple[str, list]]:
    """Macro and arguments. Without comments and the preprocessor's lines, rows are calls in Python as well."""
    text = re.sub(r"^/\*.*?\*/", "", (TOP / path).read_text(), flags=re.M | re.S)
    text = re.sub(r"^#.*", "", text, flags=re.M).replace("PM_BINDIR ", BINDIR)
    calls = [statement.value for statement in ast.parse(text).body]
    return [(call.func.id, [word_of(word) for word in call.args]) for call in calls]


def word_of(node: ast.expr) -> str | int:
    """C's NULL is no text."""
    if isinstance(node, ast.Constant):
        return node.value
    word = ast.unparse(node).replace(" ", "")  # "site-profile" is a difference to Python
    return "" if word == "NULL" else word


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


# --- Options ---

@dataclass
class Option:
    name: str  # with "--"
    letter: str
    twin: str
    argument: str
    help: str
    manual: str = ""
    told: str = ""  # words that may be the argument, where it does not say them itself

    def form(self) -> str:
        return self.name + ("=" + self.argument if self.argument else "")

    def words(self) -> list[str]:
        return self.told.split() or [word for word in self.argument.split("|") if word.islower()]


def option_of(macro: str, words: list) -> Option:
    name, word, *rest = words
    if macro != "PM_RUN_OPTION":
        return Option(f"--pm-{word}", "", f"PM_{name}", *rest)
    letter, *texts = rest
    return Option(f"--{word}", f"-{letter}" if letter else "", "", *texts)


def options(*macros: str) -> list[Option]:
    return [option_of(macro, words) for macro, words in rows(OPTIONS) if macro in macros]


def of_pmrun() -> list[Option]:
    return options("PM_PLAN_OPTION", "PM_RANK_OPTION", "PM_RUN_OPTION")


# --- pmrun(1) ---

def pmrun_manual_of(option: Option) -> str:
    short = f"{option.letter} {option.argument}".rstrip() + ", " if option.letter else ""
    twin = f" Variable: **{option.twin}**." if option.twin else ""
    return f"\n{short}{option.form()}\n" + wrapped(option.manual + twin, "    ")


def pmrun_manual() -> str:
    return "".join(map(pmrun_manual_of, of_pmrun())) + "\n"


# --- Completion ---

def completer(option: Option) -> str:
    if option.words():
        return f"compgen -W '{' '.join(option.words())}'"
    last = option.argument.split("|")[-1].partition(".")[0]
    return {"DIR": "compgen -d", "FILE": "compgen -f"}.get(last, "")


def completion() -> str:
    pmrun = of_pmrun()
    names = [option.name + ("=" if option.argument else "") for option in pmrun] + [option.letter for option in pmrun]
    alone = [name for option in pmrun if not option.argument for name in (option.name, option.letter) if name]
    cases = "".join(f'\t{option.name}) {completer(option)} -- "$2" ;;\n' for option in pmrun if completer(option))
    return (f"_pmrun_options='\n{wrapped(' '.join(filter(None, names)), chr(9), 96)}'\n\n"
            f"_pmrun_argument() {{\n\tcase $1 in\n{cases}\tesac\n}}\n\n"
            f"_pmrun_stands_alone() {{\n\tcase $1 in\n\t{' | '.join(alone)}) ;;\n\t*) return 1 ;;\n\tesac\n}}\n")


# --- srun --help, as Slurm prints it in README.md ---

def help_of(option: Option) -> str:
    goes_on = ", ".join(mode.name for mode in modes()) if option.name == "--pm-mode" else ""
    text = textwrap.wrap(f"[pm] {option.help}{goes_on}", 50, break_on_hyphens=False)
    left = f"      {option.form()}"
    lines = [f"{left:<30}{text.pop(0)}"] if len(left) < 30 else [left]
    return "\n".join(lines + [" " * 30 + line for line in text]) + "\n"


def srun_help() -> str:
    return "".join(map(help_of, options("PM_JOB_OPTION", "PM_PLAN_OPTION", "PM_RANK_OPTION")))


# --- Modes ---

@dataclass
class Mode:
    name: str
    feature: str
    platform: str
    substate: str


def modes() -> list[Mode]:
    return [Mode(name, feature, platform.lower(), substate.lower())
            for _, (_, name, feature, platform, substate, _) in rows(MODES)]


def features() -> list[str]:
    """Of each platform mode one."""
    return list(dict.fromkeys(mode.feature for mode in modes()))


def lua_modes() -> str:
    rows_ = "".join(f'\t{{ name = "{mode.name}", feature = "{mode.feature}", substate = "{mode.substate}" }},\n' for mode in modes())
    return f"conf.modes = {{\n{rows_}}}\n"


def helpers() -> str:
    lines = "".join(f"Feature={feature} Helper=/usr/libexec/slurm-pmem/pm-helper\n" for feature in features())
    return (f"{lines}\n# A node is in one mode at a time. Without this line Slurm would try 'pm_memory&pm_appdirect'.\n"
            f"MutuallyExclusive={','.join(features())}\n")


def ansible_features() -> str:
    return f"__pmem_features: [{', '.join(features())}]\n"


def ansible_exclusive() -> str:
    return f"  MutuallyExclusive: [{', '.join(features())}]\n"


def ansible_choices() -> str:
    return f"    choices: [{', '.join(mode.name for mode in modes())}]\n"


def ansible_modes() -> str:
    with_regions = [mode.name for mode in modes() if mode.substate == "fsdax"]
    return f"MODES = {tuple(mode.name for mode in modes())}\nWITH_REGIONS = {tuple(with_regions)}\n".replace("'", '"')


# --- Measures of a site profile ---

def measures(macro: str) -> list[list]:
    """Name, unit of a value, and text."""
    return [words[1:] for found, words in rows(MEASURES) if found == macro]


def python_measures() -> str:
    def table(name: str, macro: str) -> str:
        lines = "".join(f'    "{words[0]}": "{words[-1]}",\n' for words in measures(macro))
        return f"{name} = {{\n{lines}}}\n"
    latencies = ", ".join(f'"{words[0]}"' for words in measures("PM_VALUE") if words[1] == "ps")
    return (table("CURVES", "PM_CURVE") + table("VALUES", "PM_VALUE") + table("LOOPS", "PM_LOOP") + table("PLACES", "PM_PLACE")
            + wrapped(f"LATENCIES = frozenset(({latencies}))", "").replace("\n", "\n    ").rstrip(" "))


def rst_table(head: list[str], body: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    rule = "  ".join("=" * width for width in widths)

    def line(row: list[str]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
    return "\n".join([rule, line(head), rule, *map(line, body), rule]) + "\n"


def manual_measures(macro: str, *head: str) -> Callable[[], str]:
    return lambda: "\n" + rst_table(list(head), [[word.replace("*", r"\*") for word in words] for words in measures(macro)]) + "\n"


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


MADE = "made by 'make tables' from"
PARTS = [
    Part("docs/man/pmem.conf.5.rst", f"KEYS\n====\n\n.. {MADE} {KEYS}\n", "EXAMPLE\n=======\n", manual),
    Part("etc/pmem.conf", "prints what is in force.\n", "", sample),
    Part("controller/pmem_conf.lua", f"-- {MADE} {KEYS}\n", "-- end\n", lua),
    Part("controller/pmem_conf.lua", f"-- The modes; {MADE} {MODES}\n", "-- end of the modes\n", lua_modes),
    Part("etc/helpers.conf", "where only some nodes have PMem.\n", "\n# Seconds that", helpers),
    Part("ansible/roles/pmem/vars/main.yml", f"\n# {MADE} {MODES}\n", "# end\n", ansible_features),
    Part("ansible/roles/pmem/vars/main.yml", f"  # {MADE} {MODES}\n", "  # end\n", ansible_exclusive),
    Part("ansible/plugins/modules/pmem_mode.py", f"    # {MADE} {MODES}\n", "    # end\n", ansible_choices),
    Part("ansible/plugins/modules/pmem_mode.py", f"\n# {MADE} {MODES}\n", "# end\n", ansible_modes),
    Part("ansible/roles/pmem/meta/argument_specs.yml", f"        # {MADE} {KEYS}\n", "        # end\n", ansible),
    Part("docs/man/pmrun.1.rst", f".. {MADE} {OPTIONS}\n", "JSON\n====\n", pmrun_manual),
    Part("pmreport/siteprofile/measures.py", f"# {MADE} {MEASURES}\n", "", python_measures),
    Part("docs/man/pmem-profile.5.rst", f".. curves; {MADE} {MEASURES}\n", ".. end of the curves\n", manual_measures("PM_CURVE", "name", "bandwidth")),
    Part("docs/man/pmem-profile.5.rst", f".. values; {MADE} {MEASURES}\n", ".. end of the values\n",
         manual_measures("PM_VALUE", "name", "unit", "meaning")),
    Part("docs/man/pmem-profile.5.rst", f".. loops; {MADE} {MEASURES}\n", ".. end of the loops\n", manual_measures("PM_LOOP", "name", "loop")),
    Part("docs/man/pmem-profile.5.rst", f".. places; {MADE} {MEASURES}\n", ".. end of the places\n", manual_measures("PM_PLACE", "place", "memory of the arrays")),
    Part("launcher/pmrun.bash", f"# {MADE} {OPTIONS}\n", "# end\n", completion),
    Part("README.md", f"<!-- {MADE} {OPTIONS} -->\n```\n", "```\n", srun_help),
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
