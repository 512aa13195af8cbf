#!/usr/bin/env python3
"""README.md and all pages: a code block says who types it where, and those of this host run; TAP.

The other commands run on the bench (tests/slurm/150-docs.bats), on the twin (tests/twin/570-docs.bats), in the packages' chroot
(tests/packages/020-installed.bats), and where Ansible is (tests/ansible/test_docs.py). Here "make install" of README.md makes a
tree, which tests/docs/installed lays over /usr and /etc, so that commands find what a page's reader has. systemd does not run in
it: units are enabled, and must be there to be started.
"""
import os
import re
import shlex
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
        "PM_BIND": "none",}
# In /etc there.
CONFIGURATION = {"slurm/slurm.conf": "ClusterName=try\nReturnToService=1\n", "slurm/plugstack.conf": "# the site's\n", "slurm/pmem.conf": "SiteProfile=optane-100\n"}
PROFILES = ("optane-100", "n1", "n2", "n3")
SYSTEMCTL = """#!/bin/sh
verb=$1
shift
[ "$1" != --now ] || shift
[ "$verb" != enable ] || exec env SYSTEMD_OFFLINE=1 systemctl.real enable "$@"
for unit; do
	case $unit in *.*) ;; *) unit=$unit.service ;; esac
	[ -e "/lib/systemd/system/$unit" ] || { echo "there is no $unit" >&2; exit 5; }
done
"""
LIMIT_S = 300
PROFILE = (TOP / "tests/fixtures/site-profiles/round.json").read_text().replace("round-numbers", "optane-100")


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PM_", "SLURM", "OMPI_"))}
    # Programs of the release, since pages know no others.
    return kept | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"} | more


def run(block: blocks.Block, command: list[str], where: Path, **more: str) -> tuple[bool, str]:
    name = f"{block.page}:{block.line} runs {block.typed[1]}"
    try:
        done = subprocess.run([*command, "bash", "-e", "-c", block.commands], cwd=where, env=environment(**more),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S)
        status, out = done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        status, out = -1, (error.stdout or b"") + f"\nnot done after {LIMIT_S} s".encode()
    if status:
        print("".join(f"# {name}: {line}\n" for line in out.decode(errors="replace").splitlines()[-10:]), end="", flush=True)
    return status == 0, name


def home(parent: Path, block: blocks.Block) -> Path:
    """The folder of the page's reader, with a program."""
    folder = parent / block.page.replace("/", "-")
    folder.mkdir(exist_ok=True)
    app = folder / "app"
    app.write_text(APP)
    app.chmod(0o755)
    (folder / "ran").unlink(missing_ok=True)
    shutil.copy(TOP / "tests/fixtures/topology/synthetic-cascade-lake-flat.xml", folder / "big.xml")
    for name in PROFILES:
        (folder / f"{name}.json").write_text(PROFILE)
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
    for name, text in (CONFIGURATION | {"slurm/pmem-profile.d/optane-100.json": PROFILE}).items():
        (tree / "etc" / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / "etc" / name).write_text(text)
    (tree / "usr/bin").mkdir(parents=True)
    shutil.copy("/usr/bin/systemctl", tree / "usr/bin/systemctl.real")
    (tree / "usr/bin/systemctl").write_text(SYSTEMCTL)
    (tree / "usr/bin/systemctl").chmod(0o755)
    build = {"BUILD": os.environ["PM_BUILD"]} if "PM_BUILD" in os.environ else {}
    path = f"{build.get('BUILD', TOP / 'build')}:{environment()['PATH']}"
    sources = [block for block in found if block.typed[1] == "in the sources"]
    results = [run(block, [], TOP, DESTDIR=str(tree), PATH=path, **build) for block in sources]
    for block in found:
        results += on_host(block, tree, parent) if block not in sources else []
    return results


def targets() -> set[str]:
    """Those that make knows here."""
    done = subprocess.run(["make", "-npq", ":"], cwd=TOP, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return set(re.findall(r"^([^#.\s][^:=\s]*):(?!=)", done.stdout, re.M))


def named(found: list[blocks.Block]) -> list[tuple[bool, str]]:
    """Of commands in the sources that are not run: there are such targets and programs."""
    known, results = targets(), []
    for block in (block for block in found if block.typed and block.typed[1] == "in the sources" and not block.typed[2]):
        lines = [line.partition(" #")[0] for line in block.commands.splitlines()]
        for words in (shlex.split(part) for line in lines for part in line.split(";") if part.strip()):
            wanted = [word for word in words[1:] if "=" not in word] if words[0] == "make" else []
            is_there = set(wanted) <= known if wanted else "/" not in words[0] or (TOP / words[0]).is_file()
            results.append((is_there, f"{block.page}:{block.line}: there is '{' '.join(words)}'"))
    return results


def main() -> int:
    found = [block for page in blocks.pages() for block in blocks.blocks(page)]
    marked = [(block.is_marked, f"{block.page}:{block.line} has a marker that says who types it where, or what it shows")
              for block in found]
    with tempfile.TemporaryDirectory(prefix="pm-docs.", dir="/run" if not os.getuid() else None) as parent:
        ran = host(Path(parent), [block for block in found if block.typed and block.typed[2] == "host"])
    return report(marked + named(found) + ran + [(len(ran) > 5, "there are commands")])


if __name__ == "__main__":
    sys.exit(main())
