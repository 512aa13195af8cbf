#!/usr/bin/python3 -B
"""Jobs that users submit again and again, what their earlier runs left in records, and what each memory mode would cost.

A scheduler that chooses a mode from earlier runs is judged on these. A family is one job as its user submits it repeatedly;
its history is what accounting kept; each held-out submission is a run to be decided, with the truth in each mode.
MiB are per node, seconds per run (of one task of an array), costs in node-seconds. A seed gives the same families, in the same
truth, whatever the site's default mode; the shares of faulty records change the records only.

Sources: [Weiland] Weiland et al., "An early evaluation of Intel's Optane DC persistent memory module and its impact on
high-performance scientific applications", SC 2019; [Ren] Ren et al., "Understanding and optimizing large-scale plasma
simulations on persistent memory-based systems" (WarpX-PM). A number without a source is assumed.
"""

import argparse
import json
import math
import random
import signal
import sys
from dataclasses import asdict, dataclass, replace
from typing import Iterator

from traces import NODES, SIZES, bounded_lognormal

GIB = 1024
MODES = ("memory", "appdirect", "mixed")
USABLE_MIB = {"memory": 1500 * GIB, "appdirect": 180 * GIB, "mixed": 700 * GIB}
"""Memory of a node that jobs can use, MiB: 192 GiB of DRAM as in [Weiland] less the system's; 1500 and 700 GiB are assumed."""
CACHE_MIB = 192 * GIB
"""DRAM of a node, MiB: in memory mode a direct-mapped cache ([Weiland], [Ren])."""

ACCESS = {"regular": .60, "random": .32, "conflicts": .08}
"""Shares of families by how they use memory. Assumed."""
SLOWER = {"regular": (0, .10), "random": (.2, .6), "conflicts": (.6, 2.0)}
"""Extra time in memory mode, as a share of the time in DRAM. Regular: CASTEP's TiN in the cache is 1.06 times slower on a node,
1.10 on a socket ([Weiland] tables 3 and 4). Random: problems above DRAM gain 34 % on average over memory mode when the hot
objects are placed in DRAM ([Ren] 4), .2 and .6 are assumed around it. Conflicts: assumed, up to 3 times."""
NEAR_CACHE_NOISE = .15
"""Sigma of the noise in memory mode just above the cache: runs vary by up to 30.5 % there ([Ren], problem A), two sigma."""
USES_FILES = .30
FILES_FACTOR = (.60, .95)
"""Share of families that do I/O to $PM_DIR (assumed), and their time in appdirect relative to a parallel file system: IFS is
10 % faster, 17 % with data consumers ([Weiland] 5.2.2), so .83 to .90; the wider range is assumed."""

ASKS = {"exact": .25, "double": .20, "nothing": .55}
ASK_FACTOR = {"exact": (1.02, 1.10), "double": (1.8, 2.5)}
"""Shares of families by their --mem, and the request relative to what the run uses. Assumed."""

ENDS = {"COMPLETED": .90, "TIMEOUT": .03, "FAILED": .04, "CANCELLED": .03}
ENDS_AFTER = {"COMPLETED": (1, 1), "TIMEOUT": (.3, 1), "FAILED": (.01, .6), "CANCELLED": (.01, .9)}
"""States of runs that fit, and the share of the run after which they end. Assumed."""
DIES_AFTER = .5
"""Share of its run after which a job dies that does not fit: given by the cost model, not measured."""


@dataclass(frozen=True)
class Family:
    """memory_mib, seconds: of the first run to be decided. growth: memory and work of a run relative to the run before. noise:
    sigma of ln(seconds). slower: see SLOWER. between: where mixed lies from appdirect (0) to memory (1), in logarithms.
    ask_factor: --mem relative to the memory of the run, 0 for none."""
    name: str
    user: str
    nodes: int
    tasks: int
    memory_mib: float
    memory_noise: float
    growth: float
    seconds: float
    noise: float
    access: str
    slower: float
    files_factor: float
    between: float
    ask_factor: float


@dataclass(frozen=True)
class Record:
    """A run as accounting kept it. memory_mib is the highest of its nodes; of a run that ran out of memory, the mode's."""
    mode: str
    seconds: float
    memory_mib: int
    state: str


@dataclass(frozen=True)
class Cluster:
    """By mode: nodes in it, idle nodes in it, idle nodes of other modes that may reboot into it. reboot_s: the median."""
    in_mode: dict[str, int]
    idle: dict[str, int]
    rebootable: dict[str, int]
    reboot_s: int


@dataclass(frozen=True)
class Submission:
    """A run to be decided. truth: seconds in each mode, None where it does not fit. asked_mib: --mem, None without it."""
    family: str
    user: str
    history: list[Record]
    asked_mib: int | None
    nodes: int
    tasks: int
    cluster: Cluster
    truth: dict[str, float | None]
    default: str


@dataclass(frozen=True)
class Faults:
    """Shares of records: missing, of another input (.1 to 10 times the seconds), with the memory of no or another job, of a
    run on a sick node (SICK times the seconds). They are independent, a record may have several."""
    missing: float = 0
    other_input: float = 0
    wrong_memory: float = 0
    sick_node: float = 0


SICK = 3.0


# The cost of a decision. Pure functions of a submission.

def admits(submission: Submission, mode: str) -> bool:
    """Whether Slurm would take the job in this mode: its --mem is not more than a node has."""
    return submission.asked_mib is None or submission.asked_mib <= USABLE_MIB[mode]


def reboots(cluster: Cluster, mode: str, nodes: int) -> int:
    """Nodes that reboot for a job or array that can use this many at once. Idle nodes of the mode come first; Slurm is greedy
    and then reboots idle ones; what is still short waits for busy nodes, and those of another mode reboot, too. An array that
    is larger than the cluster reboots a node once."""
    short = max(0, min(nodes, NODES) - cluster.idle[mode])
    now = min(short, cluster.rebootable[mode])
    busy = cluster.in_mode[mode] - cluster.idle[mode]
    return now + max(0, short - now - busy)


def reboot_cost(submission: Submission, mode: str) -> float:
    """Node-seconds. Waiting for busy nodes costs nothing here."""
    return reboots(submission.cluster, mode, submission.nodes * submission.tasks) * submission.cluster.reboot_s


def run_cost(submission: Submission, mode: str) -> float:
    """Node-seconds in a mode in which it fits: the run of all tasks, and the reboots."""
    return submission.nodes * submission.tasks * submission.truth[mode] + reboot_cost(submission, mode)


def second_mode(submission: Submission) -> str:
    """Where a job runs that died in the mode taken: the default if it fits there, else the cheapest in which it fits."""
    fitting = [mode for mode in MODES if submission.truth[mode] is not None and admits(submission, mode)]
    if submission.default in fitting:
        return submission.default
    return min(fitting, key=lambda mode: run_cost(submission, mode))


def always_default(submission: Submission) -> str:
    """The default mode; if --mem excludes it, the first of MODES that has the memory."""
    return next(mode for mode in (submission.default, *MODES) if admits(submission, mode))


def cost(submission: Submission, mode: str) -> float:
    """Node-seconds of taking this mode. One that --mem excludes is refused at once, and the job runs by always_default. A job
    that does not fit pays for the reboots, for DIES_AFTER of the seconds that its second run takes, and for the second run
    with its reboots, on the same state of the cluster."""
    if not admits(submission, mode):
        return cost(submission, always_default(submission))
    if submission.truth[mode] is not None:
        return run_cost(submission, mode)
    second = second_mode(submission)
    died = submission.nodes * submission.tasks * submission.truth[second] * DIES_AFTER
    return died + reboot_cost(submission, mode) + run_cost(submission, second)


def costs(submission: Submission) -> dict[str, float]:
    """Node-seconds of each mode."""
    return {mode: cost(submission, mode) for mode in MODES}


def oracle(submission: Submission) -> str:
    """The cheapest of the modes that --mem allows, for one who knows the truth; the default among equals."""
    allowed = [mode for mode in MODES if admits(submission, mode)]
    return min(allowed, key=lambda mode: (cost(submission, mode), mode != submission.default))


# Families and the truth about them.

def pick(rng: random.Random, shares: dict) -> str:
    return rng.choices(list(shares), list(shares.values()))[0]


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def family_memory(rng: random.Random) -> float:
    """MiB. 65 % fit DRAM easily, 15 % are around its size, 20 % need far more, to 1400 GiB. Shares assumed; [Weiland] table 5
    has 1735 GB on one node for CASTEP's DNA, and 1.2 TB is common in [Ren]."""
    size = pick(rng, {"fits": .65, "near": .15, "far": .20})
    if size == "fits":
        return bounded_lognormal(rng, 30, 1, 1, 150) * GIB
    return (rng.uniform(160, 230) if size == "near" else log_uniform(rng, 230, 1400)) * GIB


def shape(rng: random.Random) -> tuple[int, int, float]:
    """Nodes, tasks and seconds. 85 % are single jobs (assumed) with the sizes and run times of traces.single(); bursts have 10
    to 200 tasks with the sizes and run times of traces.bursty()."""
    if rng.random() < .85:
        return pick(rng, SIZES), 1, bounded_lognormal(rng, 2700, 1.2, 300, 43200)
    return rng.choice((1, 1, 2)), round(log_uniform(rng, 10, 200)), bounded_lognormal(rng, 900, .7, 300, 3600)


def family(rng: random.Random, number: int) -> Family:
    """12 % grow, by 1 to 4 % a run; memory varies by 1 to 4 % and seconds by 3 to 15 % from run to run. Assumed."""
    nodes, tasks, seconds = shape(rng)
    access, ask = pick(rng, ACCESS), pick(rng, ASKS)
    return Family(name=f"family{number}", user=f"user{int(rng.paretovariate(.8)) % 60}", nodes=nodes, tasks=tasks,
                  memory_mib=family_memory(rng), memory_noise=rng.uniform(.01, .04),
                  growth=1 + (rng.uniform(.01, .04) if rng.random() < .12 else 0), seconds=seconds,
                  noise=rng.uniform(.03, .15), access=access, slower=rng.uniform(*SLOWER[access]),
                  files_factor=rng.uniform(*FILES_FACTOR) if rng.random() < USES_FILES else 1.0,
                  between=rng.uniform(.3, .7), ask_factor=rng.uniform(*ASK_FACTOR[ask]) if ask in ASK_FACTOR else 0.0)


def memory_of_run(rng: random.Random, job: Family, number: int) -> int:
    """MiB. The first run to be decided has the number 0, the last one before it -1. None needs more than memory mode has."""
    memory = job.memory_mib * job.growth ** number * rng.lognormvariate(0, job.memory_noise)
    return round(min(memory, .97 * USABLE_MIB["memory"]))


def factor(job: Family, mode: str, memory_mib: float) -> float:
    """Seconds in the mode relative to DRAM without files in PMem. The cache is missed more the fuller it is (assumed: linear up
    to its size), conflicts of a direct-mapped cache come at any size. In memory mode there is no $PM_DIR."""
    filled = 1.0 if job.access == "conflicts" else min(1.0, memory_mib / CACHE_MIB)
    in_memory = 1 + job.slower * filled
    if mode == "memory":
        return in_memory
    return job.files_factor ** (1 - job.between) * in_memory ** job.between if mode == "mixed" else job.files_factor


def seconds_of_run(job: Family, mode: str, memory_mib: int, number: int) -> float:
    """Seconds without noise; the work grows as the memory does (assumed)."""
    return job.seconds * job.growth ** number * factor(job, mode, memory_mib)


def asked(job: Family, memory_mib: int) -> int | None:
    """MiB of --mem, at most what memory mode has: Slurm takes no more."""
    return min(math.ceil(memory_mib * job.ask_factor), USABLE_MIB["memory"]) if job.ask_factor else None


def fits(mode: str, memory_mib: float) -> bool:
    return memory_mib <= USABLE_MIB[mode]


# Histories.

def modes_tried(rng: random.Random, job: Family, default: str) -> list[str]:
    """In the order in which the user tried them. 15 % have no run yet; else 60, 32 and 8 % know one, two and three modes, and
    70 % begin with the site's default. Without one that fits, the user goes on to memory. Shares assumed."""
    count = int(pick(rng, {"0": .15, "1": .51, "2": .27, "3": .07}))
    others = [mode for mode in MODES if mode != default]
    rng.shuffle(others)
    order = [default, *others] if rng.random() < .7 else [*others, default]
    request = asked(job, round(job.memory_mib)) or 0
    tried = [mode for mode in order[:count] if fits(mode, request)]
    if count and not any(fits(mode, job.memory_mib) for mode in tried):
        tried.append("memory")
    return tried


def runs(rng: random.Random, job: Family, default: str) -> list[str]:
    """The modes of the runs so far, the oldest first: up to 8 of each mode tried, up to 2 where it does not fit. 70 % of users
    go from a mode to the next, the others back and forth (assumed)."""
    modes = [mode for tried in modes_tried(rng, job, default)
             for mode in [tried] * rng.randint(1, 8 if fits(tried, job.memory_mib) else 2)]
    if rng.random() < .3:
        rng.shuffle(modes)
    return modes


def noise(rng: random.Random, job: Family, mode: str, memory_mib: float) -> float:
    """A factor of the seconds. In memory mode it is large from the cache's size to 1.2 times it."""
    near = mode == "memory" and 1 <= memory_mib / CACHE_MIB <= 1.2
    return rng.lognormvariate(0, max(job.noise, NEAR_CACHE_NOISE) if near else job.noise)


def record(rng: random.Random, job: Family, mode: str, number: int) -> Record:
    """A run as it was; a record of an array is of one of its tasks."""
    memory_mib = memory_of_run(rng, job, number)
    seconds = seconds_of_run(job, mode, memory_mib, number) * noise(rng, job, mode, memory_mib)
    state = pick(rng, ENDS)
    after = rng.uniform(*ENDS_AFTER[state])
    if not fits(mode, memory_mib):
        return Record(mode, round(seconds * DIES_AFTER, 1), USABLE_MIB[mode], "OUT_OF_MEMORY")
    return Record(mode, round(seconds * after, 1), memory_mib, state)


def faulty(rng: random.Random, kept: Record, faults: Faults) -> Record:
    """The record with its faults. Draws as often whatever the shares are."""
    other, memory, sick = rng.random(), rng.random(), rng.random()
    times, another, none = log_uniform(rng, .1, 10), round(family_memory(rng)), rng.random() < .5
    seconds = kept.seconds * (times if other < faults.other_input else 1) * (SICK if sick < faults.sick_node else 1)
    memory_mib = (0 if none else another) if memory < faults.wrong_memory else kept.memory_mib
    return replace(kept, seconds=round(seconds, 1), memory_mib=memory_mib)


def with_faults(rng: random.Random, records: list[Record], faults: Faults) -> list[Record]:
    drawn = [(rng.random(), faulty(rng, kept, faults)) for kept in records]
    return [kept for missing, kept in drawn if missing >= faults.missing]


# Submissions.

def cluster_now(rng: random.Random, default: str) -> Cluster:
    """Half to four fifths of the nodes are in the default mode, the others anywhere; half to all of the nodes are busy; at one
    time in ten the site lets only half of the idle nodes reboot. 300 to 900 s a reboot. Assumed."""
    home, load = rng.uniform(.5, .8), rng.uniform(.5, 1)
    others = [mode for mode in MODES if mode != default]
    nodes = [(default if rng.random() < home else rng.choice(others), rng.random() >= load) for _ in range(NODES)]
    idle = {mode: nodes.count((mode, True)) for mode in MODES}
    divisor = 2 if rng.random() < .1 else 1
    return Cluster(in_mode={mode: idle[mode] + nodes.count((mode, False)) for mode in MODES}, idle=idle,
                   rebootable={mode: (sum(idle.values()) - idle[mode]) // divisor for mode in MODES},
                   reboot_s=rng.randint(300, 900))


def truth_of_run(rng: random.Random, job: Family, memory_mib: int, number: int) -> dict[str, float | None]:
    """Seconds by mode. One draw of noise for all modes: the oracle knows the modes, not the luck of a run."""
    luck = rng.lognormvariate(0, job.noise)
    return {mode: round(seconds_of_run(job, mode, memory_mib, number) * luck, 1) if fits(mode, memory_mib) else None
            for mode in MODES}


def submissions(seed: int, number: int, default: str, faults: Faults, held_out: int) -> Iterator[Submission]:
    """The held-out runs of one family, which follow its history; each sees the same history."""
    job = family(random.Random(f"{seed}|{number}|family"), number)
    past = random.Random(f"{seed}|{number}|past|{default}")
    modes = runs(past, job, default)
    records = [record(past, job, mode, run) for run, mode in enumerate(modes, -len(modes))]
    history = with_faults(random.Random(f"{seed}|{number}|faults|{default}"), records, faults)
    for ahead in range(held_out):
        now = random.Random(f"{seed}|{number}|run|{ahead}")
        memory_mib = memory_of_run(now, job, ahead)
        truth = truth_of_run(now, job, memory_mib, ahead)
        state = cluster_now(random.Random(f"{seed}|{number}|cluster|{ahead}|{default}"), default)
        yield Submission(job.name, job.user, history, asked(job, memory_mib), job.nodes, job.tasks, state, truth, default)


def trace(seed: int, families: int, default: str, faults: Faults = Faults(), held_out: int = 2) -> Iterator[Submission]:
    for number in range(families):
        yield from submissions(seed, number, default, faults, held_out)


def as_json(submission: Submission) -> dict:
    """The submission, the modes that --mem excludes, the costs in node-seconds, and both choices."""
    return asdict(submission) | {"excluded": [mode for mode in MODES if not admits(submission, mode)],
                                 "costs": {mode: round(value, 1) for mode, value in costs(submission).items()},
                                 "oracle": oracle(submission), "always_default": always_default(submission)}


def share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share from 0 to 1")
    return value


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Held-out submissions of job families, a JSON object a line.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--families", type=int, default=300)
    parser.add_argument("--held-out", type=int, default=2, help="submissions to be decided, of each family")
    parser.add_argument("--default", choices=MODES[:2], default="memory", help="the site's default mode")
    parser.add_argument("--faults", type=share, default=0, help="share of records with each fault")
    for name in asdict(Faults()):
        parser.add_argument("--" + name.replace("_", "-"), type=share, help="share of this fault, in place of --faults")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    args = arguments(argv)
    chosen = {name: getattr(args, name) for name in asdict(Faults())}
    faults = Faults(**{name: args.faults if value is None else value for name, value in chosen.items()})
    for submission in trace(args.seed, args.families, args.default, faults, args.held_out):
        print(json.dumps(as_json(submission)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
