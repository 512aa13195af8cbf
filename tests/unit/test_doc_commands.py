#!/usr/bin/env python3
"""README.md, the pages for users, some for administrators: a code block says who types it where, and those of this host run; TAP.

The other commands run on the bench (tests/slurm/150-docs.bats) and on the twin (tests/twin/570-docs.bats). Here "make install" of
README.md makes a tree, which tests/docs/installed lays over /usr, so that commands find what a page's reader has.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from report import report

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/docs"))
import blocks  # noqa: E402

# The program of the reader: it leaves a trace, and it is compiled where a page says so.
APP = "#!/bin/sh\necho ran >>ran\n"
SOURCES = {
    "cc": ("app.c", "#include <pmplace.h>\n#include <stdlib.h>\nint main(void)\n{\n\tvoid *p = pm_alloc(1 << 20, PM_SLOW);\n"
                    "\tpm_iteration();\n\tfree(p);\n\treturn 0;\n}\n"),
    "gfortran": ("app.f90", "program app\n\tuse, intrinsic :: iso_c_binding\n\tuse pmplace\n\ttype(c_ptr) :: object\n"
                            "\tobject = pm_alloc(8_c_size_t, PM_SLOW)\nend program\n")}
# This host stands for a node with cores enough: mpirun is to start more ranks than there are processors here, and pmrun
# leaves them unbound. mpirun asks whether root means it.
NODE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PM_BIND": "none"}
LIMIT_S = 300


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PM_", "SLURM", "OMPI_"))}
    # Programs of the release, since pages know no others.
    return kept | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"} | more


def run(block: blocks.Block, command: list[str], where: Path, **more: str) -> tuple[bool, str]:
    done = subprocess.run([*command, "bash", "-e", "-c", block.commands], cwd=where, env=environment(**more),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
    name = f"{block.page}:{block.line} runs {block.typed[1]}"
    if done.returncode:
        print("".join(f"# {name}: {line}\n" for line in done.stdout.splitlines()[-10:]), end="")
    return done.returncode == 0, name


def home(parent: Path, block: blocks.Block) -> Path:
    """The folder of the page's reader, with a program."""
    folder = parent / block.page.replace("/", "-")
    folder.mkdir(exist_ok=True)
    app = folder / "app"
    app.write_text(APP)
    app.chmod(0o755)
    (folder / "ran").unlink(missing_ok=True)
    shutil.copy(TOP / "tests/fixtures/topology/synthetic-cascade-lake-flat.xml", folder / "big.xml")
    for name, text in blocks.shown_files().items():
        (folder / name).write_text(text)
    for compiler, (name, text) in SOURCES.items():
        if block.commands.startswith(compiler):
            (folder / name).write_text(text)
            app.unlink()
    return folder


def on_host(block: blocks.Block, tree: Path, parent: Path) -> list[tuple[bool, str]]:
    """Commands of a reader, and what they leave behind: their program has run, or is there."""
    folder = home(parent, block)
    results = [run(block, [str(TOP / "tests/docs/installed"), str(tree)], folder, **NODE)]
    for compiler in SOURCES:
        if block.commands.startswith(compiler):
            return results + [((folder / "app").exists(), f"{block.page}:{block.line} makes the program")]
    if "./app" in block.commands:
        results.append(((folder / "ran").exists(), f"{block.page}:{block.line} starts the program"))
    return results


def host(parent: Path, found: list[blocks.Block]) -> list[tuple[bool, str]]:
    """In the sources first: that installs what the others need."""
    tree = parent / "tree"
    (tree / "etc/ood/config/apps/myjobs/templates").mkdir(parents=True)
    build = {"BUILD": os.environ["PM_BUILD"]} if "PM_BUILD" in os.environ else {}
    sources = [block for block in found if block.typed[1] == "in the sources"]
    results = [run(block, [], TOP, DESTDIR=str(tree), **build) for block in sources]
    for block in found:
        results += on_host(block, tree, parent) if block not in sources else []
    return results


def main() -> int:
    found = [block for page in blocks.pages() for block in blocks.blocks(page)]
    marked = [(block.is_marked, f"{block.page}:{block.line} has a marker that says who types it where, or what it shows")
              for block in found]
    with tempfile.TemporaryDirectory(prefix="pm-docs.", dir="/run" if not os.getuid() else None) as parent:
        ran = host(Path(parent), [block for block in found if block.typed and block.typed[2] == "host"])
    return report(marked + ran + [(len(ran) > 5, "there are commands")])


if __name__ == "__main__":
    sys.exit(main())
