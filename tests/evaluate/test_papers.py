"""The sums, ratios and verdicts of tests/evaluate/papers, on regions that are made up."""
import importlib.machinery
import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("papers", str(HERE / "papers"))
papers = importlib.util.module_from_spec(importlib.util.spec_from_loader("papers", loader))
loader.exec_module(papers)
rows, runs = papers.rows, papers.runs

MIB = 1 << 20
BUILD = Path("/build")


def row(node: int, read: int, written: int = 0, nontemporal: int = 0, maker: str = "user", socket: int = 0) -> dict:
    return {"socket": socket, "node": node, "maker": maker, "loaded_bytes": read, "stored_bytes": written, "read_bytes": read, "written_bytes": written,
            "nontemporal_written_bytes": nontemporal}


def region(*traffic: dict, near: tuple[int, int, int, int] | None = None) -> dict:
    names = ("dram_read_bytes", "dram_written_bytes", "pmem_read_bytes", "pmem_written_bytes")
    return {"traffic": list(traffic), "memory_mode": [{"node": 0, **dict(zip(names, near))}] if near else []}


def test_flat_sums_have_all_makers_and_nodes_behind_the_sockets_are_pmem():
    found = region(row(0, 10, 1, 2), row(1, 20, 3, 4), row(0, 5, maker="clears"), row(1, 7, maker="kernel"))
    assert rows.flat(found) == rows.Traffic(18, 27, 7)
    assert rows.flat(found, 2) == rows.Traffic(52, 0, 0)


def test_memory_mode_sums_have_all_nodes():
    found = region(near=(10, 20, 30, 40))
    found["memory_mode"] *= 2
    assert rows.near(found) == rows.Traffic(60, 60, 80)


def test_memory_mode_is_compared_with_its_own_traffic_in_dram():
    assert rows.cached(region(row(0, 60, 30), row(0, 10, maker="kernel"), near=(100, 50, 0, 0))) == pytest.approx(1.5)


def test_remote_dram_is_of_programs_and_of_the_other_socket():
    found = region(row(0, 10, 1, 2, socket=1), row(1, 20, socket=0), row(1, 99, socket=1), row(3, 99, socket=0), row(1, 99, socket=0, maker="kernel"))
    assert rows.remote_dram(found) == 33


@pytest.mark.parametrize("printed, found, order, verdict", [
    (1.4, {"a": 1.5}, None, rows.AGREES),
    (1.4, {"a": 3}, None, rows.ORDER),
    (1.4, {"a": 1.5, "b": 3}, None, rows.PARTLY),
    (1.4, {"a": 0.9}, None, rows.DIFFERS),
    (1.4, {"a": 0.9, "b": 1.5}, None, rows.PARTLY),
    (0.8, {"a": 0.9}, None, rows.AGREES),
    ((1.5, 6), {"a": 5.9}, None, rows.AGREES),
    (1.0, {"a": 1.2}, True, rows.AGREES),
    (1.0, {"a": 1.2}, False, rows.DIFFERS),
])
def test_a_verdict_is_of_order_and_size(printed, found, order, verdict):
    assert rows.compared(printed, found, order) == verdict


def placed(static: int, first: int, layouts: list[int]) -> rows.Placed:
    """MiB that PMem reads."""
    flat = {"static A": region(row(1, static * MIB)), "first touch A": region(row(1, first * MIB)), "pmem": region(row(1, 400 * MIB)), "dram": region(row(0, 100 * MIB))}
    return rows.Placed(flat, {"A": {str(i): region(near=(MIB, 0, layout * MIB, 0)) for i, layout in enumerate(layouts)}})


def test_memory_mode_is_its_middle_layout_and_its_spread_is_of_all():
    one = placed(100, 300, [100, 200, 900])
    times = one.times("A")
    assert times["memory mode"] == pytest.approx(2 * times["static"], rel=0.01)
    assert one.gain("first touch") == pytest.approx(3)
    assert one.spread("A") == pytest.approx(8, rel=0.01)


def test_the_order_is_the_papers():
    assert rows.order({"a": placed(100, 300, [200])}).verdict == rows.AGREES
    assert rows.order({"a": placed(100, 150, [200])}).verdict == rows.DIFFERS
    assert rows.order({"a": placed(100, 300, [200]), "b": placed(100, 150, [200])}).verdict == rows.PARTLY


def test_a_gain_is_printed_as_a_ratio():
    found = rows.gain({"a": placed(100, 141, [200])}, "first touch", "first touch", 41, "Fig. 4")
    assert found.printed == "41 %, a ratio of 1.41" and found.here.endswith("a 1.41") and found.verdict == rows.AGREES


def test_remote_traffic_is_a_ratio_to_first_touch():
    flat = {"dram first": region(row(1, 1000)), "first touch": region(row(0, 5)), "static": region(row(1, 4), row(0, 3, socket=1))}
    cached, ours = rows.remote(flat, region(row(1, 900)))
    assert cached.here.startswith("0.900") and cached.verdict == rows.AGREES
    assert ours.here.startswith("0.007") and ours.printed == "0.002 to 0.011" and ours.verdict == rows.AGREES


def test_bandwidth_is_streams():
    assert rows.bandwidth(1, 1000, 24, rows.Traffic(32000)) == pytest.approx(0.75 * papers.time_model.fit().dram / 1e9)


def test_streams_table_is_within_the_fit():
    regions = {f"{kernel} {place}": region(row(1 if place in ("read", "all") else 0, read * 1000), row(1 if place in ("written", "all") else 0, written * 1000, written * 1000))
               for kernel, (read, written) in zip(runs.KERNELS, papers.time_model.KERNELS) for place in runs.PLACES}
    found = rows.stream_table({name: {**one, "traffic": [{**part} for part in one["traffic"]]} for name, one in regions.items()}, 1)
    assert [one.verdict for one in found] == [rows.AGREES] * 4


def test_a_trace_is_the_same_bytes_in_either_tier():
    dram, pmem = papers.traced("multigrid")
    assert dram.dram == pmem.pmem_read + pmem.pmem_written > 0 and not pmem.dram


def test_each_row_without_a_comparison_says_why():
    absent = [*rows.ABSENT_000, *rows.ABSENT_001, *rows.ABSENT_002, *rows.ABSENT_004]
    assert all(one.verdict in (rows.NOT_AVAILABLE, rows.NOT_REPRODUCED) and one.why and one.here == "-" for one in absent)


def experiments() -> list:
    budgets = [runs.Budget(problem, 16 * MIB, "advice") for problem in ("A", "B")]
    found = [runs.solver_in_one_tier(), runs.fits_in_memory_mode(BUILD), runs.two_sockets(BUILD), runs.arrays(BUILD), runs.arrays_in_memory_mode(BUILD),
             runs.streams(budgets[0], BUILD), runs.ranks(budgets[0], BUILD), runs.ranks_in_memory_mode(budgets[0], BUILD)]
    for work in runs.works(BUILD).values():
        found += [runs.flat(work, budgets, BUILD), runs.memory_mode(work, "A", 16 * MIB, BUILD, runs.LAYOUTS)]
    return found


@pytest.mark.parametrize("one", experiments(), ids=lambda one: one.name)
def test_each_region_has_one_command_and_the_machine_has_room(one):
    """Two, of which the first is dropped, where a program has marks of its own; one for two programs at the same time."""
    commands = [line for line in one.lines if "statuses" in line]
    twice = [line for line in commands if ("/minipic" in line or "/arrays" in line) and "& one=$!" not in line]
    assert len(commands) + len(twice) == len(one.regions)
    named = [name for name in one.regions if name != runs.WARM_UP]
    assert named and len(named) == len(set(named))
    assert one.machine.ranges()
    assert sum("/mnt/advice-" in line for line in one.lines) == 0 or one.files


def test_a_program_that_fails_or_is_not_counted_is_an_error():
    one = runs.arrays_in_memory_mode(BUILD)
    assert list(runs.checked(one, [{}] * 4, ["0", "0"], "")) == ["triad small", "triad large"]
    with pytest.raises(runs.MeterError, match="failed"):
        runs.checked(one, [{}] * 4, ["0", "1"], "")
    with pytest.raises(runs.MeterError, match="1 of 4 regions"):
        runs.checked(one, [{}], ["0", "0"], "")


def test_results_are_kept_by_their_input(tmp_path, monkeypatch):
    monkeypatch.setattr(runs.paths, "cache", lambda: tmp_path)
    assert runs.kept("one", "key", lambda: {"a": 1}) == {"a": 1}
    assert runs.kept("one", "key", lambda: {"a": 2}) == {"a": 1}
    assert runs.kept("one", "other", lambda: {"a": 2}) == {"a": 2}


def test_advice_has_a_column_for_the_drams_size_and_the_last_one():
    advice = "pmadvice 2\nprogram 1 a\nbudgets 10 20 30\nrest 0 1 2\nsite ab 4 5 6  # 1M at most: a < b\nsmall ab cd 7 8 9  # c\n# a word\n"
    assert papers.placement.only(advice, 20, 12) == "pmadvice 2\nprogram 1 a\nbudgets 12 30\nrest 1 2\nsite ab 5 6  # 1M at most: a < b\nsmall ab cd 8 9  # c\n# a word\n"


def test_a_guest_that_does_not_boot_is_tried_once_more(tmp_path, monkeypatch, capsys):
    results = [runs.MeterError("the guest ended"), "result", runs.MeterError("first"), runs.MeterError("second")]

    def boot(*arguments, **options):
        one = results.pop(0)
        if isinstance(one, Exception):
            raise one
        return one

    monkeypatch.setattr(runs.guest, "run", boot)
    assert runs.run(runs.arrays(BUILD), tmp_path, BUILD) == "result" and "once more" in capsys.readouterr().err
    with pytest.raises(runs.MeterError, match="second"):
        runs.run(runs.arrays(BUILD), tmp_path, BUILD)


def test_advice_for_streams_is_of_the_program_with_streams(monkeypatch):
    """The runtime does not use advice for another program."""
    asked = []

    class Counted(Exception):
        pass

    def result(*_):
        raise Counted

    monkeypatch.setattr(papers, "placed", lambda *_: None)
    monkeypatch.setattr(papers.placement, "budget", lambda work, problem, build: asked.append(work.command) or runs.Budget(problem, 16 * MIB, ""))
    monkeypatch.setattr(runs, "result", result)
    with pytest.raises(Counted):
        papers.paper_000(BUILD)
    used = next(line for line in runs.streams(runs.Budget("E", 16 * MIB, ""), BUILD).lines if "PM_STREAMS=1" in line)
    assert [command for command in asked if command in used] == [runs.streaming(BUILD).command]
