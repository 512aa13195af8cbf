"""Stand-in for a kernel: the few files of /proc and /sys that show a node's mode.

On the bench no kernel boots on the node, yet programs that take a root for /proc and /sys must
find there what the kernel of such a node would show.  The files have the kernel's own format; files
that no program has needed so far are missing.
"""
import shutil
import struct
import uuid
from pathlib import Path

from . import pcd, rules
from .labels import fletcher64
from .state import Region, State, write_atomic
from .topology import INTERLEAVE_LINE, KIB, Topology

KERNEL_SHARE = 32           # a kernel keeps about 1/32 of RAM for itself, outside MemTotal
REGION_ALIGN = 16 << 20


def set_cookie(topology: Topology, region: Region) -> int:
    """The interleave set's identity, which is also ipmctl's ISetID.

    Linux, drivers/acpi/nfit/core.c, acpi_nfit_init_interleave_set(), for labels of version 1.2.
    """
    entries = b""
    for position, handle in enumerate(region.members):
        offset = position * INTERLEAVE_LINE if len(region.members) > 1 else 0
        entries += struct.pack("<QIHHB31x", offset, topology.by_handle(handle).serial,
                               pcd.MANUFACTURER, pcd.MADE_WHEN, pcd.MADE_AT)
    return fletcher64(entries)


def _visible(topology: Topology, state: State, socket: int) -> int:
    return sum(r.size for r in rules.visible_memory(topology, state, socket))


def _meminfo(size: int, prefix: str = "") -> str:
    total = (size - size // KERNEL_SHARE) // KIB
    return f"{prefix}MemTotal:       {total:8} kB\n{prefix}MemFree:        {total:8} kB\n"


def _node_files(topology: Topology, state: State, socket: int) -> dict[str, str]:
    node = f"sys/devices/system/node/node{socket}"
    cpus = range(socket * topology.cpus_per_socket, (socket + 1) * topology.cpus_per_socket)
    files = {f"{node}/meminfo": _meminfo(_visible(topology, state, socket), f"Node {socket} "),
             f"{node}/cpulist": f"{cpus[0]}-{cpus[-1]}\n" if len(cpus) > 1 else f"{cpus[0]}\n"}
    if state.two_level:
        cache = f"{node}/memory_side_cache/index1"
        files.update({f"{cache}/size": f"{topology.dram_per_socket}\n",
                      f"{cache}/line_size": "64\n", f"{cache}/indexing": "0\n",
                      f"{cache}/write_policy": "0\n"})
    return files


def _region_files(topology: Topology, number: int, region: Region) -> dict[str, str]:
    path = f"sys/bus/nd/devices/region{number}"
    return {f"{path}/size": f"{region.size}\n", f"{path}/available_size": f"{region.size}\n",
            f"{path}/align": f"{REGION_ALIGN:#x}\n",
            f"{path}/numa_node": f"{region.socket}\n",
            f"{path}/target_node": f"{topology.pmem_domain(region.socket)}\n",
            f"{path}/mappings": f"{len(region.members)}\n", f"{path}/nstype": "4\n",
            f"{path}/devtype": "nd_pmem\n", f"{path}/read_only": "0\n",
            f"{path}/set_cookie": f"{set_cookie(topology, region):#x}\n"}


def files(topology: Topology, state: State, boot_id: str) -> dict[str, str]:
    """Every file, by its path below the root."""
    total = sum(_visible(topology, state, s) for s in range(topology.sockets))
    found = {"proc/sys/kernel/random/boot_id": f"{boot_id}\n", "proc/meminfo": _meminfo(total),
             "sys/devices/system/node/online": f"0-{topology.sockets - 1}\n"}
    for socket in range(topology.sockets):
        found.update(_node_files(topology, state, socket))
    for number, region in enumerate(state.regions):
        found.update(_region_files(topology, number, region))
    return found


def write(root: Path, topology: Topology, state: State) -> None:
    """Replace the root by the root of a new boot; for a moment there is no root."""
    new, old = root.with_name(f".{root.name}.new"), root.with_name(f".{root.name}.old")
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    (new / "sys/bus/nd/devices").mkdir(parents=True)
    for path, text in files(topology, state, str(uuid.uuid4())).items():
        write_atomic(new / path, text.encode())
    if root.exists():
        root.rename(old)
    new.rename(root)
    shutil.rmtree(old, ignore_errors=True)
