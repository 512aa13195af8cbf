#!/usr/bin/python3
"""Submits the table of tests/lua/submissions.lua to a bench's slurmctld, in several ways: table.py BENCH LUA_TABLE WAY...

BENCH is the bench's command, LUA_TABLE a file with the lines of print_submissions.lua. Each WAY submits each row's job
held. Then slurmctld's job record is compared with the row, and the job is cancelled. Prints TAP, a line for each row
and WAY. Rows that need another user, a federation, or a field for which Slurm has no option are left out.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

OPTIONS = {"mode": "--pm-mode", "size": "--pm-size", "namespace": "--pm-namespace", "dram": "--pm-dram", "partition": "-p",
           "account": "-A", "qos": "--qos", "reservation": "--reservation", "features": "-C", "prefer": "--prefer",
           "comment": "--comment", "admin_comment": None, "time_limit": "--time", "mem": "--mem", "per_cpu": "--mem-per-cpu",
           "cpus_per_task": "-c", "ntasks_per_node": "--ntasks-per-node", "num_tasks": "-n"}
VARIABLES = {"PM_MODE", "PM_SIZE", "PM_NAMESPACE", "PM_DRAM"}

# Features of the bench's nodes in place of those of the table.
FEATURES = {"gpu": "rack1", "ssd": "rack2"}
# The user who submits on the bench in place of the table's user.
TABLE_USER, BENCH_USER = "carol", "nobody"


class Bench:
    def __init__(self, command: str):
        self.command = command
        self.conf = Path(Path(os.environ["PM_BENCH"]).read_text().strip()) / "etc/pmem.conf"
        self.plain = self.conf.read_text()

    def run(self, *words: str, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        return subprocess.run([self.command, *words], capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, **(variables or {})})

    def is_newer(self) -> bool:
        """Slurm 23.02 or later."""
        version = re.search(r"(\d+)\.(\d+)", self.run("sinfo", "--version").stdout)
        return version is not None and (int(version[1]), int(version[2])) >= (23, 2)

    def set_site(self, text: str) -> None:
        """In front of the bench's own lines, so that sentences name the table's lines."""
        new = self.conf.with_suffix(".new")
        new.write_text(text.replace(TABLE_USER, BENCH_USER) + "\n" + self.plain)
        new.rename(self.conf)

    def fields(self, job: str) -> dict[str, str]:
        shown = self.run("exec", "scontrol", "-o", "show", "job", job).stdout.splitlines()
        return dict(re.findall(r"(\w+)=(\S*)", shown[-1])) if shown else {}


def with_features(text: str) -> str:
    return re.sub(r"\w+", lambda word: FEATURES.get(word[0], word[0]), text)


def seconds(text: str) -> int:
    days, _, clock = text.rpartition("-")
    hours, minutes, rest = (int(word) for word in clock.split(":"))
    return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + rest


def arguments(job: dict) -> tuple[list[str], dict[str, str]] | None:
    """Options and variables; None: the job cannot be typed."""
    words, variables = ["-H", "-O"], {}
    for name, value in job.items():
        text = with_features(str(value)) if name in ("features", "prefer") else str(value)
        if name in VARIABLES:
            variables[name] = text
        elif name == "delay" and value % 60 == 0:
            words.append(f"--delay-boot={value // 60}")
        elif name == "max_nodes":
            words.append(f"--nodes=1-{text}")
        elif OPTIONS.get(name):
            words.append(f"{OPTIONS[name]}={text}" if OPTIONS[name].startswith("--") else OPTIONS[name] + text)
        elif not (name == "reservation" and text == ""):
            return None
    if re.search(r"[|]", job.get("features", "")):
        return None  # of a release that allows it
    return words, variables


def submit(bench: Bench, way: str, words: list[str], variables: dict[str, str]) -> tuple[str, str]:
    """The job's number, "" if it is refused, and what was said."""
    behind = ["--output=/dev/null", "--wrap=true"]
    line = {"sbatch": ["sbatch", "--parsable", *words, *behind],
            "none": ["sbatch", "--parsable", "--export=NONE", *words, *behind],
            "array": ["sbatch", "--parsable", "--array=1-3", *words, *behind],
            "het": ["sbatch", "--parsable", "--pm-mode=none", "-H", ":", *words, *behind]}[way]
    answer = bench.run(*line, variables=variables)
    said = answer.stdout + answer.stderr
    number = re.search(r"^\d+", answer.stdout, re.M)
    return (number[0] if number and answer.returncode == 0 else ""), said


def suits(way: str, site: str, job: dict, wanted: dict) -> bool:
    """False: with --wrap sbatch gives the first component, too, what the second one asks for, but for the mode."""
    return way != "het" or not ("prefer" in job or "Nonsense" in site or "=soon" in site and "refused" not in wanted)


def wrong(bench: Bench, way: str, job: dict, wanted: dict, number: str, said: str) -> str:
    """What is not as the row says; "" if all is."""
    lua = wanted.get("refused") or wanted.get("says")
    pattern = with_features(re.sub(r"%(.)", r"\\\1", lua or "")).replace(TABLE_USER, BENCH_USER)
    if pattern and not re.search(pattern.lstrip("^"), said, re.M):
        return f"said {said!r}, not {pattern!r}"
    if bool(number) == ("refused" in wanted):
        return f"status: {said!r}"
    if not number:
        return ""
    fields = bench.fields(number + "+1" if way == "het" else number)
    features = with_features(wanted.get("features", job.get("features", "(null)")))
    delay = wanted.get("delay", job.get("delay", 0) if isinstance(job.get("delay"), int) else 0)
    memory = wanted.get("mem", job.get("mem"))
    checks = {"Features": (fields.get("Features"), features), "DelayBoot": (seconds(fields["DelayBoot"]), delay),
              "OverSubscribe": (fields.get("OverSubscribe"), "NO" if "shared" in wanted else "OK")}
    if memory:
        checks["MinMemoryNode"] = (fields.get("MinMemoryNode"), f"{memory}M")
    bad = [f"{name} is {got!r}, not {right!r}" for name, (got, right) in checks.items() if got != right]
    return "; ".join(bad)


def main() -> int:
    command, table, *ways = sys.argv[1:]
    bench, count, failed, left_out = Bench(command), 0, 0, 0
    newer = bench.is_newer()
    for line in Path(table).read_text().splitlines():
        site, job, wanted = json.loads(line)
        wanted = wanted.get("newer", wanted) if newer else wanted
        typed = arguments(job)
        if typed is None or "clusters" in wanted or ("QOS=*" in site and "qos" not in job):  # here each job has a QOS
            left_out += 1
            continue
        bench.set_site(site)
        for way in (way for way in ways if suits(way, site, job, wanted)):
            number, said = submit(bench, way, *typed)
            fault = wrong(bench, way, job, wanted, number, said)
            if number:
                bench.run("exec", "scancel", number)
            count += 1
            failed += bool(fault)
            print(f"{'not ' * bool(fault)}ok {count} - {way} {' '.join(typed[0])} {typed[1] or ''} at {site!r} {fault}", flush=True)
    bench.set_site("")
    print(f"1..{count}\n# {left_out} rows are left out, {failed} have failed")
    return bool(failed)


if __name__ == "__main__":
    start = time.monotonic()
    status = main()
    print(f"# {time.monotonic() - start:.0f} s")
    sys.exit(status)
