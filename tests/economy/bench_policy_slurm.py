#!/usr/bin/python3 -B
"""Some hours of a trace on a real slurmctld with 64 slurmds, and in the simulator, side by side.

Each run is kept below --cache by its arguments; `make bench-policy-slurm` with the same arguments goes on with the first one
that is missing. Needs root. A run that is broken off leaves no process and no result.
"""

import argparse
import json
import signal
import sys
from pathlib import Path
from statistics import mean, median

from cluster import REBOOT_S
from policies import Policy, hold
from real_cluster import DAEMONS, Settings, play
from traces import MIXES
from window import Window, kept_window, simulate, timing, window

HOLD_MINUTES = {"plain": 0, "ours": 60}
SEEDS = 20  # of the simulated boots
START_S, CLEAN_S = 1.2, 0.5  # of the real clock: prologs and launch, epilogs


def policy_of(name: str, args: argparse.Namespace) -> Policy:
    if not HOLD_MINUTES[name]:
        return Policy(name)
    policy = hold(args.library, name, HOLD_MINUTES[name], 4, 2, 8, guarded=9)
    policy.rule.rule.lease_s *= args.speed
    return policy


def path_of(args: argparse.Namespace, what: str, suffix: str = "") -> Path:
    return args.cache / (f"{what}_{args.mix.replace('/', '-')}_{args.load}_seed{args.seed}_from{args.warm_up:g}h_{args.hours:g}h_"
                         f"x{args.speed}{suffix}")


def kept(args: argparse.Namespace, played: Window, name: str, repeat: int) -> dict:
    folder = path_of(args, f"{name}{repeat}")
    if not (folder / "result.json").exists():
        print(f"{args.mix}, load {args.load}, {name}, repeat {repeat}: {args.hours / args.speed * 60:.0f} min", file=sys.stderr,
              flush=True)
        settings = Settings(args.build, args.service, args.speed, HOLD_MINUTES[name], args.parent)
        play(settings, folder, played, seed=args.seed * 1000 + repeat)
    return json.loads((folder / "result.json").read_text())


def measured(played: Window, result: dict) -> dict:
    rows = [row for row in result["jobs"] if row["id"] >= played.carried]
    waits = [(row["begin_s"] if row["begin_s"] and row["begin_s"] < played.length_s else played.length_s) - row["submit_s"]
             for row in rows]
    return {"reboots": len(result["reboots"]), "wait_s": sum(waits) / max(1, len(waits)),
            "begun": sum(row["begin_s"] is not None for row in rows)}


def cost(result: dict, name: str) -> str:
    first, last = result["samples"][0], result["samples"][-1]
    seconds = last["at_s"] - first["at_s"]
    used = 100 * (last[name]["cpu_s"] - first[name]["cpu_s"]) / seconds
    half = result["samples"][len(result["samples"]) // 2]
    return (f"{name} {used:.2f} % of a core, {first[name]['rss_kib'] / 1024:.1f} MiB at the begin, "
            f"{half[name]['rss_kib'] / 1024:.1f} half way, {last[name]['rss_kib'] / 1024:.1f} at the end")


def of_seeds(results: list[dict], key: str, unit: float) -> str:
    values = [result[key] / unit for result in results]
    return f"{median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def off(real: float, simulated: list[float]) -> str:
    """In percent of the simulator's median."""
    middle = median(simulated)
    return f"{100 * (real - middle) / middle:+.0f} %" if middle else "-"


def boot_more_s(result: dict, speed: int) -> float:
    """What the host adds to the mean boot, in seconds of the real clock."""
    return max(0.0, mean(result["boots_s"]) - REBOOT_S / speed) if result["boots_s"] else 0.0


def print_policy(args: argparse.Namespace, played: Window, name: str) -> None:
    for repeat in range(1, args.repeats + 1):
        result = kept(args, played, name, repeat)
        real, more = measured(played, result), boot_more_s(result, args.speed)
        times = timing(args.speed, START_S, CLEAN_S, more)
        simulated = [simulate(played, policy_of(name, args), seed, times) for seed in range(SEEDS)]
        print(f"  {name:6} {repeat:3} {real['reboots']:9} {of_seeds(simulated, 'reboots', 1):>18} "
              f"{off(real['reboots'], [one['reboots'] for one in simulated]):>7} {real['wait_s'] / 60:9.1f} "
              f"{of_seeds(simulated, 'wait_s', 60):>18} {off(real['wait_s'], [one['wait_s'] for one in simulated]):>7} "
              f"{real['begun']:6} {of_seeds(simulated, 'begun', 1):>14}")
        loads = [row["load"] for row in result["samples"]]
        print(f"             boots {more:.0f} s longer than asked for, load of the host {mean(loads):.0f}, at most {max(loads):.0f}")
        for daemon in DAEMONS:
            print(f"             {cost(result, daemon)}", flush=True)


HEADER = ("                reboots,          simulator,             mean wait,         simulator,          begun,     simulator,\n"
          "  policy repeat    Slurm median (range)       off   min, Slurm     median (range)     off  Slurm  median (range)")


def stop(number: int, _frame) -> None:
    raise SystemExit(128 + number)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, required=True, help="controller/hold_rule.c as a shared object")
    parser.add_argument("--build", type=Path, required=True, help="the folder of the products")
    parser.add_argument("--service", type=Path, required=True, help="pm-controller with the rule's times of the faster clock")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--parent", type=Path, default="/var/lib", help="where the bench has its folder, see 'bench up --help'")
    parser.add_argument("--mix", choices=list(MIXES), default="70/20/10")
    parser.add_argument("--load", type=float, default=.8)
    parser.add_argument("--policy", choices=list(HOLD_MINUTES), action="append", help="both, unless it is given")
    parser.add_argument("--seed", type=int, default=1, help="of the trace")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--warm-up", type=float, default=24, metavar="HOURS", help="in the simulator, before the window")
    parser.add_argument("--hours", type=float, default=24, help="of the trace")
    parser.add_argument("--speed", type=int, default=12, choices=range(1, 13), metavar="N", help="times faster, at most 12")
    args = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    args.cache.mkdir(parents=True, exist_ok=True)
    played = kept_window(path_of(args, "window", ".json"), lambda: window(
        args.mix, args.load, args.seed, args.warm_up, args.hours, args.speed))
    print(f"{args.mix}, load {args.load}, seed {args.seed}, hours {args.warm_up:g} to {args.warm_up + args.hours:g}, "
          f"{args.speed} times faster: {len(played.jobs) - played.carried} jobs behind {played.carried} of the warm-up")
    print(HEADER)
    for name in args.policy or HOLD_MINUTES:
        print_policy(args, played, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
