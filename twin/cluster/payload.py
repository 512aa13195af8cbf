"""The part of the guests that is not in the image: this cluster's configuration, and our programs if their sources have changed.

Every `up` packs it with the guests' start-up into the initrd, which lays it over the image.
"""
from __future__ import annotations

import gzip
import hashlib
import os
import re
import secrets
import subprocess
import tarfile
import tempfile
from pathlib import Path

from cluster import paths
from cluster.cpio import Tree
from cluster.errors import TwinError
from cluster.members import hosts_file, members
from cluster.shape import Shape
from cluster.state import State
from image import sources
from image.build import Image

UNITS = "etc/systemd/system"
PAGE = re.compile(r"files/usr/share/man/man\d/.+\.\d")
GUEST_UNITS = {"sysinit.target": ["pmtwin-agent"], "multi-user.target": ["pmtwin-ready"]}
ACCOUNTING_UNITS = {"multi-user.target": ["pmtwin-accounting"]}


def build(state: State, image: Image, shape: Shape) -> None:
    """Writes the twin's initrd."""
    tree = Tree()
    for directory in ("proc", "sys", "dev", "base", "own", "payload", "root", "files", "bin"):
        tree.directory(directory)
    tree.file("bin/busybox", image.busybox.read_bytes(), 0o755)
    tree.file("init", (paths.GUEST / "init").read_bytes(), 0o755)
    add_modules(tree, image)
    add_guest(tree, image, shape)
    if not shape.plain:
        add_roles(tree)
        add_programs(tree, image, shape.suite)
        add_configuration(tree, state, image, shape)
    if shape.accounting:
        add_accounting(tree, image)
    temporary = state.initrd.with_suffix(".new")
    temporary.write_bytes(tree.archive())
    os.rename(temporary, state.initrd)


def add_modules(tree: Tree, image: Image) -> None:
    """The early modules and, for each group of them, the order to load them in."""
    order: dict[str, list[str]] = {}
    with tarfile.open(image.modules) as tar:
        for member in tar:
            group, name = member.name.split("/")
            order.setdefault(group, []).append(name)
            tree.file(f"modules/{name}", tar.extractfile(member).read())
    for group, names in order.items():
        tree.file(f"modules/{group}.list", "\n".join(names) + "\n")


def add_guest(tree: Tree, image: Image, shape: Shape) -> None:
    """Adds the agent that runs commands for the host, the network's names, and the masks of units."""
    tree.copy(paths.GUEST / "root", "files")
    tree.file("files/usr/lib/pmtwin/agent", agent(image, shape.suite), 0o755)
    tree.file("files/etc/hosts", hosts_file(members(shape.nodes)))
    tree.file("files/etc/resolv.conf", "")
    mask_units(tree, "masked-units")
    for generator in listed("masked-generators"):
        tree.symlink(f"files/etc/systemd/system-generators/{generator}", "/dev/null")
    enable(tree, GUEST_UNITS)


def mask_units(tree: Tree, name: str) -> None:
    for unit in listed(name):
        tree.symlink(f"files/{UNITS}/{unit}", "/dev/null")


def add_programs(tree: Tree, image: Image, suite: str) -> None:
    """Adds our programs as `make install` places them, if the image's packages were made of other sources."""
    elsewhere = os.environ.get("PMTWIN_INSTALLED")     # a tree that `make install DESTDIR=` made
    if elsewhere:
        add_installed(tree, Path(elsewhere))
    elif not image.is_of(sources.digest(sources.PROGRAMS)):
        with tempfile.TemporaryDirectory(prefix="pmtwin-stage-") as scratch:
            install(image, suite, Path(scratch))
            add_installed(tree, Path(scratch))


def add_installed(tree: Tree, installed: Path) -> None:
    """Adds what `make install` has installed. Manual pages are compressed, and so lie over those of the packages."""
    tree.copy(installed, "files")
    for path in [path for path in tree.entries if PAGE.fullmatch(path)]:
        tree.file(f"{path}.gz", gzip.compress(tree.entries.pop(path).data, mtime=0))


def add_roles(tree: Tree) -> None:
    """Limits each installed service to the nodes of its role, and masks the services of tools."""
    tree.copy(paths.GUEST / "roles", "files")
    mask_units(tree, "masked-units-of-tools")


def install(image: Image, suite: str, staging: Path) -> None:
    """`make install` with the suite's headers and libraries, so that the host's own do not matter."""
    fetch_jemalloc()
    make(image, suite, "install", f"DESTDIR={staging}")


def fetch_jemalloc() -> None:
    """Fetches the source of jemalloc, which the placement runtime is built with, into the cache."""
    fetched = subprocess.run([paths.PROJECT / "packaging/jemalloc"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             check=False)
    if fetched.returncode:
        raise TwinError(fetched.stderr.strip())


def agent(image: Image, suite: str) -> bytes:
    """The program that runs commands in the guest."""
    program = build_directory(image, suite) / "pmtwin-agent"
    make(image, suite, str(program))
    return program.read_bytes()


def build_directory(image: Image, suite: str) -> Path:
    """One for each source tree: make compares times, and a source of another tree may be older than an object of this one."""
    tree = hashlib.sha256(os.fsencode(paths.PROJECT)).hexdigest()[:8]
    return paths.cache() / f"build-{suite}-{image.digest.rsplit('-', 1)[1]}" / tree


def make(image: Image, suite: str, *arguments: str) -> None:
    build = build_directory(image, suite)
    build.mkdir(parents=True, exist_ok=True)
    log = build / "make.log"
    with open(log, "w", encoding="utf-8") as file:
        made = subprocess.run(
            ["make", "-C", str(paths.PROJECT), f"-j{os.cpu_count() or 1}", f"BUILD={build}", *sdk_variables(image.sdk),
             *arguments],
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False)
    if made.returncode:
        raise TwinError(f"building the programs for {suite} failed ({first_error(log)}), its messages are in '{log}'")


def first_error(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line for line in lines if "error:" in line or "***" in line), "no message")


def sdk_variables(sdk: Path) -> list[str]:
    """Makefile variables; "=" in a path is the sysroot. -B and -L: gcc would otherwise search the host's directories first."""
    libraries = "/usr/lib/x86_64-linux-gnu"
    return [f"CC=gcc --sysroot={sdk} -B{sdk}{libraries} -L={libraries}", "SLURM_CFLAGS=-I=/usr/include",
            "JSON_CFLAGS=-I=/usr/include/json-c", "JSON_LIBS=-ljson-c",
            "XML_CFLAGS=-I=/usr/include/libxml2", "XML_LIBS=-lxml2", "HWLOC_CFLAGS=", "HWLOC_LIBS=-lhwloc"]


def listed(name: str) -> list[str]:
    lines = (paths.GUEST / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def enable(tree: Tree, wanted: dict[str, list[str]]) -> None:
    """Adds the symlinks that `systemctl enable` would make: for each target, the guests' own services that it wants."""
    for target, units in wanted.items():
        for unit in units:
            tree.symlink(f"files/{UNITS}/{target}.wants/{unit}.service", f"/{UNITS}/{unit}.service")


def add_configuration(tree: Tree, state: State, image: Image, shape: Shape) -> None:
    """Adds munge's key and the nodes' lines of slurm.conf; the image has the rest of Slurm's configuration."""
    tree.file("files/etc/munge/munge.key", munge_key(state), 0o400, image.user("munge"))
    tree.directory("files/etc/munge", 0o700, image.user("munge"))
    tree.file("files/etc/slurm/slurm.conf", slurm_conf(image, shape))


def slurm_conf(image: Image, shape: Shape) -> str:
    """The image's, with this twin's lines."""
    accounting = (paths.GUEST / "accounting.conf").read_text(encoding="utf-8") if shape.accounting else ""
    return image.slurm_conf.read_text(encoding="utf-8") + accounting + nodes_of_slurm(shape)


def add_accounting(tree: Tree, image: Image) -> None:
    """Adds the configuration of slurmdbd and MariaDB. slurmdbd refuses a file that other users can read."""
    tree.copy(paths.GUEST / "accounting", "files")
    enable(tree, ACCOUNTING_UNITS)
    name = "etc/slurm/slurmdbd.conf"
    tree.file(f"files/{name}", (paths.GUEST / "accounting" / name).read_bytes(), 0o600, image.user("slurm"))


def nodes_of_slurm(shape: Shape) -> str:
    """Lines for slurm.conf. RealMemory is a node's memory in mode flat, the largest; in App Direct a node registers with a
    fifth of that. pmem.conf has the memory for jobs in each mode."""
    return "".join(f"NodeName={m.name} NodeAddr={m.address} Sockets=2 CoresPerSocket={shape.cores} ThreadsPerCore=1 "
                   "RealMemory=9500 State=UNKNOWN\n" for m in members(shape.nodes) if m.role == "compute")


def munge_key(state: State) -> bytes:
    """The twin's own key, made once."""
    if not state.munge_key.exists():
        descriptor = os.open(state.munge_key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(secrets.token_bytes(128))
    return state.munge_key.read_bytes()
