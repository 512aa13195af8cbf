"""Power-on self-test: goals are answered, faults do what they say, power may go at any moment."""
import json
import os

import goals
import pytest
from machine import FAULTS, GIB, NoBoot, Node, NodeError, Topology, image, mailbox
from machine import node as node_module
from machine import state as state_module
from machine.image import Image
from machine.state import BAD_CHECKSUM, CONFIGURED, NOT_CONFIGURED, REVERTED

OK, INVALID = 1, 2


def states(node) -> list[tuple[int, int | None]]:
    """(CCUR status, COUT validation) of each DIMM, as they lie in the DIMMs."""
    return [(goals.status(node, d), goals.validation(node, d)) for d in node.topology.dimms]


def configured(tmp_path, stage=goals.app_direct) -> Node:
    node = Node(tmp_path / "configured", Topology())
    node.power_on()
    goals.stage(node, stage(node))
    node.power_on()
    return node


def test_factory(node):
    assert states(node) == [(NOT_CONFIGURED, None)] * 4
    assert node.mode == "pmem not configured"


def test_goal_is_applied_and_answered(node):
    goals.stage(node, goals.memory(node))
    post = node.power_on()
    names = ["0x0001", "0x0101", "0x1001", "0x1101"]
    assert (post.goals, post.applied, post.rejected) == (names, names, [])
    assert post.mode == node.mode == "memory mode"
    assert states(node) == [(CONFIGURED, OK)] * 4
    assert any("4 GiB of memory" in line for line in post.lines)


def test_answered_goal_is_not_applied_again(node):
    goals.stage(node, goals.memory(node))
    node.power_on()
    before = [goals.stored(node, d) for d in node.topology.dimms]
    assert node.power_on().goals == []
    assert [goals.stored(node, d) for d in node.topology.dimms] == before


def test_state_survives(node):
    goals.stage(node, goals.app_direct(node))
    node.power_on()
    again = Node(node.directory)
    assert again.topology == node.topology
    assert again.state == node.state
    assert (again.qemu_args(), again.kernel_args()) == (node.qemu_args(), node.kernel_args())
    assert again.power_on().mode == "app direct"


def test_labels_and_media_survive(tmp_path):
    node = configured(tmp_path)
    dimm = node.topology.dimms[0]
    media = node.topology.window(0).base + 12345
    with Image(node.image_path, node.topology) as img:
        img.write(dimm.mailbox + mailbox.LABELS, b"label")
        img.write(media, b"hello")
        img.write(4096, b"in dram")
    node.power_on()
    with Image(node.image_path, node.topology) as img:
        assert img.read(dimm.mailbox + mailbox.LABELS, 5) == b"label"
        assert img.read(media, 5) == b"hello"
        assert img.read(4096, 7) == bytes(7), "DRAM forgets"


def test_main_memory_is_not_readable_in_a_later_region(tmp_path):
    node = configured(tmp_path, goals.memory)
    secret = node.topology.window(1).base + GIB
    with Image(node.image_path, node.topology) as img:
        img.write(secret, b"secret")
    goals.stage(node, goals.app_direct(node))
    node.power_on()
    with Image(node.image_path, node.topology) as img:
        assert img.read(secret, 6) == bytes(6)


# --- goals that are not applied ------------------------------------------------------------------
def test_a_bad_goal_keeps_the_old_configuration(tmp_path):
    """DRAM beyond the volatile memory: refused by the rules, not by a fault."""
    node = Node(tmp_path / "n", Topology(dram_per_socket=6 * GIB))
    node.power_on()
    goals.stage(node, goals.app_direct(node))
    node.power_on()
    goals.stage(node, goals.memory(node))
    post = node.power_on()
    assert len(post.rejected) == 4 and post.mode == "app direct"
    assert states(node) == [(REVERTED, 6)] * 4


def test_one_bad_goal_refuses_its_socket_only(node):
    asked = goals.app_direct(node)
    first = node.topology.dimms[0]
    asked[first] = goals.cin(goals.RAW + 4096)
    goals.stage(node, asked)
    post = node.power_on()
    assert post.rejected == ["0x0001", "0x0101"] and post.applied == ["0x1001", "0x1101"]
    assert [s for s, _ in states(node)] == [REVERTED, REVERTED, CONFIGURED, CONFIGURED]
    assert [r.socket for r in node.state.regions] == [1]


def test_unreadable_goal(node):
    asked = goals.memory(node)
    first = node.topology.dimms[0]
    asked[first] = asked[first][:-1] + b"\xff"
    for dimm in node.topology.dimms_of(1):
        del asked[dimm]
    del asked[node.topology.dimms[1]]
    goals.stage(node, asked)
    post = node.power_on()
    assert post.goals == post.rejected == [first.name]
    assert states(node)[0] == (BAD_CHECKSUM, None)
    assert "unreadable" in post.lines[0]


def test_memory_mode_on_one_socket_hangs_and_changes_nothing(tmp_path):
    node = configured(tmp_path)
    asked = {d: g for d, g in goals.memory(node).items() if d.socket == 0}
    goals.stage(node, asked)
    before = (node.directory / "node.json").read_bytes()
    with pytest.raises(NoBoot, match="socket 0 only"):
        node.power_on()
    assert (node.directory / "node.json").read_bytes() == before
    assert node.power_on("goal-ignored").mode == "app direct"


def test_configuration_data_that_was_wiped_comes_back(tmp_path):
    """ipmctl's delete -pcd takes the pointers away; the firmware has its own copy."""
    node = configured(tmp_path)
    dimm = node.topology.dimms[0]
    whole = goals.stored(node, dimm)["ccur"]
    with Image(node.image_path, node.topology) as img:
        img.write(dimm.mailbox, bytes(mailbox.PCD_SIZE))
    node.power_on()
    assert goals.stored(node, dimm)["ccur"] == whole


# --- faults --------------------------------------------------------------------------------------
def test_every_fault_has_a_line(node):
    assert set(node.faults()) == set(FAULTS) >= {"goal-rejected", "goal-ignored", "boot-hang"}
    assert all(text and "\n" not in text for text in node.faults().values())


def test_goal_rejected(tmp_path):
    node = configured(tmp_path)
    goals.stage(node, goals.memory(node))
    post = node.power_on("goal-rejected")
    assert (len(post.rejected), post.applied, post.mode) == (4, [], "app direct")
    assert states(node) == [(REVERTED, INVALID)] * 4
    assert node.power_on().goals == [], "a refused goal is answered: it is not tried again"
    goals.stage(node, goals.memory(node))
    assert node.power_on().mode == "memory mode"


def test_goal_ignored(tmp_path):
    node = configured(tmp_path)
    goals.stage(node, goals.memory(node))
    post = node.power_on("goal-ignored")
    assert (len(post.goals), post.applied, post.rejected) == (4, [], [])
    assert states(node) == [(CONFIGURED, None)] * 4
    assert node.power_on().mode == "memory mode", "the goal stayed pending"


def test_goal_needs_power_cycle(tmp_path):
    node = configured(tmp_path)
    goals.stage(node, goals.memory(node))
    assert node.power_on("goal-needs-power-cycle").mode == "app direct"
    assert node.power_on("goal-needs-power-cycle", cold=True).mode == "memory mode"


def test_goal_socket0_only(node):
    goals.stage(node, goals.app_direct(node))
    post = node.power_on("goal-socket0-only")
    assert post.applied == ["0x0001", "0x0101"] and post.rejected == []
    assert states(node) == [(CONFIGURED, OK)] * 2 + [(NOT_CONFIGURED, None)] * 2


def test_goal_split(node):
    goals.stage(node, goals.app_direct(node))
    post = node.power_on("goal-split")
    assert post.applied == ["0x0001", "0x0101"] and post.rejected == ["0x1001", "0x1101"]
    assert states(node) == [(CONFIGURED, OK)] * 2 + [(REVERTED, INVALID)] * 2


@pytest.mark.parametrize("fault", ["goal-socket0-only", "goal-split"])
def test_half_a_memory_mode_does_not_boot(tmp_path, fault):
    node = configured(tmp_path)
    goals.stage(node, goals.memory(node))
    with pytest.raises(NoBoot):
        node.power_on(fault)
    assert Node(node.directory).mode == "app direct"


def test_boot_hang(tmp_path):
    node = configured(tmp_path)
    goals.stage(node, goals.memory(node))
    with pytest.raises(NoBoot, match="boot-hang"):
        node.power_on("boot-hang")
    assert states(node) == [(CONFIGURED, None)] * 4
    assert node.power_on().mode == "memory mode"


def test_unknown_fault(node):
    with pytest.raises(NodeError, match="goal-rejected"):
        node.power_on("goal-lost")


# --- power loss ----------------------------------------------------------------------------------
class PowerLost(BaseException):
    """Nothing may catch it."""


class Fuse:
    """Lets so many writes through and then cuts the power."""

    def __init__(self, monkeypatch, writes: int):
        self.left = writes
        for module, name in ((image.Image, "write"), (image.Image, "clear"),
                             (state_module, "write_atomic"), (node_module, "write_atomic")):
            monkeypatch.setattr(module, name, self.guard(getattr(module, name)))

    def guard(self, function):
        def guarded(*args, **kwargs):
            if self.left == 0:
                raise PowerLost
            self.left -= 1
            return function(*args, **kwargs)
        return guarded


def snapshot(node) -> dict:
    """Everything that a boot sees, and the state apart from the count of power-ons."""
    files = {str(p.relative_to(node.directory)): p.read_bytes()
             for p in sorted(node.directory.rglob("*"))
             if p.is_file() and p.name not in ("node.json", "memory.img")
             and not p.name.startswith(".")}
    with Image(node.image_path, node.topology) as img:
        boxes = {d.name: img.read(d.mailbox, 1 << 20) for d in node.topology.dimms}
    state = json.loads((node.directory / "node.json").read_text())["state"]
    state.pop("power_ons")
    return {"files": files, "boxes": boxes, "state": state}


def interrupted(tmp_path, monkeypatch, writes: int, fault) -> tuple[Node, bool]:
    """A node in App Direct that lost power in its POST for Memory Mode, after so many writes."""
    node = configured(tmp_path / str(writes))
    goals.stage(node, goals.memory(node))
    with monkeypatch.context() as patch:
        Fuse(patch, writes)
        try:
            node.power_on(fault)
            return node, True
        except PowerLost:
            return Node(node.directory), False


def expected(tmp_path, *faults) -> dict:
    node = configured(tmp_path / "-".join(str(f) for f in faults))
    goals.stage(node, goals.memory(node))
    for fault in faults:
        node.power_on(fault)
    return snapshot(node)


@pytest.mark.parametrize("fault", [None, "goal-rejected"])
def test_power_may_go_between_any_two_writes(tmp_path, monkeypatch, fault):
    """The next power-on, without a fault, always ends in one of the two consistent outcomes: as if
    the interrupted one had never begun, or as if it had come to its end."""
    never_begun = expected(tmp_path, None)
    ended = expected(tmp_path, fault, None)
    outcomes, writes = [], 0
    while True:
        node, complete = interrupted(tmp_path, monkeypatch, writes, fault)
        node.power_on()
        now = snapshot(node)
        assert now in (never_begun, ended), f"inconsistent after {writes} writes"
        outcomes.append(now == ended)
        if complete:
            break
        writes += 1
    assert writes > 30 and outcomes[-1]
    if fault:
        assert outcomes == sorted(outcomes), "once decided, the decision stands"
        assert not outcomes[0]


def test_a_file_is_replaced_whole(tmp_path, monkeypatch):
    """Power lost while a file is written leaves the old one; a durable one is on disk before."""
    path, order = tmp_path / "file", []
    state_module.write_atomic(path, b"old")

    def lose_power(*_args):
        order.append("replace")
        raise PowerLost

    monkeypatch.setattr(os, "fsync", lambda fd: order.append("sync"))
    monkeypatch.setattr(os, "replace", lose_power)
    with pytest.raises(PowerLost):
        state_module.write_atomic(path, b"new and longer", durable=True)
    assert path.read_bytes() == b"old" and order == ["sync", "replace"]


def test_an_interrupted_power_on_is_told(tmp_path, monkeypatch):
    node, _ = interrupted(tmp_path, monkeypatch, 5, None)
    assert "power was lost" in node.power_on().lines[0]


# --- the directory -------------------------------------------------------------------------------
def test_no_node_here(tmp_path):
    with pytest.raises(NodeError, match="there is no node here"):
        Node(tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_same_topology_again(node):
    node.power_on()
    assert Node(node.directory, node.topology).topology == node.topology


def test_another_topology(node):
    with pytest.raises(NodeError, match="another topology"):
        Node(node.directory, Topology(sockets=1, dram_per_socket=2 * GIB))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": {}}', '{"topology": {"legs": 4}}'])
def test_garbage_in_node_json(node, text):
    (node.directory / "node.json").write_text(text)
    with pytest.raises(NodeError, match="node.json"):
        Node(node.directory)
    assert (node.directory / "node.json").read_text() == text


@pytest.mark.parametrize("mode, name, regions", [("appdirect", "app direct", 2),
                                                 ("memory", "memory mode", 0)])
def test_provision(tmp_path, mode, name, regions):
    node = Node(tmp_path / "n", Topology())
    node.provision(mode)
    assert node.power_on(cold=True).mode == name
    assert len(node.state.regions) == regions
    assert states(node) == [(CONFIGURED, None)] * 4
    with pytest.raises(NodeError, match="in use"):
        node.provision(mode)


def test_provision_unknown_mode(tmp_path):
    with pytest.raises(NodeError, match="no mode 'flat'"):
        Node(tmp_path / "n", Topology()).provision("flat")


def test_image_is_sparse_and_private(node):
    info = os.stat(node.image_path)
    assert info.st_size == node.topology.ram_size
    assert info.st_blocks * 512 < 16 << 20
    assert info.st_mode & 0o077 == 0


def test_file_systems_without_holes(node, monkeypatch):
    """Where the file system cannot punch holes, clearing writes zeros."""
    monkeypatch.setattr(image, "_punch", lambda *args: False)
    area = image.Range(1 << 20, (2 << 20) + 4096)
    with Image(node.image_path, node.topology) as img:
        img.write(area.base, b"x" * area.size)
        img.write(area.end, b"y")
        img.clear(area)
        assert img.read(area.base, area.size) == bytes(area.size)
        assert img.read(area.end, 1) == b"y"
