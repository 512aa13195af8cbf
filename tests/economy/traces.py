"""Jobs of three modes: what users submit, and when. Seconds; a trace is the same for the same arguments.

The mixes are shares of the modes. "bursty" has 60 % of its work in arrays of 50 tasks, of one mode each, where an array
mostly follows one of the other mode. "lublin" has sizes, run times and daily cycle of the model of Lublin and Feitelson, "The
workload on parallel supercomputers: modeling the characteristics of rigid jobs", JPDC 63(11), 2003: the constants of jobs
without a type in its authors' m_lublin99.c, with the sizes of a cluster of 64 nodes (UHi 6, UMed 2.5 below it).
"""

import math
import random

NODES = 64
MODES = range(3)
DAY_S = 86400.0
DAYS = 14
MIXES = {"70/20/10": (.7, .2, .1), "40/40/20": (.4, .4, .2), "90/9/1": (.9, .09, .01), "bursty": (.4, .4, .2),
         "lublin": (.7, .2, .1)}
SIZES = {1: 30, 2: 18, 3: 5, 4: 18, 6: 4, 8: 14, 12: 3, 16: 8}

SERIAL, POWER_OF_2 = .244, .576
U_LOW, U_MED, U_HIGH, U_PROB = .8, 3.5, 6.0, .86
A1, B1, A2, B2, PA, PB = 4.2, .94, 312.0, .03, -.0054, .78
A_ARRIVAL, B_ARRIVAL = 10.2303 * 1.0225, .4871
A_DAY, B_DAY, DAY_BEGINS_H = 8.1737, 3.9631, 11
LONGEST_LN = 12


class Job:
    """What Slurm and the service know of a job."""

    __slots__ = ("id", "submit", "nodes", "run", "limit", "mode", "eligible", "first_held", "allocated", "begin", "end", "mask",
                 "boots", "record", "expected_end")

    def __init__(self, submit: float, nodes: int, run: float, limit: float, mode: int):
        self.id = 0
        self.submit, self.nodes, self.run, self.limit, self.mode = submit, nodes, run, limit, mode
        self.eligible = self.first_held = self.allocated = self.begin = self.end = 0.0
        self.mask = self.boots = 0
        self.record, self.expected_end = b"", 0.0


def bounded_lognormal(rng: random.Random, median: float, sigma: float, low: float, high: float) -> float:
    while True:
        value = rng.lognormvariate(math.log(median), sigma)
        if low <= value <= high:
            return value


def limit_of(rng: random.Random, run: float) -> float:
    """Users ask for 2.5 times the run time on average, in quarters of an hour, a day at most."""
    return min(DAY_S, math.ceil(run * (1.05 + rng.expovariate(1 / 1.2)) / 900) * 900)


def next_arrival(rng: random.Random, now: float, rate: float) -> float:
    """Poisson, four times as often at 14:00 as at 2:00 (by thinning)."""
    while True:
        now += rng.expovariate(rate * 1.6)
        if rng.random() < (1 + .6 * math.cos(2 * math.pi * (now / DAY_S - 14 / 24))) / 1.6:
            return now


def pick_mode(rng: random.Random, mix: str) -> int:
    return rng.choices(MODES, MIXES[mix])[0]


def single(rng: random.Random, mix: str, submit: float) -> tuple:
    return (submit, rng.choices(list(SIZES), list(SIZES.values()))[0], bounded_lognormal(rng, 2700, 1.2, 300, 43200),
            pick_mode(rng, mix))


def steady(rng: random.Random, mix: str):
    now = next_arrival(rng, 0, 1 / 450)
    while now < DAYS * DAY_S:
        yield single(rng, mix, now)
        now = next_arrival(rng, now, 1 / 450)


def other_mode(rng: random.Random, mode: int) -> int:
    """The next array's: the modes 0 and 1 alternate, every fifth array moves on."""
    if rng.random() < .2:
        return (mode + 1) % 3
    return 1 - mode if mode < 2 else 0


def bursty(rng: random.Random, mix: str):
    mode = 0
    now = next_arrival(rng, 0, 1 / 5400)
    while now < DAYS * DAY_S:
        if rng.random() < .45:
            mode = other_mode(rng, mode)
            for task in range(50):
                yield now + 2 * task, rng.choice((1, 1, 2)), bounded_lognormal(rng, 900, .7, 300, 3600), mode
        else:
            for later in range(3):
                yield single(rng, mix, now + 60 * later)
        now = next_arrival(rng, now, 1 / 5400)


def lublin_size(rng: random.Random) -> int:
    if rng.random() <= SERIAL:
        return 1
    low, high = (U_LOW, U_MED) if rng.random() <= U_PROB else (U_MED, U_HIGH)
    exponent = rng.uniform(low, high)
    return 2 ** round(exponent) if rng.random() <= POWER_OF_2 else round(2 ** exponent)


def lublin_run(rng: random.Random, nodes: int) -> float:
    while True:
        first = rng.random() <= min(1.0, max(0.0, PA * nodes + PB))
        value = rng.gammavariate(A1, B1) if first else rng.gammavariate(A2, B2)
        if value <= LONGEST_LN:
            return max(30.0, math.exp(value))


def day_weights() -> list[float]:
    """For each half hour, the mean is 1: a gamma density over hours, which begins at DAY_BEGINS_H."""
    def density(hour: float) -> float:
        return math.exp((A_DAY - 1) * math.log(hour) - hour / B_DAY)
    values = [density(half / 2 + .25 + (24 if half < 2 * DAY_BEGINS_H else 0)) for half in range(48)]
    return [value * 48 / sum(values) for value in values]


def lublin(rng: random.Random, mix: str):
    """The points of an interval between arrivals are paid at the rate of the half hours that it crosses."""
    weights, now, count = day_weights(), 0.0, 0
    while count < 2700:
        points = math.exp(min(13.0, rng.gammavariate(A_ARRIVAL, B_ARRIVAL)))
        while points > 0:
            rate = weights[int(now / 1800) % 48]
            step = min(1800 - now % 1800, points / rate)
            now, points = now + step + 1e-6, points - step * rate
        nodes = lublin_size(rng)
        yield now, nodes, lublin_run(rng, nodes), pick_mode(rng, mix)
        count += 1


def trace(mix: str, load: float, seed: int) -> list[Job]:
    """The times of submission are stretched so that the work is `load` of what the nodes can do in them."""
    rng = random.Random(f"{mix}|{seed}")
    raw = sorted({"bursty": bursty, "lublin": lublin}.get(mix, steady)(rng, mix))
    span = raw[-1][0]
    stretch = sum(nodes * run for _, nodes, run, _ in raw) / (NODES * span * load)
    jobs = [Job(submit * stretch, nodes, run, limit_of(rng, run), mode) for submit, nodes, run, mode in raw]
    for number, job in enumerate(jobs):
        job.id = number
    return jobs
