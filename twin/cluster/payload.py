"""The part of the guests that changes often: our programs, built for the suite, and the cluster's configuration.

It is not in the image. Every `up` installs the programs into a staging directory and packs them, the
configuration and the guests' start-up into the initrd, which lays them over the image.
"""
from __future__ import annotations

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
from image.build import Image

UNITS = "etc/systemd/system"
GUEST_UNITS = {"sysinit.target": ["pmtwin-agent"], "multi-user.target": ["pmtwin-ready"]}
SLURM_UNITS = {"multi-user.target": ["munge", "slurmctld", "slurmd"]}
# A guest boots in seconds, a requeued job need not wait long for its credential to expire, and the scheduler looks often.
TWIN_VALUES = {
    "ResumeTimeout": "200",
    "AuthInfo": "cred_expire=20",
    "SchedulerParameters": "salloc_wait_nodes,nohold_on_prolog_fail,sched_interval=10,bf_interval=10",
}
PRODUCT_UNITS = {"multi-user.target": "pmctl-verify.service", "timers.target": "pm-reregister.timer"}


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
        add_programs(tree, image, shape.suite)
        add_configuration(tree, state, image, shape)
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
    """What runs commands for the host, and what makes the machine one of this network."""
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
    """Our programs as `make install` places them, and what of the installed services runs where."""
    with tempfile.TemporaryDirectory(prefix="pmtwin-stage-") as scratch:
        staging = os.environ.get("PMTWIN_INSTALLED")     # a tree that `make install DESTDIR=` made elsewhere
        if not staging:
            staging = scratch
            install(image, suite, Path(staging))
        tree.copy(Path(staging), "files")
    tree.copy(paths.GUEST / "roles", "files")
    mask_units(tree, "masked-units-of-tools")
    enable(tree, SLURM_UNITS)
    for target, unit in PRODUCT_UNITS.items():
        if f"files/usr/lib/systemd/system/{unit}" in tree.entries:
            tree.symlink(f"files/{UNITS}/{target}.wants/{unit}", f"/usr/lib/systemd/system/{unit}")


def install(image: Image, suite: str, staging: Path) -> None:
    """`make install` with the suite's headers and libraries, so that the host's own do not matter."""
    make(image, suite, "install", f"DESTDIR={staging}")


def agent(image: Image, suite: str) -> bytes:
    """The program that runs commands in the guest."""
    program = build_directory(image, suite) / "pmtwin-agent"
    make(image, suite, str(program))
    return program.read_bytes()


def build_directory(image: Image, suite: str) -> Path:
    return paths.cache() / f"build-{suite}-{image.digest.rsplit('-', 1)[1]}"


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
    """Makefile variables; "=" in a path is the sysroot. -B and -L: gcc would look in its own place, the host's, first."""
    libraries = "/usr/lib/x86_64-linux-gnu"
    return [f"CC=gcc --sysroot={sdk} -B{sdk}{libraries} -L={libraries}", "SLURM_CFLAGS=-I=/usr/include",
            "JSON_CFLAGS=-I=/usr/include/json-c", "JSON_LIBS=-ljson-c",
            "XML_CFLAGS=-I=/usr/include/libxml2", "XML_LIBS=-lxml2", "HWLOC_CFLAGS=", "HWLOC_LIBS=-lhwloc"]


def listed(name: str) -> list[str]:
    lines = (paths.GUEST / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def enable(tree: Tree, wanted: dict[str, list[str]]) -> None:
    """The symlinks that `systemctl enable` would make, of services by the target that wants them."""
    for target, units in wanted.items():
        for unit in units:
            home = f"/{UNITS}" if f"files/{UNITS}/{unit}.service" in tree.entries else "/usr/lib/systemd/system"
            tree.symlink(f"files/{UNITS}/{target}.wants/{unit}.service", f"{home}/{unit}.service")


def add_configuration(tree: Tree, state: State, image: Image, shape: Shape) -> None:
    """What makes these guests one Slurm cluster."""
    tree.file("files/etc/munge/munge.key", munge_key(state), 0o400, image.user("munge"))
    tree.directory("files/etc/munge", 0o700, image.user("munge"))
    for path in ("var/log/slurm", "var/spool/slurmctld"):
        tree.directory(f"files/{path}", 0o755, image.user("slurm"))
    tree.directory("files/var/spool/slurmd")
    samples = paths.PROJECT / "etc"
    tree.file("files/etc/slurm/slurm-pmem.conf", adapted((samples / "slurm-pmem.conf").read_text(encoding="utf-8")))
    for name in ("helpers.conf", "job_submit.lua"):
        tree.file(f"files/etc/slurm/{name}", (samples / name).read_bytes())
    for name in ("cgroup.conf", "pmem.conf"):
        tree.file(f"files/etc/slurm/{name}", (paths.GUEST / name).read_bytes())
    tree.copy(samples / "plugstack.conf.d", "files/etc/slurm/plugstack.conf.d")
    tree.file("files/etc/slurm/plugstack.conf", "include /etc/slurm/plugstack.conf.d/*.conf\n")
    tree.file("files/etc/slurm/slurm.conf", slurm_conf(shape))


def adapted(sample: str) -> str:
    """The sample for sites, with the twin's own values for the keys in TWIN_VALUES."""
    for key, value in TWIN_VALUES.items():
        sample = re.sub(rf"^{key}=.*$", f"{key}={value}", sample, flags=re.MULTILINE)
    return sample


def slurm_conf(shape: Shape) -> str:
    text = (paths.GUEST / "slurm.conf").read_text(encoding="utf-8")
    nodes = [f"NodeName={m.name} NodeAddr={m.address} CoresPerSocket={shape.cores}"
             for m in members(shape.nodes) if m.role == "compute"]
    return text + "\n".join(nodes) + "\n"


def munge_key(state: State) -> bytes:
    """The twin's own key, made once."""
    if not state.munge_key.exists():
        descriptor = os.open(state.munge_key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(secrets.token_bytes(128))
    return state.munge_key.read_bytes()
