"""The command line of pmmeter."""
from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import tempfile
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any, Sequence

from meter import guest, program, time_model
from meter.errors import MeterError

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
DESCRIPTION = "Counts what programs load from memory and store to it, by an emulator, whatever they say of themselves."
EPILOG = """\
Counting takes 50 to 200 times as long as the program. The plugins are made by `make meter`.
Exit codes: the counted command's; 125 for a failure of pmmeter itself, 2 for wrong usage."""
OWN_FAILURE = 125


def size(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is no size: write 512K, 64M or 1G")
    return int(found[1]) * UNITS[found[2]]


def cache(text: str) -> str:
    found = re.fullmatch(r"(\d+[KMG]?):([1-9]\d*)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is no cache: write its size and ways, as 1M:16")
    lines, ways = size(found[1]) // 64, int(found[2])
    sets = lines // ways
    if not sets or sets & (sets - 1) or sets * ways * 64 != size(found[1]):
        raise argparse.ArgumentTypeError(f"'{text}': {found[1]} in {ways} ways are not a power of two lines of 64 bytes in each way")
    return f"{size(found[1])}:{ways}"


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="pmmeter", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--build", type=Path, default=Path(__file__).resolve().parents[2] / "build", help="where `make meter` has made the plugins")
    verbs = found.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    one = verbs.add_parser("program", help="count a program's objects", description="Counts the traffic of each object and call site of a program.")
    one.add_argument("--cache", type=cache, default=program.Caches.last, metavar="SIZE:WAYS", help="the last-level cache (512K:8)")
    one.add_argument("--first", type=cache, default=program.Caches.first, metavar="SIZE:WAYS", help="the first-level cache (48K:12)")
    one.add_argument("--epoch", type=int, default=2000000, metavar="N", help="accesses in an epoch of accessed pages (2000000)")
    one.add_argument("--least", type=size, default=4096, metavar="SIZE", help="smaller objects are counted together (4K)")
    one.add_argument("--out", type=Path, metavar="FILE", help="write the table of objects as CSV")
    all_ = verbs.add_parser("guest", help="count a guest's NUMA nodes", description="Boots a guest that runs a command on the host's files, "
                            "and counts its traffic by socket, NUMA node and maker. Nodes 0 and on are DRAM, one a socket; those behind them stand for PMem.")
    all_.add_argument("--sockets", type=int, choices=(1, 2, 4), default=2, help="sockets, of one processor each (2)")
    all_.add_argument("--dram", type=size, default=256 << 20, metavar="SIZE", help="of each socket (256M)")
    all_.add_argument("--pmem", type=size, default=512 << 20, metavar="SIZE", help="of each socket (512M)")
    all_.add_argument("--cache", type=cache, default=guest.Machine.cache, metavar="SIZE:WAYS", help="the last-level cache of each socket (1M:16)")
    all_.add_argument("--memory-mode", type=size, default=0, metavar="SIZE", help="the nodes are PMem, and SIZE of DRAM caches each")
    all_.add_argument("--folder", type=Path, help="a folder that the command may write to, as /mnt (a new one)")
    for one_verb in (one, all_):
        one_verb.add_argument("--marks", action="store_true", help="count between the marks of twin/meter/instructions.h only")
        one_verb.add_argument("--json", action="store_true", help="print JSON")
        one_verb.add_argument("command", nargs=argparse.REMAINDER, metavar="[--] COMMAND...", help="the command and its arguments")
    predict = verbs.add_parser("predict", help="predict the time of traffic", description="Predicts the time on a node with two sockets and Optane.")
    for name in ("dram", "pmem-read", "pmem-written"):
        predict.add_argument(f"--{name}", type=size, default=0, metavar="SIZE", help="bytes behind the caches")
    predict.add_argument("--json", action="store_true", help="print JSON")
    return found


def command_of(arguments: argparse.Namespace) -> list[str]:
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise MeterError("there is no command to count: write it behind --")
    return command


def traffic_of(row: dict[str, int]) -> dict[str, int]:
    return {"loaded_bytes": row["rawr"], "stored_bytes": row["raww"], "read_bytes": 64 * (row["fillr"] + row["fillw"]),
            "written_bytes": 64 * row["wb"] + row["nt"]}


def by_site(objects: list[dict[str, int]]) -> list[dict[str, Any]]:
    sites: dict[int, dict[str, Any]] = defaultdict(lambda: {"objects": 0, "bytes": 0, **dict.fromkeys(traffic_of(defaultdict(int)), 0)})
    for row in objects:
        site = sites[row["site"]]
        site["objects"] += 1
        site["bytes"] += row["size"]
        for name, value in traffic_of(row).items():
            site[name] += value
    rows = [{"site": f"{key:016x}", **site} for key, site in sites.items()]
    return sorted(rows, key=lambda row: -row["read_bytes"] - row["written_bytes"])


def show(rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        return
    names = list(rows[0])
    table = [[name.removesuffix("_bytes") for name in names], *([str(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(names))]
    for line in table:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)))


def count_program(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        out = arguments.out or Path(folder) / "table"
        status = program.count(command_of(arguments), arguments.build / "meter", out, program.Caches(arguments.cache, arguments.first),
                               arguments.epoch, arguments.least, arguments.marks, frames=8)
        others, objects = program.read(out)
    sites = by_site(objects)
    if arguments.json:
        print(json.dumps({"status": status, "others": traffic_of(others), "sites": sites}, indent=1))
    else:
        show([*sites, {"site": "no object", "objects": "-", "bytes": "-", **traffic_of(others)}])
    return status


def count_guest(arguments: argparse.Namespace) -> int:
    machine = guest.Machine(arguments.sockets, arguments.dram, 0 if arguments.memory_mode else arguments.pmem, arguments.cache, arguments.memory_mode)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        found = guest.run(machine, command_of(arguments), folder, arguments.build / "meter", marks=arguments.marks)
    sys.stderr.write(found.stderr)
    if arguments.json:
        print(json.dumps({"status": found.status, "stdout": found.stdout, "regions": found.regions}, indent=1))
        return found.status
    sys.stdout.write(found.stdout)
    for region in found.regions:
        print(f"region {region['region']}")
        show(region["traffic"])
        show(region["memory_mode"])
    return found.status


def predict(arguments: argparse.Namespace) -> int:
    found = time_model.predict(time_model.Traffic(arguments.dram, arguments.pmem_read, arguments.pmem_written))
    if arguments.json:
        print(json.dumps(asdict(found), indent=1))
        return 0
    low, high = found.random_seconds
    print(f"{found.seconds:.4g} s for streams, within {100 * found.error:.0f} % on what the model is fitted to and {100 * found.error_elsewhere:.0f} % elsewhere; "
          f"{low:.3g} to {high:.3g} s a core for random access")
    return 0


def main(argv: Sequence[str]) -> int:
    arguments = parser().parse_args(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))     # and what is running is cleaned up
    calls = {"program": count_program, "guest": count_guest, "predict": predict}
    try:
        return calls[arguments.verb](arguments)
    except MeterError as error:
        print(f"pmmeter: {error}", file=sys.stderr)
        return OWN_FAILURE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OWN_FAILURE
