"""The replay of traces against cases that are computed by hand."""
import sys
from pathlib import Path

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import replay  # noqa: E402
from simulator import Machine  # noqa: E402

GB = 1e9
PLAIN = Machine(thread_in=3 * GB, thread_out=2 * GB, reads=30 * GB, writes=10 * GB)


def walk(tmp_path: Path, is_written: bool) -> list[replay.Event]:
    """Three batches of 3 GB, 2 s of computing on each; the program's start does not count."""
    size = int(3 * GB)
    lines = [f"777777777 o 0 0 {size} {3 * size} {int(is_written)}", "0 n 0", *["2000000000 n 0"] * 3, "0 c 0"]
    path = tmp_path / "trace"
    path.write_text("\n".join(lines), encoding="ascii")
    return replay.read(path)


@pytest.mark.parametrize("is_written, helpers, overlap, seconds", [
    (False, 0, 0.0, 3 * (1 + 2)),       # each batch is read, and then computed on
    (False, 0, 1.0, 3 * 2),
    (True, 0, 0.0, 3 * (1 + 1.5 + 2)),
    (False, 1, 0.0, 0.5 + 3 * 2),       # the first batch is copied by the helper and the program, which waits
    # The helper copies 2 GB out and 3 GB in by turns while the second batch is computed on; the rest of the first one goes out by
    # both in 0.25 s. The last one goes out in 0.75 s.
    (True, 1, 0.0, 0.5 + 2 + 2 + 0.25 + 2 + 0.75),
    (True, 2, 0.0, 0.5 + 3 * 2 + 0.75),
])
def test_a_fixed_count(tmp_path, is_written, helpers, overlap, seconds):
    rank = replay.Rank(PLAIN, 1, 2, overlap, helpers)
    assert rank.replay(walk(tmp_path, is_written)) == pytest.approx(seconds)


def test_ranks_share_the_device(tmp_path):
    assert replay.Rank(PLAIN, 30, 2, 0, 0).replay(walk(tmp_path, False)) == pytest.approx(3 * (3 + 2))


def test_the_programs_own_traffic_takes_time(tmp_path):
    # 1 GB/s of the device is this rank's: 2 GB that it reads while it computes take 2 s alone, and the copies 3 s.
    assert replay.Rank(PLAIN, 30, 2, 0, 0, own=1 * GB).replay(walk(tmp_path, False)) == pytest.approx(3 * (3 + 2))
    assert replay.Rank(PLAIN, 30, 2, 0, 0, own=2 * GB).replay(walk(tmp_path, False)) == pytest.approx(3 * (3 + 4))


def test_one_interval_is_measured_in_the_second_pass(tmp_path):
    asked = []
    rank = replay.Rank(PLAIN, 1, 2, 0, lambda question: asked.append(question) or 1)
    # In place; then the program copies the first batch itself.
    assert rank.replay(walk(tmp_path, False) * 2) == pytest.approx(9 + 1 + 2 + 0.5 + 2 + 2)
    assert [(q.in_bytes, q.out_bytes, q.placed_s) for q in asked] == [(3 * GB, 0, 0)]
    assert asked[0].compute_s == pytest.approx(2)


def test_intervals_in_place_are_compared_by_turns(tmp_path):
    asked = []
    rank = replay.Rank(PLAIN, 1, 2, 0, lambda question: asked.append(question) or 1, compared=True)
    seconds = rank.replay(walk(tmp_path, True) * 3)
    assert len(asked) == 1
    assert (asked[0].compute_s, asked[0].placed_s) == (pytest.approx(2), pytest.approx(1 + 1.5 + 2))
    # In place; the second batch copied in and, by the program, out; and as with one helper.
    assert seconds == pytest.approx(13.5 + (4.5 + 1 + 2 + 1.5 + 4.5) + 7.5)


def test_helpers_that_are_slower_than_in_place_go(tmp_path):
    rank = replay.Rank(PLAIN, 1, 2, 1, lambda question: 1, compared=True)
    # Data in place costs nothing where computing hides it: 6 s a pass. With a helper 7.5 s, of which the middle is slower.
    passes = [rank.replay(walk(tmp_path, True)) for _ in range(7)]
    durations = [after - before for before, after in zip(passes, passes[1:])]
    assert rank.phases[0].helpers == 1 and durations[-1] == pytest.approx(7.5)
    rank.phases[0].placed_s = 1.0
    for _ in range(2):
        rank.replay(walk(tmp_path, True))
    assert rank.phases[0].helpers == 0
