"""The simulator against cases that are computed by hand, and the model's promise in it: helpers do no harm."""
import random
import sys
from pathlib import Path

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import simulator  # noqa: E402
from simulator import Flow, Machine, Socket, Work, bandwidth, phase, run, shared  # noqa: E402

GB = 1e9
PLAIN = Machine(thread_in=3 * GB, thread_out=2 * GB, reads=30 * GB, writes=10 * GB)
ALONE = Work(ranks=1, threads=4, cpus=6, in_bytes=3 * GB, out_bytes=2 * GB, compute_s=1.5, traffic_bytes=0, overlap=0)


@pytest.mark.parametrize("caps, costs, capacity, rates", [
    ((1, 1), (1, 1), 4, (1, 1)),            # the device is not busy
    ((9, 9), (1, 1), 4, (2, 2)),
    ((1, 9), (1, 1), 4, (1, 3)),            # one wants less, the other has the rest
    ((9, 1), (1, 1), 4, (3, 1)),
    ((9, 9), (1, 3), 4, (1, 1)),            # the same level, at different costs
    ((9, 0.5), (1, 2), 4, (3, 0.5)),
])
def test_shares(caps, costs, capacity, rates):
    flows = [Flow(1, cap, cost) for cap, cost in zip(caps, costs)]
    assert shared(flows, capacity) == pytest.approx(rates)


@pytest.mark.parametrize("helpers, seconds", [
    (1, 1.75),      # in and then out, 1 s each; after 1.5 s 1 GB is left, which the program copies along
    (2, 1.5),       # a direction each: hidden
])
def test_an_interval(helpers, seconds):
    assert Socket(PLAIN, ALONE).interval(helpers) == pytest.approx(seconds)


def test_helpers_without_a_cpu_slow_the_program_down():
    crowded = Work(**{**vars(ALONE), "cpus": 4})
    assert Socket(PLAIN, crowded).interval(2) == pytest.approx(1.5 / 0.5)


def test_in_place_exposes_what_computing_does_not_hide():
    # 7.5 GB/s each, 1/30 and 1/10 of the device's time a GB, until all is written; then the rest is read at 12 GB/s
    assert Socket(PLAIN, ALONE).in_place() == pytest.approx(1.5 + 2 / 7.5 + 1 / 12)
    hidden = Work(**{**vars(ALONE), "overlap": 1.0})
    assert Socket(PLAIN, hidden).in_place() == pytest.approx(1.5)


def test_ranks_share_the_device():
    many = Work(**{**vars(ALONE), "ranks": 10, "out_bytes": 0})
    assert Socket(PLAIN, many).interval(2) == pytest.approx(1.5)      # 30 / 10 = 3 GB/s: 1 s, hidden
    more = Work(**{**vars(ALONE), "ranks": 20, "out_bytes": 0})
    assert Socket(PLAIN, more).interval(2) == pytest.approx(2.0)      # 1.5 GB/s


def test_a_paced_copy_does_not_hold_up_who_waits_for_it():
    slow = Work(**{**vars(ALONE), "compute_s": 1e-9})
    waits = Socket(PLAIN, slow).interval(1, pace_s=4)
    # In at 0.75 GB/s and 3 of the program's; meanwhile 0.4 GB out at 0.5 GB/s, then 2 of the program's, too.
    assert waits == pytest.approx(0.8 + 1.6 / 2.5)
    busy = Work(**{**vars(ALONE), "compute_s": 5})
    assert Socket(PLAIN, busy).interval(1, pace_s=4) == pytest.approx(5)
    assert Socket(PLAIN, slow).interval(2, pace_s=4) == pytest.approx(waits)


def test_the_microbenchmark():
    assert bandwidth(PLAIN, 1, 0) == pytest.approx((3 * GB, 0))
    assert bandwidth(PLAIN, 0, 8) == pytest.approx((0, 10 * GB))
    assert bandwidth(PLAIN, 2, 2) == pytest.approx((6 * GB, 4 * GB))


def test_all_bytes_flow():
    """However the device is shared: its time is at least what all bytes cost."""
    dice = random.Random(1)
    for _ in range(200):
        machine = simulator.random_machine(dice)
        work = simulator.random_work(dice, machine)
        flows = [Flow(dice.uniform(1, 9) * GB, dice.uniform(1, 9) * GB, 1 / machine.reads) for _ in range(4)]
        least = sum(flow.left * flow.cost for flow in flows)
        slowest = max(flow.left / flow.cap for flow in flows)
        seconds = run(flows, 0, 1, 1.0)
        assert seconds >= max(least, slowest) * (1 - 1e-9)
        assert seconds <= least + slowest + 1e-9
        assert phase(Socket(machine, work), 0) > 0
