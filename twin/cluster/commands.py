"""exec, run, status, logs, events, power-cycle and inject."""
from __future__ import annotations

import argparse
import json
import sys
import time

from cluster import control, events as event_log, slurm
from cluster.choose import check_node, running_state
from cluster.control import ask
from cluster.copying import copy
from cluster.errors import UsageError
from cluster.state import State

__all__ = ["copy", "events", "execute", "inject", "logs", "power_cycle", "run", "status"]

USERS = ("user1", "user2")
COLUMNS = ("NODE", "POWER", "FOR", "BOOTS", "SLURM", "FEATURES", "FAULT")


def words(arguments: argparse.Namespace) -> list[str]:
    """The command behind `--`."""
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise UsageError(f"{arguments.verb} needs a command: pmtwin {arguments.verb} ... -- CMD [ARGUMENT...]")
    return command


def execute(arguments: argparse.Namespace) -> int:
    command = words(arguments)
    state = running_state(arguments)
    check_node(state, arguments.node)
    if arguments.wait:
        ask(state, "wait", node=arguments.node, seconds=arguments.wait, ready=False)
    return control.run(state, arguments.node, command)


def run(arguments: argparse.Namespace) -> int:
    command = words(arguments)
    if arguments.user not in USERS:
        raise UsageError(f"no user '{arguments.user}', there are: {', '.join(USERS)}")
    return control.run(running_state(arguments), "head", command, user=arguments.user, login=True)


def status(arguments: argparse.Namespace) -> int:
    state = running_state(arguments)
    if not state.running():
        print(json.dumps({"up": False, "directory": str(state.directory)}) if arguments.json else
              f"twin is down; its state is in '{state.directory}'")
        return 1
    guests = ask(state, "status")["nodes"]
    known = slurm.nodes(state) if guests[0]["agent"] else {}
    for guest in guests:
        row = known.get(guest["name"])
        guest["slurm"] = row and {"state": row.state, "features": row.features.strip("(null)"), "reason": row.reason}
    if arguments.json:
        print(json.dumps({"up": True, "directory": str(state.directory), **state.settings(), "nodes": guests}))
    else:
        print_table(state, guests)
    return 0


def print_table(state: State, guests: list[dict]) -> None:
    rows = [COLUMNS, *(row(g) for g in guests)]
    widths = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
    print(f"twin is up: {state.settings()['suite']}, '{state.directory}'")
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip())
    for guest in guests:
        if guest["slurm"] and guest["slurm"]["reason"] != slurm.NO_REASON:
            print(f"{guest['name']}: {guest['slurm']['reason']}")


def row(guest: dict) -> tuple[str, ...]:
    power = guest["power"] if guest["power"] != "on" else "on" if guest["ready"] else "booting"
    known = guest["slurm"] or {"state": "-", "features": "-"}
    fault = guest["fault"] or "-"
    return (guest["name"], power, f"{time.time() - guest['since']:.0f} s", str(guest["boots"]), known["state"],
            known["features"] or "-", f"{fault} (once)" if guest["fault_once"] else fault)


def logs(arguments: argparse.Namespace) -> int:
    state = running_state(arguments)
    check_node(state, arguments.node)
    for line in event_log.lines(state.directory / arguments.node / "console.log", arguments.follow):
        sys.stdout.write(line.replace("\r", ""))
        sys.stdout.flush()
    return 0


def events(arguments: argparse.Namespace) -> int:
    for event in event_log.read(running_state(arguments).events, arguments.follow):
        print(json.dumps(event) if arguments.json else event_log.format_event(event), flush=True)
    return 0


def power_cycle(arguments: argparse.Namespace) -> int:
    state = running_state(arguments)
    check_node(state, arguments.node)
    ask(state, "power-cycle", node=arguments.node)
    if arguments.wait:
        ask(state, "wait", node=arguments.node, seconds=arguments.wait, ready=True)
    return 0


def inject(arguments: argparse.Namespace) -> int:
    state = running_state(arguments)
    check_node(state, arguments.node)
    ask(state, "inject", node=arguments.node, fault=arguments.fault, once=arguments.once)
    return 0
