"""The evaluation's scripts and sums."""
import importlib.machinery
import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

HERE = Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("evaluate", str(HERE / "evaluate"))
evaluate = importlib.util.module_from_spec(importlib.util.spec_from_loader("evaluate", loader))
loader.exec_module(evaluate)

MIB = 1 << 20
JOB = evaluate.Job(["/usr/bin/sort", "-n", "/mnt/my lines"], 64 * MIB, 8 * MIB, Path("/usr/lib/libpmplace.so"),
                   {"profiled": Path("/mnt/advice-profiled"), "exact": Path("/mnt/advice-exact"), "streams": Path("/mnt/advice-streams")},
                   ["/usr/bin/streaming", "-n", "/mnt/my lines"])


@pytest.mark.parametrize("one", evaluate.CONFIGURATIONS, ids=lambda one: one.name)
def test_each_configuration_is_one_region_of_the_same_command(one):
    lines = [line for line in one.lines(JOB) if "/mnt/region" in line]
    assert len(lines) == 1
    assert lines[0].endswith(f"/usr/bin/{'streaming' if one.has_streams else 'sort'} -n '/mnt/my lines' >/dev/null")


def test_the_runtime_reports_to_a_file_of_each_configuration():
    files = [one.report for one in evaluate.CONFIGURATIONS if one.report]
    assert len(set(files)) == len(files) == sum(one.name.startswith("ours") for one in evaluate.CONFIGURATIONS)
    for one in evaluate.CONFIGURATIONS:
        assert (f"PM_REPORT=/mnt/{one.report} " in one.lines(JOB)[0]) == bool(one.report)


def told(free: int, resident: dict[str, int]) -> str:
    spaces = {name: {"peak_bytes": size} for name, size in (("metadata", 1), ("temporary", 10), ("migration", 100), ("free", free), ("pmem", 5555), ("lent", 5555))}
    return json.dumps({"spaces": spaces, "resident_bytes": {"dram": resident, "pmem": {"1": 5555}}})


def test_the_dram_that_the_runtime_used_is_of_all_processes(tmp_path):
    ours = next(one for one in evaluate.CONFIGURATIONS if one.name == "ours")
    assert evaluate.told_by(ours, tmp_path) == {}
    (tmp_path / ours.report).write_text(told(1000, {"0": 7}) + "\n" + told(2000, {"1": 9}) + "\n")
    assert evaluate.told_by(ours, tmp_path) == {"dram_peak_bytes": 3222, "dram_resident_bytes": 7}
    assert evaluate.told_by(evaluate.CONFIGURATIONS[0], tmp_path) == {}


def test_slabs_are_of_the_process_that_has_most(tmp_path, monkeypatch):
    for size in (3, 5, 4):
        (tmp_path / str(size)).touch()
    monkeypatch.setattr(evaluate.records, "read", lambda file: SimpleNamespace(slab_bytes=int(file.name)))
    assert evaluate.slabs(tmp_path) == 5


def test_the_projects_programs_are_those_of_the_build():
    minipic, pic = evaluate.built(Path("/build"))
    assert (minipic.streams, pic.streams) == ("/build/tests/evaluate/minipic-whole-streams", "")
    assert minipic.make(Path("/"), 0.5) == ["/build/tests/evaluate/minipic-whole", "60000", "5", "3"]
    assert pic.make(Path("/"), 0.1) == ["/build/tests/runtime/pic", "1"]
    assert not minipic.is_there()


def test_statuses_are_told_of_regions_and_dram_is_full_for_the_kernel_alone():
    lines = evaluate.script(JOB, list(evaluate.CONFIGURATIONS)).splitlines()
    assert sum(line.endswith("; echo status $? >>/mnt/statuses") for line in lines) == len(evaluate.CONFIGURATIONS)
    full = lines[lines.index("echo 2048 >/proc/sys/vm/min_free_kbytes"):lines.index(evaluate.EMPTY)]
    assert sum("/mnt/region" in line for line in full) == sum(one.is_filled for one in evaluate.CONFIGURATIONS) == 2
    assert "LANG=C" in next(line for line in full if "/usr/bin/sort" in line)
    assert evaluate.script(JOB, [evaluate.CONFIGURATIONS[0]]).startswith("LANG=C /usr/bin/sort")


def row(maker: str, node: int, read: int, written: int = 0, nontemporal: int = 0) -> dict:
    return {"maker": maker, "node": node, "read_bytes": read, "written_bytes": written, "nontemporal_written_bytes": nontemporal}


def test_sums_have_programs_and_copies():
    region = {"traffic": [row("user", 0, 10, 1, 2), row("user", 1, 20, 3, 4), row("copies", 0, 5), row("copies", 1, 0, 6), row("clears", 0, 999),
                          row("kernel", 1, 999)]}
    assert evaluate.sums(region) == {"dram": 18, "pmem_read": 20, "pmem_written": 13, "copied": 11}


def test_the_share_is_of_all_bytes():
    assert evaluate.share({"dram": 30, "pmem_read": 60, "pmem_written": 10}) == 0.3
    assert evaluate.share({"dram": 0, "pmem_read": 0, "pmem_written": 0}) == 0


def test_time_is_longer_where_pmem_is_written():
    assert evaluate.seconds({"dram": MIB, "pmem_read": 0, "pmem_written": 0}) < evaluate.seconds({"dram": 0, "pmem_read": MIB, "pmem_written": 0}) \
        < evaluate.seconds({"dram": 0, "pmem_read": 0, "pmem_written": MIB})
