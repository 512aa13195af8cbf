#!/usr/bin/python3 -B
"""Reboots and waits under several policies, as ratios to plain helpers: a table of medians over seeds.

Each simulation is kept, by its arguments and the programs' contents, so that a second run prints the table at once.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from statistics import median

from cluster import Cluster
from policies import Policy, policies
from traces import MIXES, NODES, trace

LOADS = (.6, .8, .95)
SOURCES = ("traces.py", "cluster.py", "rule.py")


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))] if values else 0.0


def simulate(mix: str, load: float, seed: int, policy: Policy) -> dict:
    jobs = trace(mix, load, seed)
    cluster = Cluster(jobs, policy, seed)
    cluster.run()
    span = max(job.submit for job in jobs)
    return {"boots": cluster.boots, "wait_s": sum(job.begin - job.submit for job in jobs) / len(jobs), "jobs": len(jobs),
            "lost": sum((job.begin - job.allocated) * job.nodes for job in jobs) / (NODES * span),
            "held": sum(job.first_held > 0 for job in jobs), "updates_per_hour": cluster.updates / span * 3600,
            "longest_hold_s": cluster.longest_hold,
            "to_start_99_s": percentile([job.allocated - job.first_held for job in jobs if job.first_held], .99)}


def programs(library: Path) -> str:
    sources = [Path(__file__).with_name(name) for name in SOURCES]
    return hashlib.sha256(b"".join(path.read_bytes() for path in (*sources, library))).hexdigest()[:16]


def settings(policy: Policy) -> str:
    rule = [getattr(policy.rule.rule, name) for name, _ in policy.rule.rule._fields_] if policy.rule else []
    return f"{policy.name} {policy.delay} {policy.partition} {policy.weights} {rule}"


def kept(args: argparse.Namespace, mix: str, load: float, seed: int, policy: Policy) -> dict:
    name = hashlib.sha256(f"{args.programs} {mix} {load} {seed} {settings(policy)}".encode()).hexdigest()[:24]
    path = args.cache / f"{name}.json"
    if not path.exists():
        print(f"simulating {mix}, load {load}, seed {seed}, {policy.name}", file=sys.stderr, flush=True)
        result = simulate(mix, load, seed, policy)
        path.with_suffix(".new").write_text(json.dumps(result))
        path.with_suffix(".new").rename(path)
    return json.loads(path.read_text())


def check(policy: Policy, result: dict) -> None:
    rule = policy.rule and policy.rule.rule
    if rule and result["longest_hold_s"] > rule.most_s + rule.lease_s:
        raise SystemExit(f"bench-policy: '{policy.name}' has held a job for {result['longest_hold_s']:.0f} s, "
                         f"of at most {rule.most_s + rule.lease_s:.0f}")


def row(name: str, results: list[dict], plain: list[dict]) -> str:
    def ratio(key: str) -> float:
        return median(result[key] / max(base[key], 1e-9) for result, base in zip(results, plain))

    def middle(key: str) -> float:
        return median(result[key] for result in results)

    return (f"  {name:16}{ratio('boots'):8.2f}{ratio('wait_s'):8.2f}{middle('boots'):9.0f}{middle('wait_s') / 60:9.0f}"
            f"{100 * middle('lost'):8.1f}{middle('held') / middle('jobs'):8.2f}{middle('longest_hold_s') / 60:9.0f}"
            f"{middle('to_start_99_s') / 60:9.0f}{middle('updates_per_hour'):10.0f}")


HEADER = ("                      to plain                  mean  boots,    jobs  longest held to   updates\n"
          "                 reboots    wait  reboots wait min       %    held hold min 99 % min  an hour")


def print_cell(args: argparse.Namespace, mix: str, load: float, wanted: list[Policy]) -> None:
    results = {}
    for policy in wanted:
        results[policy.name] = [kept(args, mix, load, seed, policy) for seed in range(1, args.seeds + 1)]
        for result in results[policy.name]:
            check(policy, result)
    print(f"{mix}, load {load}, medians of {args.seeds} seeds")
    for policy in wanted:
        print(row(policy.name, results[policy.name], results["plain"]), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, required=True, help="controller/hold_rule.c as a shared object")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--mix", action="append", choices=list(MIXES), help="may be given again; all, unless it is given")
    parser.add_argument("--policy", action="append", help="beside plain; may be given again; all, unless it is given")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    args.programs = programs(args.library)
    wanted = [policy for policy in policies(args.library) if policy.name == "plain" or policy.name in (args.policy or [policy.name])]
    print(HEADER)
    for mix in args.mix or MIXES:
        for load in LOADS:
            print_cell(args, mix, load, wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
