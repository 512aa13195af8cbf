"""A guest is counted to the byte, whatever its programs say of themselves. One boot for all."""
import json
import shutil

import pytest

from meter import guest, program

MIB = 1 << 20
HUGE = "/sys/kernel/mm/transparent_hugepage/enabled"
PASSES, SIZE = 2, 8 * MIB
KERNELS = [(cpu, node, name) for cpu in (0, 1) for node in (2, 3) for name in ("read", "write", "nontemporal")]


@pytest.fixture(scope="module")
def run(tmp_path_factory, build, kernels):
    """Kernels on each pair of processor and node; a program; pic with the runtime, which is told the truth and then a lie."""
    folder = tmp_path_factory.mktemp("guest")
    shutil.copy(kernels, folder / "kernels")
    pic = (f"LD_PRELOAD={build.resolve()}/libpmplace.so PM_RANK_DRAM={192 * MIB} PM_LOCAL_RANK=0 PM_NODE_DRAM=%d PM_NODE_PMEM=%d PM_REPORT=/mnt/%s "
           f"/mnt/region numactl --cpunodebind=0 {build.resolve()}/tests/runtime/pic 2 >/dev/null\n")
    (folder / "all").write_text("set -e\n" + "".join(f"taskset -c {cpu} /mnt/kernels {node} {name} {SIZE // MIB} {PASSES}\n" for cpu, node, name in KERNELS)
                                + f"echo never >{HUGE}\n/mnt/region {build.resolve()}/tests/runtime/pic 2 >/dev/null\necho always >{HUGE}\n" + pic % (0, 2, "truth") + pic % (2, 0, "lie"), encoding="ascii")
    found = guest.run(guest.Machine(cache=f"{512 << 10}:8"), ["/bin/sh", "/mnt/all"], folder, build / "meter", marks=True, timeout=900)
    assert found.status == 0, found.stderr
    assert len(found.regions) == len(KERNELS) + 3
    return found, folder


def sums(region: dict, makers: tuple[str, ...] = ("user",)) -> dict[tuple[int, int], dict[str, int]]:
    """By socket and node."""
    found: dict[tuple[int, int], dict[str, int]] = {}
    for row in region["traffic"]:
        if row["maker"] in makers:
            sum_ = found.setdefault((row["socket"], row["node"]), {})
            for name, value in row.items():
                if name.endswith("_bytes"):
                    sum_[name] = sum_.get(name, 0) + value
    return found


@pytest.mark.parametrize("number", range(len(KERNELS)), ids=lambda i: "-".join(map(str, KERNELS[i])))
def test_kernels_are_counted_to_the_byte(run, number):
    """Nothing else of the program is on these nodes."""
    cpu, node, name = KERNELS[number]
    bytes_ = PASSES * SIZE
    expected = {"read": (bytes_, 0, bytes_, 0, 0), "write": (0, bytes_, bytes_, bytes_, 0), "nontemporal": (0, bytes_, 0, 0, bytes_)}[name]
    found = sums(run[0].regions[number])[cpu, node]
    assert (found["loaded_bytes"], found["stored_bytes"], found["read_bytes"], found["written_bytes"], found["nontemporal_written_bytes"]) == expected


def test_a_program_counts_the_same_as_alone(run, build, tmp_path):
    """Within 2 %. In the guest, pages of 4 KiB that the kernel has cleared are in the cache when they are touched first; huge ones
    are larger than the cache, and would be filled twice."""
    out = tmp_path / "table"
    assert program.count([str(build / "tests/runtime/pic"), "2"], build / "meter", out, quiet=True) == 0
    others, objects = program.read(out)
    rows = [others, *objects]
    region = run[0].regions[len(KERNELS)]
    user, cleared = (list(sums(region, makers).values()) for makers in (("user",), ("user", "clears")))
    assert sum(row["loaded_bytes"] for row in user) == pytest.approx(sum(row["rawr"] for row in rows), rel=0.02)
    assert sum(row["stored_bytes"] for row in user) == pytest.approx(sum(row["raww"] for row in rows), rel=0.02)
    behind = sum(row["read_bytes"] + row["written_bytes"] + row["nontemporal_written_bytes"] for row in cleared)
    assert behind == pytest.approx(sum(64 * (row["fillr"] + row["fillw"] + row["wb"]) + row["nt"] for row in rows), rel=0.02)


def traffic(region: dict, node: int) -> int:
    return sum(row["read_bytes"] + row["written_bytes"] for (_, at), row in sums(region).items() if at == node)


def test_a_runtime_that_lies_is_counted_where_it_is(run):
    """Told that PMem's node is its DRAM, the runtime reports its objects in DRAM; the meter finds them on that node all the same."""
    result, folder = run
    truth, lie = result.regions[-2:]
    reports = [json.loads((folder / name).read_text().splitlines()[0]) for name in ("truth", "lie")]
    assert reports[0]["dram_bytes"] > 90 * MIB
    assert reports[1]["dram_bytes"] == pytest.approx(reports[0]["dram_bytes"], rel=0.02)
    assert traffic(truth, 0) > 10 * traffic(truth, 2)
    assert traffic(lie, 2) > 2 * traffic(lie, 0)
