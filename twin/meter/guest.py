"""A guest of the meter: boots in seconds, has the host's file system read-only, runs one command, and is counted meanwhile.

Its NUMA nodes are DRAM, one a socket, and behind them as many without processors that stand for PMem. The command's folder is
/mnt in the guest. QEMU runs the guest's processors in turn, so that a run can be repeated.
"""
from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

from cluster import paths
from cluster.cpio import Tree
from cluster.progress import Progress
from image import build, recipe
from meter.errors import MeterError, plugin

MIB = 1 << 20
LOW_MEMORY = 2 << 30         # q35 has a hole above it, behind which addresses go on at 4 GiB
DISTANCES = {(True, False): 17, (False, True): 21, (False, False): 28}    # (same socket, both DRAM)
COPIES = re.compile(r"copy_page(_regs)?|copy_mc_.*|memcpy(_orig)?|__memcpy|copy_highpage|folio_mc_copy")
CLEARS = re.compile(r"clear_page(_rep|_orig|_erms)?|clear_huge_page|clear_subpage|folio_zero_user")


@dataclass(frozen=True)
class Machine:
    """Sizes are bytes, of each socket."""

    sockets: int = 2
    dram: int = 256 * MIB
    pmem: int = 512 * MIB
    cache: str = f"{MIB}:16"        # BYTES:WAYS
    near: int = 0                   # DRAM in Memory Mode; the nodes are then what it caches

    def sizes(self) -> list[int]:
        """Of each NUMA node."""
        return [self.dram] * self.sockets + [self.pmem] * self.sockets * bool(self.pmem)

    def ranges(self) -> list[tuple[int, int, int]]:
        """Node, start, bytes: nodes lie one behind the other in guest-physical memory."""
        sizes = self.sizes()
        if sum(sizes) > LOW_MEMORY:
            raise MeterError(f"{sum(sizes) // MIB} MiB of memory are more than the {LOW_MEMORY // MIB} that a guest can have")
        return [(i, sum(sizes[:i]), size) for i, size in enumerate(sizes)]

    def arguments(self) -> list[str]:
        """Memory is one block of QEMU's: its plugins add a block's place among all blocks to its address (plugins/api.c of 7.2). Machines
        up to 5.0 may divide one block into nodes."""
        sizes, found = self.sizes(), ["-machine", "pc-q35-5.0,hmat=on", "-smp", f"{self.sockets},sockets={self.sockets}", "-m", f"{sum(self.sizes()) // MIB}M"]
        for i, size in enumerate(sizes):
            cpus = f",cpus={i}" if i < self.sockets else f",initiator={i % self.sockets}"
            found += ["-numa", f"node,nodeid={i},mem={size // MIB}M{cpus}"]
        for a in range(len(sizes)):
            for b in range(len(sizes)):
                if a != b:
                    distance = DISTANCES[a % self.sockets == b % self.sockets, max(a, b) < self.sockets]
                    found += ["-numa", f"dist,src={a},dst={b},val={distance}"]
        return found + self.tiers()

    def tiers(self) -> list[str]:
        """The HMAT, by which the kernel tells tiers of memory: figures that paper 000 has for a socket."""
        found = []
        for initiator in range(self.sockets):
            for target in range(len(self.sizes())):
                latency, bandwidth = (79, 106496) if target < self.sockets else (174, 39936)
                what = f"hmat-lb,initiator={initiator},target={target},hierarchy=memory"
                found += ["-numa", f"{what},data-type=access-latency,latency={latency}", "-numa", f"{what},data-type=access-bandwidth,bandwidth={bandwidth}M"]
        return found


@dataclass(frozen=True)
class Result:
    """`regions` are as the plugin wrote them: traffic by socket, node and maker."""

    status: int
    stdout: str
    stderr: str
    regions: list[dict] = field(default_factory=list)


def files(folder: Path) -> tuple[Path, Path]:
    """The kernel, and an initrd that is made in the folder."""
    with Progress(quiet=True) as progress:
        image = build.ensure(recipe.suite("trixie"), progress)
    tree = Tree()
    for name in ("proc", "sys", "dev", "root", "bin"):
        tree.directory(name)
    tree.file("bin/busybox", image.busybox.read_bytes(), 0o755)
    tree.file("init", (paths.TWIN / "meter/guest_init").read_bytes(), 0o755)
    with tarfile.open(image.modules) as tar:
        names = [member.name for member in tar if member.name.startswith("base/")]
        for name in names:
            tree.file(f"modules/{os.path.basename(name)}", tar.extractfile(name).read())
    tree.file("modules.list", "".join(f"{os.path.basename(name)}\n" for name in names))
    initrd = folder / "initrd"
    initrd.write_bytes(tree.archive())
    return image.vmlinux, initrd


def functions(symbols: Path) -> list[str]:
    """Arguments of the plugin: where the kernel's functions are that copy and clear pages."""
    rows = [line.split()[:3] for line in symbols.read_text(encoding="ascii").splitlines()]
    text = sorted((int(address, 16), name) for address, kind, name in rows if kind in "tT")
    found = []
    for (start, name), (end, _) in zip(text, text[1:]):
        kind = "copies" if COPIES.fullmatch(name) else "clears" if CLEARS.fullmatch(name) else None
        if kind and start and end > start:
            found.append(f"{kind}={start:x}:{end:x}")
    return found


def write_command(folder: Path, command: Sequence[str], variables: dict[str, str], marks: bool, binary: Path) -> None:
    shutil.copy(binary, folder / "region")
    region = [] if marks else ["/mnt/region"]
    (folder / "command").write_text("cd /mnt\n" + "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
                                    + f"exec {shlex.join([*region, *command])}\n", encoding="utf-8")


def boot(machine: Machine, folder: Path, counter: list[str], kernel: Path, initrd: Path, timeout: float) -> None:
    (folder / "status").unlink(missing_ok=True)
    with open(folder / "console", "wb") as console:
        found = subprocess.run([
            "setpriv", "--pdeathsig", "TERM", "qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "max,-erms,-fsrm", "-nodefaults",
            "-no-user-config", "-display", "none", "-no-reboot", *machine.arguments(), "-kernel", str(kernel), "-initrd", str(initrd),
            "-append", "console=ttyS0 quiet panic=-1 nokaslr mitigations=off audit=0 clocksource=hpet tsc=unstable rdinit=/init numa_balancing=disable",
            "-serial", "stdio", "-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
            "-fsdev", f"local,id=run,path={folder},security_model=none", "-device", "virtio-9p-pci,fsdev=run,mount_tag=run",
            *(["-plugin", ",".join(counter)] if counter else [])],
            stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT, check=False, timeout=timeout)
    if found.returncode or not (folder / "status").exists():
        last = (folder / "console").read_text(errors="replace").strip().splitlines()[-3:]
        raise MeterError(f"the guest ended before its command did: {' / '.join(last)}")


def symbols(kernel: Path, initrd: Path, folder: Path) -> Path:
    """The kernel's, kept: they are read in a boot of their own, in which nothing is counted."""
    kept = paths.cache() / "meter" / f"{kernel.parent.name}.symbols"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        (folder / "command").write_text("exit 0\n", encoding="ascii")
        boot(Machine(sockets=1, pmem=0), folder, [], kernel, initrd, 300)
        new = kept.with_suffix(f".{os.getpid()}")
        new.write_bytes((folder / "symbols").read_bytes())
        os.rename(new, kept)
    return kept


def run(machine: Machine, command: Sequence[str], folder: Path, plugins: Path, variables: dict[str, str] | None = None, marks: bool = False,
        timeout: float = 3600) -> Result:
    """The folder is the command's; the meter keeps its own files there, too. Without marks the command is one region of interest."""
    kernel, initrd = files(folder)
    where = functions(symbols(kernel, initrd, folder))
    write_command(folder, command, {"PATH": os.environ["PATH"], **(variables or {})}, marks, plugin(plugins, "region"))
    counter = [str(plugin(plugins, "guest.so")), f"out={folder}/traffic", f"sockets={machine.sockets}", f"cache={machine.cache}",
              *(f"node={node}:{start:x}:{size:x}" for node, start, size in machine.ranges()), *where]
    if machine.near:
        counter.append(f"near={machine.near}")
    boot(machine, folder, counter, kernel, initrd, timeout)
    return Result(int((folder / "status").read_text()), (folder / "stdout").read_text(errors="replace"),
                  (folder / "stderr").read_text(errors="replace"), [json.loads(line) for line in (folder / "traffic").read_text().splitlines()])
