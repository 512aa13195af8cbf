"""ACPI and SMBIOS tables: checksums, Intel's own disassembler, and the numbers that matter."""
import re
import shutil
import struct
import subprocess

import goals
import pytest
from machine import GIB, MIB, Node, Topology

SIGNED = ("NFIT", "PCAT", "PMTT", "SRAT", "SLIT", "HMAT", "SSDT")


@pytest.fixture(params=["unconfigured", "memory", "appdirect", "mixed"])
def built(request, topology, tmp_path) -> Node:
    """A node in each mode, on each machine."""
    node = Node(tmp_path / "node", topology)
    node.power_on()
    stage = {"memory": goals.memory, "appdirect": goals.app_direct, "mixed": goals.mixed}
    if request.param in stage:
        goals.stage(node, stage[request.param](node))
        assert not node.power_on().rejected
    return node


def in_mode(tmp_path, stage, topology=None) -> Node:
    node = Node(tmp_path / "node", topology or Topology())
    node.power_on()
    goals.stage(node, stage(node))
    assert not node.power_on().rejected
    return node


def read(node, name: str) -> bytes:
    return (node.directory / name).read_bytes()


def disassemble(node, name: str, tmp_path) -> str:
    """The table as iasl understands it."""
    (tmp_path / f"{name}.aml").write_bytes(read(node, f"acpi/{name}"))
    done = subprocess.run(["iasl", "-d", f"{name}.aml"], cwd=tmp_path, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return (tmp_path / f"{name}.dsl").read_text() + done.stdout + done.stderr


def values(text: str, label: str) -> list[int]:
    """The hexadecimal values that iasl prints for a field."""
    return [int(v.replace(" ", ""), 16)
            for v in re.findall(rf"{re.escape(label)} : ([0-9A-Fa-f]+)\b", text)]


def test_acpica_tools_are_there():
    assert shutil.which("iasl") and shutil.which("acpiexec"), "install acpica-tools"


@pytest.mark.parametrize("name", SIGNED)
def test_header_length_and_checksum(built, name):
    data = read(built, f"acpi/{name}")
    assert data[:4] == name.encode()
    assert struct.unpack_from("<I", data, 4) == (len(data),)
    assert sum(data) & 0xFF == 0
    assert len(data) <= 0xFFFF, "QEMU takes at most 65535 bytes"


@pytest.mark.parametrize("name", ["SRAT", "SLIT", "HMAT", "NFIT", "SSDT"])
def test_iasl_understands(built, name, tmp_path):
    text = disassemble(built, name, tmp_path)
    assert not re.search(r"error|invalid|unknown|warning|truncated", text, re.IGNORECASE), text


def test_ssdt_compiles_again(topology, tmp_path):
    """iasl takes its own disassembly of the table, without an error or a warning."""
    node = Node(tmp_path / "node", topology)
    node.power_on()
    disassemble(node, "SSDT", tmp_path)
    done = subprocess.run(["iasl", "-p", "again", "SSDT.dsl"], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 Errors, 0 Warnings" in done.stdout, done.stdout


def test_srat_app_direct(tmp_path):
    text = disassemble(in_mode(tmp_path, goals.app_direct), "SRAT", tmp_path)
    assert values(text, "Proximity Domain") == [0, 1, 2, 3]         # memory
    assert values(text, "Base Address") == [0, 4 * GIB, 5 * GIB, 9 * GIB]
    assert values(text, "Address Length") == [GIB, GIB, 4 * GIB, 4 * GIB]
    assert values(text, "Non-Volatile") == [0, 0, 1, 1]
    assert values(text, "Hot Pluggable") == [0, 0, 1, 1]


def test_srat_memory_mode(tmp_path):
    text = disassemble(in_mode(tmp_path, goals.memory), "SRAT", tmp_path)
    assert values(text, "Proximity Domain") == [0, 0, 1, 1]
    assert sum(values(text, "Address Length")) == 8 * GIB
    assert set(values(text, "Non-Volatile")) == {0}


def test_slit_is_the_platform_of_the_paper(tmp_path):
    data = read(in_mode(tmp_path, goals.app_direct), "acpi/SLIT")
    assert struct.unpack_from("<Q", data, 36) == (4,)
    assert [list(data[44 + 4 * i:48 + 4 * i]) for i in range(4)] == [
        [10, 21, 17, 28], [21, 10, 28, 17], [17, 28, 10, 28], [28, 17, 28, 10]]


def test_slit_is_symmetric(built):
    data = read(built, "acpi/SLIT")
    n, = struct.unpack_from("<Q", data, 36)
    cells = data[44:]
    assert len(cells) == n * n
    assert all(cells[a * n + b] == cells[b * n + a] for a in range(n) for b in range(n))
    assert all(cells[a * n + b] > cells[a * n + a] == 10
               for a in range(n) for b in range(n) if a != b)


def hmat_local_cells(node) -> dict[int, tuple[int, int]]:
    """By data type of HMAT: (DRAM, PMem) of socket 0 as seen from it, in ps or MB/s."""
    data, at, found = read(node, "acpi/HMAT"), 40, {}
    while at < len(data):
        kind, length = struct.unpack_from("<H2xI", data, at)
        if kind == 1:
            data_type = data[at + 9]
            initiators, targets, unit = struct.unpack_from("<II4xQ", data, at + 12)
            doms = struct.unpack_from(f"<{targets}I", data, at + 32 + 4 * initiators)
            cells = struct.unpack_from(f"<{initiators * targets}H", data,
                                       at + 32 + 4 * (initiators + targets))
            found[data_type] = tuple(cells[doms.index(d)] * unit for d in (0, 2))
        at += length
    return found


def test_hmat_is_the_platform_of_the_paper(tmp_path):
    cells = hmat_local_cells(in_mode(tmp_path, goals.app_direct))
    assert cells == {1: (79_000, 174_000), 2: (79_000, 174_000),            # picoseconds
                     4: (104 * 1024, 39 * 1024), 5: (80 * 1024, 13 * 1024)}  # MB/s


def test_hmat_cache_only_in_memory_mode(tmp_path):
    text = disassemble(in_mode(tmp_path, goals.memory), "HMAT", tmp_path)
    assert values(text, "Memory Side Cache Size") == [GIB, GIB]
    assert values(text, "Associativity") == [1, 1] and values(text, "Write Policy") == [1, 1]
    assert values(text, "Cache Line Size") == [64, 64]
    other = tmp_path / "ad"
    other.mkdir()
    text = disassemble(in_mode(other, goals.app_direct), "HMAT", other)
    assert values(text, "Memory Side Cache Size") == []


def nfit_structures(data: bytes, kind: int) -> list[bytes]:
    at, found = 40, []
    while at < len(data):
        this, length = struct.unpack_from("<HH", data, at)
        if this == kind:
            found.append(data[at:at + length])
        at += length
    assert at == len(data)
    return found


def test_nfit_regions_cover_their_dimms(built):
    """For every region the members' shares add up, and each of its bytes lies on one DIMM."""
    data = read(built, "acpi/NFIT")
    spas = {struct.unpack_from("<H", s, 4)[0]: struct.unpack_from("<QQ", s, 32)
            for s in nfit_structures(data, 0)}
    assert len(spas) == len(built.state.regions)
    mappings = nfit_structures(data, 1)
    assert {struct.unpack_from("<I", m, 4)[0] for m in mappings} == {
        d.handle for d in built.topology.dimms}
    for spa, (_, length) in spas.items():
        mine = [struct.unpack_from("<IHHHHQQQHH", m, 4) for m in mappings
                if struct.unpack_from("<H", m, 12)[0] == spa]
        assert sum(m[5] for m in mine) == length
        assert sorted(m[6] for m in mine) == [4096 * i for i in range(len(mine))]
        assert {m[9] for m in mine} == {len(mine)}


def test_nfit_mixed_regions_begin_after_the_volatile_partition(tmp_path):
    mappings = nfit_structures(read(in_mode(tmp_path, goals.mixed), "acpi/NFIT"), 1)
    assert {struct.unpack_from("<Q", m, 32)[0] for m in mappings} == {GIB}


def test_pcat_tells_the_mode_and_the_limits(tmp_path):
    memory = read(in_mode(tmp_path, goals.memory), "acpi/PCAT")
    assert memory[40 + 6] == 0b010101       # 2LM now, App Direct and both volatile modes allowed
    fixed = Node(tmp_path / "fixed", Topology(allows_memory_mode=False))
    fixed.power_on()
    assert read(fixed, "acpi/PCAT")[40 + 6] == 0b000100


def test_pmtt_tells_pmem_from_ddr(built):
    """Type 2 structures (modules): the PMem flag is on PMem's handles and on no other."""
    data, at, flags = read(built, "acpi/PMTT"), 40, {}
    while at < len(data):
        kind, length, flag = struct.unpack_from("<BxHH", data, at)
        if kind == 2:
            flags[struct.unpack_from("<I", data, at + 12)[0]] = flag
        at += length
    assert at == len(data)
    dimms = built.topology.dimms
    assert flags == {d.pmem_smbios: 0b110 for d in dimms} | {d.ddr_smbios: 0b010 for d in dimms}


def test_smbios_agrees_with_the_other_tables(built):
    """Each DIMM that NFIT and PMTT name is a type 17 structure of the right size."""
    dmi, sizes, at = read(built, "smbios/DMI"), {}, 0
    while dmi[at] != 127:
        kind, length, handle = struct.unpack_from("<BBH", dmi, at)
        assert (kind, length) == (17, 40)
        mib, = struct.unpack_from("<H", dmi, at + 12)
        sizes[handle] = (mib if mib < 0x7FFF else struct.unpack_from("<I", dmi, at + 28)[0]) * MIB
        at = dmi.index(b"\0\0", at + length) + 2
    topology = built.topology
    assert sizes == ({d.pmem_smbios: topology.pmem_raw for d in topology.dimms}
                     | {d.ddr_smbios: topology.ddr_size for d in topology.dimms})
    pmtt = read(built, "acpi/PMTT")
    for handle in sizes:
        assert struct.pack("<I", handle) in pmtt
    entry = read(built, "smbios/smbios_entry_point")
    assert sum(entry) & 0xFF == 0 and len(entry) == entry[6] == 24
    assert struct.unpack_from("<I", entry, 12) == (len(dmi),)
    files = sorted((built.directory / "smbios").glob("type17-*"))
    assert b"".join(f.read_bytes() for f in files) == dmi[:at]
