"""Real ipmctl over the shim: what it shows of a node, and goals from create to the next boot."""
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import goals
import pytest
from conftest import TOP, Ipmctl
from machine import Node, Topology, fakeroot, mailbox
from machine.image import Image

SOURCE = TOP / "tests/machine/shim/pmshim.c"
SHAPES = {"twin": Topology(), "twelve": Topology.twelve_dimms()}


@pytest.fixture(params=SHAPES, ids=list(SHAPES))
def machine(request, shim, tmp_path):
    """(node, ipmctl) of a 4-DIMM and of a 12-DIMM machine."""
    node = Node(tmp_path / "node", SHAPES[request.param])
    node.power_on()
    return node, Ipmctl(node.directory)


@pytest.fixture
def small(shim, node):
    return node, Ipmctl(node.directory)


def resources(ipmctl) -> dict[str, dict[str, int]]:
    """-memoryresources in bytes: by memory type, DDR and PMem."""
    text = ipmctl.out("show", "-u", "B", "-memoryresources")
    rows = (line.split("|") for line in text.splitlines() if " B" in line)
    number = re.compile(r"\d+")
    return {row[0].strip(): {name: int(found[0]) if (found := number.findall(cell)) else 0
                             for name, cell in zip(("ddr", "pmem"), row[1:])} for row in rows}


def set_ids(ipmctl) -> list[int]:
    return [int(v, 16) for v in re.findall(r"<ISetID>(0x\w+)</ISetID>",
                                           ipmctl.out("show", "-o", "nvmxml", "-region"))]


def pending(ipmctl) -> int:
    """How many DIMMs have a pending goal."""
    return len(re.findall(r"<ConfigGoal>", ipmctl.out("show", "-o", "nvmxml", "-goal")))


def configuration(ipmctl) -> set[str]:
    text = ipmctl.out("show", "-d", "ConfigurationStatus", "-dimm")
    return set(re.findall(r"ConfigurationStatus=(.*)", text))


def test_constants_are_those_of_the_mailbox():
    """The shim is C and repeats the layout: it must be the one of mailbox.py."""
    defined = dict(re.findall(r"^#define (\w+)\s+(0x[0-9A-F]+|\d+)$", SOURCE.read_text(), re.M))
    defined.pop("MAX_DIMMS")
    defined.pop("FIS_DEVICE_ERROR")
    assert len(defined) > 10
    assert {k: int(v, 0) for k, v in defined.items()} == {k: getattr(mailbox, k) for k in defined}


def test_topology(machine):
    node, ipmctl = machine
    text = ipmctl.out("show", "-topology")
    found = re.findall(r"^ (0x\w+|N/A) +\| (\S+)", text, re.MULTILINE)
    dimms = node.topology.dimms
    assert [name for name, kind in found if kind == "Logical"] == [d.name for d in dimms]
    assert sum(kind == "DDR4" for _, kind in found) == len(dimms)


def test_dimms_are_healthy(machine):
    node, ipmctl = machine
    text = ipmctl.out("show", "-dimm")
    assert len(re.findall(r"Disabled +\| Healthy", text)) == len(node.topology.dimms)
    assert "Unmanageable" not in text and "Unknown" not in text


def test_capabilities(small):
    text = small[1].out("show", "-system", "-capabilities")
    assert "AllowedVolatileMode=1LM or 2LM" in text and "CurrentVolatileMode=1LM" in text
    assert "PlatformConfigSupported=1" in text and "Alignment=1.000 GiB" in text


def test_from_factory_to_memory_mode_and_back(machine):
    """The whole way: every goal is made by ipmctl and seen by ipmctl after the next boot."""
    node, ipmctl = machine
    topology, count = node.topology, len(node.topology.dimms)
    dram, usable = topology.sockets * topology.dram_per_socket, count * topology.pmem_per_dimm

    assert resources(ipmctl)["Volatile"] == {"ddr": dram, "pmem": 0}
    assert "reboot is required" in ipmctl.out("create", "-f", "-goal", "MemoryMode=100")
    assert pending(ipmctl) == count
    assert resources(ipmctl)["Volatile"] == {"ddr": dram, "pmem": 0}, "nothing before the reboot"
    node.power_on()
    assert pending(ipmctl) == 0 and configuration(ipmctl) == {"Valid"}
    found = resources(ipmctl)
    assert found["Volatile"] == {"ddr": 0, "pmem": usable}
    assert found["Cache"]["ddr"] == dram and found["AppDirect"]["pmem"] == 0
    assert "CurrentVolatileMode=2LM" in ipmctl.out("show", "-system", "-capabilities")

    ipmctl.out("create", "-f", "-goal", "PersistentMemoryType=AppDirect")
    node.power_on()
    found = resources(ipmctl)
    assert found["Volatile"] == {"ddr": dram, "pmem": 0}
    assert found["AppDirect"]["pmem"] == usable and configuration(ipmctl) == {"Valid"}
    assert set_ids(ipmctl) == [fakeroot.set_cookie(topology, r) for r in node.state.regions]
    assert len(set(set_ids(ipmctl))) == topology.sockets


def test_not_interleaved(machine):
    node, ipmctl = machine
    ipmctl.out("create", "-f", "-goal", "PersistentMemoryType=AppDirectNotInterleaved")
    node.power_on()
    assert len(node.state.regions) == len(node.topology.dimms)
    assert set_ids(ipmctl) == [fakeroot.set_cookie(node.topology, r) for r in node.state.regions]


def test_mixed(shim, tmp_path):
    """Percentages with reserve: a quarter volatile, half App Direct, a quarter unused."""
    node = Node(tmp_path / "node", SHAPES["twelve"])
    node.power_on()
    ipmctl, gib = Ipmctl(node.directory), 1 << 30
    ipmctl.out("create", "-f", "-goal", "MemoryMode=25", "Reserved=25")
    post = node.power_on()
    assert (post.mode, post.rejected) == ("mixed mode", [])
    found = resources(ipmctl)
    assert found["Volatile"]["pmem"] == 12 * 31 * gib
    assert found["AppDirect"]["pmem"] == 12 * 63 * gib


@pytest.mark.parametrize("words, mode, volatile, appdirect, regions", [
    (("MemoryMode=70", "Reserved=30"), "memory mode", 88, 0, 0),
    (("PersistentMemoryType=AppDirect", "Reserved=30"), "app direct", 0, 88, 2),
    (("PersistentMemoryType=AppDirectNotInterleaved", "Reserved=30"), "app direct", 0, 88, 12),
    (("MemoryMode=75", "PersistentMemoryType=AppDirect"), "mixed mode", 94, 32, 2),
    (("MemoryMode=40", "PersistentMemoryType=AppDirectNotInterleaved", "Reserved=30"),
     "mixed mode", 50, 38, 12)])
def test_shares(shim, tmp_path, words, mode, volatile, appdirect, regions):
    """GiB of each module: as ipmctl shows them, and as a kernel on the node would."""
    node = Node(tmp_path / "node", SHAPES["twelve"])
    node.power_on()
    ipmctl, gib = Ipmctl(node.directory), 1 << 30
    ipmctl.out("create", "-f", "-goal", *words)
    post = node.power_on()
    fakeroot.write(node.directory / "root", node.topology, node.state)
    found = resources(ipmctl)
    assert (post.mode, post.rejected) == (mode, []) and configuration(ipmctl) == {"Valid"}
    assert found["Volatile"]["pmem"] == 12 * volatile * gib
    assert found["AppDirect"]["pmem"] == 12 * appdirect * gib
    assert set(of_dimms(ipmctl, "MemoryCapacity").values()) == {f"{volatile}.000 GiB"}
    assert set(of_dimms(ipmctl, "AppDirectCapacity").values()) == {f"{appdirect}.000 GiB"}
    sizes = [int(path.read_text()) for path in
             (node.directory / "root/sys/bus/nd/devices").glob("region*/size")]
    assert len(sizes) == regions and sum(sizes) == 12 * appdirect * gib
    total = re.search(r"MemTotal: +(\d+) kB", (node.directory / "root/proc/meminfo").read_text())
    seen = 12 * volatile * gib or node.topology.sockets * node.topology.dram_per_socket
    assert int(total[1]) << 10 == seen - seen // fakeroot.KERNEL_SHARE


def test_goal_can_be_deleted(small):
    node, ipmctl = small
    ipmctl.out("create", "-f", "-goal", "MemoryMode=100")
    ipmctl.out("delete", "-goal")
    assert pending(ipmctl) == 0
    assert node.power_on().goals == []


def test_second_goal_is_refused_while_one_is_pending(small):
    _, ipmctl = small
    ipmctl.out("create", "-f", "-goal", "MemoryMode=100")
    again = ipmctl("create", "-f", "-goal", "PersistentMemoryType=AppDirect")
    assert again.returncode == 1 and "Error 115" in again.stdout


def test_rejected_goal_as_ipmctl_shows_it(small):
    node, ipmctl = small
    ipmctl.out("create", "-f", "-goal", "MemoryMode=100")
    node.power_on("goal-rejected")
    assert pending(ipmctl) == 0, "ipmctl hides a refused goal"
    assert configuration(ipmctl) == {"Failed - Reverted"}
    text = ipmctl.out("show", "-dimm", "-pcd", "Config")
    assert re.findall(r"ValidationStatus +: (\w+)", text) == ["0x2"] * 4
    ipmctl.out("create", "-f", "-goal", "MemoryMode=100")
    assert node.power_on().mode == "memory mode"


def test_ignored_goal_as_ipmctl_shows_it(small):
    node, ipmctl = small
    ipmctl.out("create", "-f", "-goal", "MemoryMode=100")
    node.power_on("goal-ignored")
    assert pending(ipmctl) == 4
    assert resources(ipmctl)["Volatile"]["pmem"] == 0


def test_1lm_only_platform(shim, tmp_path):
    """Without -f ipmctl refuses the goal; with it, it takes it, and POST refuses it."""
    node = Node(tmp_path / "node", Topology(allows_memory_mode=False))
    node.power_on()
    ipmctl = Ipmctl(node.directory)
    asked = ipmctl("create", "-goal", "MemoryMode=100")
    assert asked.returncode == 1 and "Error 113" in asked.stdout
    ipmctl.out("create", "-f", "-goal", "MemoryMode=100")
    assert len(node.power_on().rejected) == 4


def test_create_goal_makes_new_label_indexes(small):
    """What was in the label area is no longer referred to, before any reboot."""
    node, ipmctl = small
    dimm = node.topology.dimms[-1]
    with Image(node.image_path, node.topology) as image:
        image.write(dimm.mailbox + mailbox.LABELS, b"old index")
    ipmctl.out("create", "-f", "-goal", "PersistentMemoryType=AppDirect")
    with Image(node.image_path, node.topology) as image:
        assert image.read(dimm.mailbox + mailbox.LABELS, 15) == b"NAMESPACE_INDEX"


def test_provisioned_labels_are_those_of_ipmctl(shim, tmp_path):
    """Byte for byte; without them the kernel would make no namespaces."""
    areas = []
    for name in ("by-goal", "by-factory"):
        node = Node(tmp_path / name, Topology())
        if name == "by-factory":
            node.provision("appdirect")
        node.power_on()
        if name == "by-goal":
            Ipmctl(node.directory).out("create", "-f", "-goal")
        with Image(node.image_path, node.topology) as image:
            areas.append([image.read(d.mailbox + mailbox.LABELS, mailbox.PCD_SIZE)
                          for d in node.topology.dimms])
    assert areas[0] == areas[1]


def test_provisioned_node_as_ipmctl_shows_it(shim, tmp_path):
    """Delivered in App Direct is the same as brought there by a goal."""
    node = Node(tmp_path / "node", Topology())
    node.provision("appdirect")
    node.power_on()
    ipmctl = Ipmctl(node.directory)
    shown = [ipmctl.out("show", "-o", "nvmxml", "-region"), configuration(ipmctl),
             resources(ipmctl)]
    assert pending(ipmctl) == 0
    ipmctl.out("create", "-f", "-goal")
    node.power_on()
    assert shown == [ipmctl.out("show", "-o", "nvmxml", "-region"), configuration(ipmctl),
                     resources(ipmctl)]


def test_sensors(small):
    text = small[1].out("show", "-sensor", "MediaTemperature")
    assert len(re.findall(r"MediaTemperature +\| 38C", text)) == 4, text


def test_a_command_that_fails_in_the_dimm(small):
    """A status byte in the mailbox becomes an error that ipmctl shows."""
    node, ipmctl = small
    with Image(node.image_path, node.topology) as image:
        for dimm in node.topology.dimms:
            slot = mailbox.slot(0x08, 0x00)
            image.write(dimm.mailbox + mailbox.STATUS + slot, bytes([mailbox.FIS_UNSUPPORTED]))
    done = ipmctl("show", "-sensor", "MediaTemperature")
    assert "38C" not in done.stdout and "Failed to read the sensors" in done.stdout


def test_nodes_do_not_meet(shim, tmp_path):
    """Several nodes in several directories, used at once, each stay themselves."""
    nodes = [Node(tmp_path / f"n{i}", Topology()) for i in range(4)]
    wanted = ["MemoryMode=100", "PersistentMemoryType=AppDirect"] * 2
    for node in nodes:
        node.power_on()

    def switch(pair):
        node, goal = pair
        ipmctl = Ipmctl(node.directory)
        ipmctl.out("create", "-f", "-goal", goal)
        node.power_on()
        return resources(ipmctl)["AppDirect"]["pmem"] > 0

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(switch, zip(nodes, wanted))) == [False, True] * 2
    assert [n.mode for n in nodes] == ["memory mode", "app direct"] * 2


def test_settings_are_the_nodes_own(small):
    """ipmctl writes its settings at the end of each run: on the node, not on the host."""
    node, ipmctl = small
    ipmctl.out("show", "-goal")
    settings = node.directory / "ipmctl-ipmctl.conf"
    assert "APPDIRECT_SETTINGS" in settings.read_text()


def test_without_a_node_there_are_no_dimms(shim):
    ipmctl = Ipmctl("")
    del ipmctl.env["PMSHIM_NODE"]
    done = ipmctl("show", "-dimm")
    assert done.returncode != 0 and "No PMem modules" in done.stdout


@pytest.mark.parametrize("name, text", [
    ("mailboxes", ""), ("mailboxes", "rubbish\n"), ("mailboxes", "0x0001 0x50000000\n" * 200),
    ("mailboxes", None), ("memory.img", None), ("acpi/NFIT", None), ("acpi/PCAT", "short")])
def test_a_broken_node_is_an_error(small, name, text):
    node, ipmctl = small
    path = node.directory / name
    path.unlink()
    if text is not None:
        path.write_text(text)
    done = ipmctl("show", "-dimm")
    assert done.returncode >= 0, f"ipmctl crashed: {done}"
    assert "Healthy" not in done.stdout


def test_a_path_that_is_too_long_is_an_error(shim):
    done = Ipmctl("/" + "x" * 5000)("show", "-dimm")
    assert done.returncode > 0


# --- the command line ----------------------------------------------------------------------------
def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-B", "-m", "machine", *words], cwd=TOP / "twin",
                          capture_output=True, text=True, timeout=60)


def root(directory: Path, path: str) -> str:
    return (directory / "root" / path).read_text().strip()


def test_command_line(shim, tmp_path):
    directory = tmp_path / "n"
    done = run("init", str(directory), "--mode", "appdirect")
    assert done.returncode == 0 and "platform mode: app direct" in done.stdout
    boot = root(directory, "proc/sys/kernel/random/boot_id")
    total = int(re.search(r"MemTotal: +(\d+) kB", root(directory, "proc/meminfo"))[1])
    assert root(directory, "sys/bus/nd/devices/region1/numa_node") == "1"
    assert int(root(directory, "sys/bus/nd/devices/region0/size")) == 4 << 30
    ids = [int(root(directory, f"sys/bus/nd/devices/region{i}/set_cookie"), 16) for i in (0, 1)]
    ipmctl = Ipmctl(directory)
    assert ids == set_ids(ipmctl)
    side_cache = directory / "root/sys/devices/system/node/node0/memory_side_cache/index1/size"
    assert not side_cache.exists()

    ipmctl.out("create", "-f", "-goal", "MemoryMode=100")
    done = run("reboot", str(directory))
    assert done.returncode == 0 and "platform mode: memory mode" in done.stdout
    assert root(directory, "proc/sys/kernel/random/boot_id") != boot
    grown = int(re.search(r"MemTotal: +(\d+) kB", root(directory, "proc/meminfo"))[1])
    assert grown == 4 * total
    assert side_cache.read_text() == f"{1 << 30}\n"
    assert not list((directory / "root/sys/bus/nd/devices").iterdir())
    assert "memory mode" in run("show", str(directory)).stdout


def test_command_line_faults(tmp_path):
    directory = tmp_path / "n"
    assert run("init", str(directory)).returncode == 0
    boot = root(directory, "proc/sys/kernel/random/boot_id")
    goals.stage(Node(directory), goals.memory(Node(directory)))
    done = run("reboot", str(directory), "--fault", "boot-hang")
    assert done.returncode == 1 and "hangs" in done.stderr
    assert root(directory, "proc/sys/kernel/random/boot_id") == boot, "there was no boot"
    done = run("reboot", str(directory), "--fault", "goal-rejected")
    assert done.returncode == 0 and "goal refused" in done.stdout
    assert root(directory, "proc/sys/kernel/random/boot_id") != boot
    for name in Node.faults():
        assert name in run("faults").stdout


@pytest.mark.parametrize("words, code, message", [
    ((), 2, "usage"), (("init",), 2, "DIR"), (("reboot", "/nowhere"), 1, "there is no node here"),
    (("reboot", "x", "--fault", "no-such"), 2, "no-such"), (("fly",), 2, "fly")])
def test_command_line_mistakes(words, code, message):
    done = run(*words)
    assert done.returncode == code and message in done.stderr
    assert "Traceback" not in done.stderr


def test_init_twice(tmp_path):
    assert run("init", str(tmp_path / "n")).returncode == 0
    done = run("init", str(tmp_path / "n"))
    assert done.returncode == 1 and "there is a node already" in done.stderr


def test_fake_root_twelve(tmp_path):
    done = run("init", str(tmp_path / "n"), "--shape", "twelve", "--mode", "memory")
    assert done.returncode == 0, done.stderr
    assert root(tmp_path / "n", "sys/devices/system/node/node1/cpulist") == "4-7"
    kib = int(re.search(r"(\d+) kB", root(tmp_path / "n", "proc/meminfo"))[1])
    assert 1400 << 20 < kib < 1512 << 20


# --- the shim alone ------------------------------------------------------------------------------
PROBE = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
for name in ("ndctl_bus_get_first", "ndctl_dimm_get_by_handle",
             "ndctl_dimm_cmd_new_vendor_specific"):
    getattr(lib, name).restype = ctypes.c_void_p
pointer, size = ctypes.c_void_p, ctypes.c_size_t
ctx = pointer()
assert lib.ndctl_new(ctypes.byref(ctx)) == 0
bus = pointer(lib.ndctl_bus_get_first(ctx))
dimm = pointer(lib.ndctl_dimm_get_by_handle(bus, 1))
assert lib.ndctl_dimm_get_by_handle(bus, 2) is None
new = lib.ndctl_dimm_cmd_new_vendor_specific
assert new(dimm, 0x106, size(129), size(128)) is None
assert new(dimm, 0x106, size(128), size(4096)) is None
for word in sys.argv[2:]:
    opcode, partition, offset = (int(v, 0) for v in word.split(","))
    cmd = pointer(new(dimm, opcode, size(128), size(128)))
    data = bytes((partition, 1)) + offset.to_bytes(4, "little") + bytes(122)
    assert lib.ndctl_cmd_vendor_set_input(cmd, data, 129) < 0
    assert lib.ndctl_cmd_vendor_set_input(cmd, data, 128) == 128
    assert lib.ndctl_cmd_submit(cmd) == 0
    print(hex(lib.ndctl_cmd_get_firmware_status(cmd)))
    lib.ndctl_cmd_unref(cmd)
lib.ndctl_unref(ctx)
"""


def test_bounds_of_configuration_data(shim, node):
    """The same limits as in the guest: see test_dsm.py.  Opcodes: sub-opcode 1 of 6 and of 7."""
    good = ["0x106,1,0", "0x106,2,0x1ff80", "0x107,2,0x1ffc0"]
    bad = ["0x106,0,0", "0x106,3,0", "0x107,255,0", "0x106,1,0x1ff81", "0x106,2,0x20000",
           "0x107,1,0x1ffc1", "0x106,1,0xffffffff", "0x107,2,0xfffffff0"]
    before = [goals.stored(node, d) for d in node.topology.dimms]
    done = subprocess.run([sys.executable, "-c", PROBE, str(shim), *good, *bad],
                          env={"PMSHIM_NODE": str(node.directory)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0x0"] * len(good) + ["0x10007"] * len(bad)
    assert [goals.stored(node, d) for d in node.topology.dimms] == before


def of_dimms(ipmctl, attribute: str) -> dict[str, str]:
    text = ipmctl.out("show", "-d", attribute, "-dimm")
    return dict(re.findall(rf"DimmID=(0x\w+)---\s+{attribute}=(.*)", text))


def test_a_locked_dimm_refuses_goals(small):
    node, ipmctl = small
    last = node.topology.dimms[-1].name
    node.power_on("dimm-locked")
    locks = of_dimms(ipmctl, "LockState")
    assert locks.pop(last) == "Locked" and set(locks.values()) == {"Disabled"}
    assert "Error 36" in ipmctl("create", "-f", "-goal").stdout
    node.power_on()
    assert set(of_dimms(ipmctl, "LockState").values()) == {"Disabled"}


def test_an_unhealthy_dimm_says_so(small):
    node, ipmctl = small
    node.power_on("dimm-unhealthy")
    assert of_dimms(ipmctl, "HealthState")[node.topology.dimms[-1].name] == "Noncritical failure"


def test_a_missing_dimm_takes_its_region_along(shim, tmp_path):
    node = Node(tmp_path / "node", Topology())
    node.provision("appdirect")
    node.power_on()
    ipmctl = Ipmctl(node.directory)
    names = [d.name for d in node.topology.dimms]
    assert len(set_ids(ipmctl)) == 2
    node.power_on("dimm-missing")
    assert list(of_dimms(ipmctl, "HealthState")) == names[:-1]
    assert of_dimms(ipmctl, "ConfigurationStatus")[names[-2]] == "Failed - Broken interleave"
    assert len(set_ids(ipmctl)) == 1
    again = Node(node.directory)
    assert [d.name for d in again.topology.dimms] == names[:-1]
    again.power_on()
    assert list(of_dimms(ipmctl, "HealthState")) == names
    assert len(set_ids(ipmctl)) == 1
