#!/usr/bin/python3
"""A key of pmem.conf, an option and a mode are each a row of their table and its use; TAP.

In a copy of the tree rows and uses are added, and all that has keys, options or modes is asked for the new ones: pmctl,
pmem_conf.lua, the samples, pmem.conf(5) and the Ansible role; pmrun, the plugin, completion, pmrun(1) and README.md.
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
OPTION = '''PM_PLAN_OPTION(COLOUR, colour, "SIZE|red",
	"colour of each rank",
	"The colour that each rank has.")
'''
OPTION_USE = '''static int take_colour(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	if (strcmp(value, "red"))
		return refuse(source, value, "write red", err);
	request->dram_bytes = 7ULL << 30;
	return 0;
}

'''
OPTION_TAKER = "\t\t[PM_PLAN_WORD_COLOUR] = take_colour,\n"
# Its jobs get devices; what they get has its use in node/act/.
MODE = '''PM_MODE_ROW(DIRECT, "direct", "pm_appdirect", APPDIRECT, DEVDAX,
	"persistent memory is devices")
'''
# Where a key, an option or a mode stands that is not C.
FILES = ("pmem_mode.py", "pmem.conf.5.rst", "etc/pmem.conf", "pmem_conf.lua", "argument_specs.yml", "pmrun.1.rst", "pmrun.bash", "README.md")
BUILT = ("pmctl", "pmrun", "spank_plugin/option.o", "man/pmem.conf.5", "man/pmrun.1")
MACHINE = "--topology=tests/fixtures/topology/synthetic-cascade-lake-flat.xml"
COMPLETE = '''. launcher/pmrun.bash; compopt() { :; }
COMP_WORDS=(pmrun "$@") COMP_CWORD=$#; _pmrun; echo "${COMPREPLY[*]}"'''


def run(tree: Path, *words: str) -> str:
    """What it prints, and of a failure what it says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(words, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def copy(tree: Path) -> None:
    """What git tracks or would add."""
    listed = run(TOP, "git", "ls-files", "--cached", "--others", "--exclude-standard")
    for name in listed.splitlines():
        if (TOP / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, tree / name)


def insert(path: Path, before: str, text: str) -> None:
    """In front of the last line that begins so."""
    lines = path.read_text().splitlines(keepends=True)
    at = max(number for number, line in enumerate(lines) if line.startswith(before))
    path.write_text("".join(lines[:at] + [text] + lines[at:]))


def add_key(tree: Path) -> None:
    insert(tree / "site/keys.def", 'PM_KEY_SECTION("Keys for nodes"', KEY)
    insert(tree / "site/plan.c", "\trequest->allow_remote", KEY_USE)


def add_option(tree: Path) -> None:
    insert(tree / "plan/options.def", "PM_RANK_OPTION(RUNTIME", OPTION)
    insert(tree / "plan/words.c", "int pm_plan_take(", OPTION_USE)
    insert(tree / "plan/words.c", "\t\t[PM_PLAN_WORD_SMT]", OPTION_TAKER)


def add_mode(tree: Path) -> None:
    insert(tree / "site/modes.def", "#undef", MODE)


def build(tree: Path) -> str:
    return run(tree, "make", "--no-print-directory", "BUILD=build", "CFLAGS=-O0", "HARDEN=", *(f"build/{name}" for name in BUILT))


def stale(tree: Path) -> str:
    return run(tree, "docs/tables.py", "--check")


def ansible_keys(tree: Path) -> list[str]:
    spec = yaml.safe_load((tree / "ansible/roles/pmem/meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    return [spec[name]["options"].get("Colour", {}).get("default") for name in ("pmem_conf", "pmem_conf_lines", "pmem_plugstack_conf")]


def of_key(tree: Path) -> list[tuple[bool, str]]:
    conf = tree / "pmem.conf"
    conf.write_text("Colour=3G\nPartitionName=a Colour=5G\n")
    shown = run(tree, "build/pmctl", "--config", str(conf), "show-config").splitlines()
    used = run(tree, "build/pmrun", "--plan", f"--config={conf}", MACHINE)
    by_lua = run(tree, "lua5.1", "tests/lua/print_config.lua", str(conf)).splitlines()
    page = (tree / "build/man/pmem.conf.5").read_text()
    sample = (tree / "etc/pmem.conf").read_text()
    return [
        (f"Colour=3G # {conf}:1" in shown, "pmctl takes the key"),
        ("  3 GiB  " in used, "pmrun uses the key"),
        ({"Colour=3G", "PartitionName=a Colour=5G"} <= set(by_lua), "pmem_conf.lua takes it, also by partition"),
        ("Default: none. Example: Colour=4G" in page, "pmem.conf(5) explains it"),
        ("# The most colour that a job may have.\n#Colour=none\n#Colour=4G\n" in sample, "the sample has it"),
        (ansible_keys(tree) == ["none", "none", "none"], "the Ansible role takes it in each of its variables")]


def completed(tree: Path, *words: str) -> list[str]:
    return run(tree, "bash", "-c", COMPLETE, "bash", *words).split()


def of_option(tree: Path) -> list[tuple[bool, str]]:
    help_ = " ".join(run(tree, "build/pmrun", "--help").split())
    used = run(tree, "build/pmrun", "--plan", f"--config={tree}/etc/pmem.conf", MACHINE, "--pm-colour=red")
    plugin = (tree / "build/spank_plugin/option.o").read_bytes()
    page = (tree / "build/man/pmrun.1").read_text()
    return [
        ("--pm-colour=SIZE|red colour of each rank (PM_COLOUR)" in help_, "pmrun --help lists the option"),
        ("  7 GiB  " in used, "pmrun uses the option"),
        (b"\0[pm] colour of each rank\0" in plugin and b"\0PM_COLOUR\0" in plugin, "the plugin gives it to srun, sbatch and salloc"),
        ("--pm-colour=" in completed(tree, "--pm-co"), "bash completes it"),
        (completed(tree, "--pm-colour", "=") == ["red"], "and its argument"),
        ("The colour that each rank has. Variable: \\fBPM_COLOUR\\fP" in page, "pmrun(1) explains it"),
        ("      --pm-colour=SIZE|red    [pm] colour of each rank\n" in (tree / "README.md").read_text(), "README.md lists it")]


def of_mode(tree: Path) -> list[tuple[bool, str]]:
    conf = tree / "pmem.conf"
    conf.write_text("Modes=direct\n")
    conf.chmod(0o644)
    shown = run(tree, "build/pmctl", "--config", str(conf), "show-config").splitlines()
    by_lua = run(tree, "lua5.1", "tests/lua/print_modes.lua").splitlines()
    module = (tree / "ansible/plugins/modules/pmem_mode.py").read_text()
    # The help's lines are wrapped where the words end.
    listed = " ".join((tree / "README.md").read_text().split())
    return [
        (f"Modes=direct # {conf}:1" in shown, "pmctl takes the mode"),
        ("direct pm_appdirect" in by_lua, "pmem.lua takes it"),
        ("choices: [memory, appdirect, flat, mixed, direct]" in module and '"mixed", "direct")' in module, "the Ansible module takes it"),
        ("none or auto: memory, appdirect, flat, mixed, direct --pm-size" in listed, "README.md lists it")]


def check(tree: Path) -> list[tuple[bool, str]]:
    results = [(stale(tree) == "", "the files of the tree follow from the tables")]
    add_key(tree)
    add_option(tree)
    add_mode(tree)
    missed = stale(tree)
    results += [(name in missed, f"{name} is missed") for name in FILES]
    run(tree, "make", "tables")
    said = build(tree)
    built = all((tree / "build" / name).exists() for name in BUILT)
    print("" if built else "".join(f"# {line}\n" for line in said.splitlines()[-20:]), end="")
    return results + [(built, "the tree builds")] + (of_key(tree) + of_option(tree) + of_mode(tree) if built else [])


def main() -> int:
    # As root pmctl reads only what nobody else can change.
    with tempfile.TemporaryDirectory(prefix="pm-tables.", dir="/run" if not os.getuid() else None) as directory:
        tree = Path(directory)
        copy(tree)
        return report(check(tree))


if __name__ == "__main__":
    sys.exit(main())
