"""The address map: nothing overlaps, nothing is lost, in every mode of several machines."""
import itertools

import goals
import pytest
from machine import GIB, MIB, Node, Topology, rules

QEMU_TOP_OF_LOW_RAM = 2 * GIB
INITRD_ROOM = 128 * MIB


def assert_disjoint(ranges):
    ordered = sorted(ranges, key=lambda r: r.base)
    for a, b in itertools.pairwise(ordered):
        assert a.end <= b.base, f"{a} overlaps {b}"


@pytest.mark.parametrize("stage", [None, goals.memory, goals.app_direct, goals.mixed])
def test_every_byte_has_one_use(topology, stage, tmp_path):
    """RAM of QEMU = visible memory + App Direct regions + hidden, without overlap, in each mode."""
    node = Node(tmp_path, topology)
    node.power_on()
    if stage:
        goals.stage(node, stage(node))
        post = node.power_on()
        assert len(post.applied) == len(topology.dimms), post.lines
    visible = [r for s in range(topology.sockets)
               for r in rules.visible_memory(topology, node.state, s)]
    regions = [r for _, r in rules.region_ranges(topology, node.state)]
    used = visible + regions + node.hidden()
    assert_disjoint(used)
    assert sum(r.size for r in used) == topology.ram_size
    low, high = topology.ram_ranges
    assert all(low.base <= r.base and r.end <= low.end
               or high.base <= r.base and r.end <= high.end for r in used)


def test_mailboxes_are_hidden_and_clear_of_the_initrd(topology, tmp_path):
    node = Node(tmp_path, topology)
    boxes = [(d.mailbox, d.mailbox + MIB) for d in topology.dimms]
    assert len({b for b, _ in boxes}) == len(topology.dimms)
    for base, end in boxes:
        assert any(h.base <= base and end <= h.end for h in node.hidden())
        assert end <= QEMU_TOP_OF_LOW_RAM - INITRD_ROOM


def test_image_offset_is_one_to_one(topology):
    low, high = topology.ram_ranges
    assert topology.image_offset(low.base) == 0
    assert topology.image_offset(low.end - 1) + 1 == topology.image_offset(high.base)
    assert topology.image_offset(high.end - 1) == topology.ram_size - 1


def test_windows_are_aligned_and_hold_the_dimms(topology):
    windows = [topology.window(s) for s in range(topology.sockets)]
    assert_disjoint(windows + [r for s in range(topology.sockets) for r in topology.dram(s)])
    for window in windows:
        assert window.base % GIB == 0
        assert window.size == topology.dimms_per_socket * topology.pmem_per_dimm


def test_dram_is_complete(topology):
    for socket in range(topology.sockets):
        assert sum(r.size for r in topology.dram(socket)) == topology.dram_per_socket


def test_handles_serials_and_smbios_handles_are_unique(topology):
    for values in ([d.handle for d in topology.dimms], [d.serial for d in topology.dimms],
                   [h for d in topology.dimms for h in (d.pmem_smbios, d.ddr_smbios)]):
        assert len(set(values)) == len(values)


@pytest.mark.parametrize("cpus, ids", [(1, [0, 1]), (2, [0, 1, 2, 3]), (3, [0, 1, 2, 4, 5, 6])])
def test_apic_ids_leave_a_power_of_two_to_each_socket(cpus, ids):
    assert [apic for _, apic in Topology(cpus_per_socket=cpus).cpus()] == ids


@pytest.mark.parametrize("wrong, word", [
    (dict(sockets=0), "sockets"), (dict(cpus_per_socket=0), "CPUs"),
    (dict(dram_per_socket=MIB), "DRAM"), (dict(dram_per_socket=GIB + MIB), "MiB"),
    (dict(pmem_per_dimm=GIB + MIB), "whole GiB"), (dict(channels=9), "channels"),
    (dict(controllers=4, channels=8), "DIMMs"), (dict(pmem_overhead=1), "overhead"),
    (dict(sockets=1, controllers=1, dram_per_socket=512 * MIB, pmem_per_dimm=0), "GiB"),
])
def test_impossible_machines_are_refused(wrong, word):
    with pytest.raises(ValueError, match=word):
        Topology(**wrong)


def test_qemu_and_kernel_agree_on_memory(topology, tmp_path):
    """-m is the image's size, memmap= arguments cover the hidden ranges and the regions."""
    node = Node(tmp_path / "a,b", topology)
    node.power_on()
    goals.stage(node, goals.app_direct(node))
    node.power_on()
    args = node.qemu_args()
    assert args[args.index("-m") + 1] == f"{topology.ram_size // MIB}M"
    assert f"mem-path={tmp_path}/a,,b/memory.img,share=on" in " ".join(args)
    assert node.image_path.stat().st_size == topology.ram_size
    kernel = node.kernel_args()
    assert "nokaslr" in kernel
    hidden = [a for a in kernel if "$" in a]
    pmem = [a for a in kernel if a.endswith("-1+7") and "%" in a]
    assert len(hidden) == len(node.hidden()) and len(pmem) == topology.sockets
    size = topology.dimms_per_socket * topology.pmem_per_dimm
    assert pmem[0] == f"memmap={size // 1024}K%{topology.window(0).base:#x}-1+7"
