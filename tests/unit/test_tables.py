#!/usr/bin/python3
"""A key of pmem.conf is a row of its table and its use; TAP.

In a copy of the tree a row and a use are added, and all that has keys is asked for the new one: pmctl, pmem_conf.lua, the sample,
pmem.conf(5) and the Ansible role.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from report import report

TOP = Path(__file__).resolve().parents[2]
KEY = '''PM_POLICY_KEY(COLOUR, Colour, limit, colour_bytes, "none", "4G",
	"The most colour that a job may have.",
	"*none*, or the most colour that a job may have.")
'''
KEY_USE = "\tif (config->colour_bytes)\n\t\trequest->dram_bytes = config->colour_bytes;\n"
PROGRAMS = ("pmctl", "pmrun")


def run(tree: Path, *words: str) -> str:
    """What it prints, and of a failure what it says."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "PM_BUILD")}
    done = subprocess.run(words, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def copy(tree: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TOP, check=True, capture_output=True,
                            text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (TOP / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, tree / name)


def insert(path: Path, before: str, text: str) -> None:
    """In front of the last line that begins so."""
    lines = path.read_text().splitlines(keepends=True)
    at = max(number for number, line in enumerate(lines) if line.startswith(before))
    path.write_text("".join(lines[:at] + [text] + lines[at:]))


def add_key(tree: Path) -> None:
    insert(tree / "site/keys.def", 'PM_KEY_SECTION("What the nodes do"', KEY)
    insert(tree / "site/plan.c", "\trequest->allow_remote", KEY_USE)


def build(tree: Path) -> str:
    targets = [f"build/{name}" for name in PROGRAMS] + ["build/man/pmem.conf.5"]
    return run(tree, "make", "--no-print-directory", "CFLAGS=-O0", "HARDEN=", *targets)


def ansible_keys(tree: Path) -> list[dict]:
    spec = yaml.safe_load((tree / "ansible/roles/pmem/meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    return [spec[name]["options"].get("Colour") for name in ("pmem_conf", "pmem_conf_lines", "pmem_plugstack_conf")]


def of_key(tree: Path) -> list[tuple[bool, str]]:
    conf = tree / "pmem.conf"
    conf.write_text("Colour=3G\nPartitionName=a Colour=5G\n")
    shown = run(tree, "build/pmctl", "--config", str(conf), "show-config").splitlines()
    used = run(tree, "build/pmrun", "--plan", f"--config={conf}", "--topology=tests/fixtures/topology/synthetic-cascade-lake-flat.xml")
    by_lua = run(tree, "lua5.1", "tests/lua/print_config.lua", str(conf)).splitlines()
    page = (tree / "build/man/pmem.conf.5").read_text()
    sample = (tree / "etc/pmem.conf").read_text()
    return [
        (f"Colour=3G # {conf}:1" in shown, "pmctl takes the key"),
        ("  3 GiB  " in used, "pmrun uses it"),
        ({"Colour=3G", "PartitionName=a Colour=5G"} <= set(by_lua), "pmem_conf.lua takes it, also by partition"),
        ("Default: none. Example: Colour=4G" in page, "the manual page explains it"),
        ("# The most colour that a job may have.\n#Colour=none\n#Colour=4G\n" in sample, "the sample has it"),
        (ansible_keys(tree) == 3 * [{"type": "str", "default": "none", "description": "none, or the most colour that a job may have."}],
         "the Ansible role takes it in each of its variables")]


def main() -> int:
    # As root pmctl reads only what nobody else can change.
    with tempfile.TemporaryDirectory(prefix="pm-tables.", dir="/run" if not os.getuid() else None) as directory:
        tree = Path(directory)
        copy(tree)
        results = [(run(tree, "docs/tables.py", "--check") == "", "the files of the tree follow from the tables")]
        add_key(tree)
        stale = run(tree, "docs/tables.py", "--check")
        results += [(name in stale, f"{name} is missed") for name in ("pmem.conf.5.rst", "etc/pmem.conf", "pmem_conf.lua", "argument_specs.yml")]
        run(tree, "make", "tables")
        said = build(tree)
        built = all((tree / "build" / name).exists() for name in PROGRAMS)
        results.append((built, "the tree builds"))
        if built:
            results += of_key(tree)
        else:
            print("\n".join(f"# {line}" for line in said.splitlines()[-20:]))
        return report(results)


if __name__ == "__main__":
    sys.exit(main())
