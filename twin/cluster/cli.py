"""The command line of pmtwin."""
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Callable

from cluster import commands, gc, lifecycle
from cluster.errors import TwinError, UsageError
from cluster.qemu import kernel_options
from image.recipe import DEFAULT_SUITE, SUITES, package_names

LOST_STATUS = 125

DESCRIPTION = "An emulated Slurm cluster with persistent memory in its compute nodes. Needs neither root nor KVM."
EPILOG = """\
A twin lives in a directory: --dir, PMTWIN_DIR, or ~/.local/state/slurm-pmem/twin-SUITE. Several run side by side.
Exit codes: 0 done, 1 failed, 2 usage; exec and run pass their command's on and use 125 for a failure of their own."""


class Parser(argparse.ArgumentParser):
    """Reports a usage error in one sentence."""

    def error(self, message: str) -> Any:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def build_parser() -> Parser:
    parser = Parser(prog="pmtwin", description=DESCRIPTION, epilog=EPILOG,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, help="the twin's directory")
    parser.add_argument("--suite", help=f"Debian release of the guests: {', '.join(SUITES)} (default {DEFAULT_SUITE})")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=Parser)
    add_life(verbs)
    add_commands(verbs)
    add_watching(verbs)
    add_power(verbs)
    return parser


def verb(verbs: Any, name: str, call: Callable[[argparse.Namespace], int], text: str) -> Parser:
    parser = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(call=call)
    return parser


def suite_option(parser: Parser) -> None:
    parser.add_argument("--suite", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def packages_option(parser: Parser, default: str) -> None:
    parser.add_argument("--packages", type=package_names, metavar="A,B",
                        help=f"Debian packages in the guests besides the usual ones (default: {default})")


def plain_option(parser: Parser) -> None:
    parser.add_argument("--plain", action="store_true",
                        help="guests without Slurm and slurm-pmem; apt in them finds what the usual ones have in a repository")


def accounting_option(parser: Parser, default: str) -> None:
    parser.add_argument("--accounting", action=argparse.BooleanOptionalAction,
                        help=f"Slurm's accounting: slurmdbd and MariaDB on the head node (default: {default})")


def add_life(verbs: Any) -> None:
    up = verb(verbs, "up", lifecycle.up,
              "start the twin and wait until all compute nodes are idle in Slurm (of a plain twin: have booted)")
    up.add_argument("--nodes", type=int, metavar="N", help="number of compute nodes (default: as last time, or 2)")
    up.add_argument("--cores", type=int, metavar="N",
                    help="cores of each of a compute node's two sockets (default: as last time, or 1)")
    packages_option(up, "as last time, or none")
    accounting_option(up, "as last time, or off")
    up.add_argument("--kernel-options", type=kernel_options, metavar="'A B=C'",
                    help="options of the compute nodes' kernels, in place of pmtwin's own of the same names "
                         "(default: as last time, or none)")
    plain_option(up)
    up.add_argument("--fresh", action="store_true", help="throw DIMMs, disks and Slurm's state of the last time away")
    up.add_argument("--timeout", type=float, default=300, metavar="S", help="give up after S seconds (default 300)")
    suite_option(up)
    down = verb(verbs, "down", lifecycle.down, "power the guests off; DIMMs, disks and Slurm's state stay")
    suite_option(down)
    build = verb(verbs, "build", lifecycle.build, "build the guests' image, if the cache does not hold it")
    packages_option(build, "none")
    accounting_option(build, "off")
    plain_option(build)
    suite_option(build)
    collect = verb(verbs, "gc", gc.gc, "remove images from the cache that no twin uses and that up would not use again")
    collect.add_argument("--dry-run", action="store_true", help="say what would be removed, and remove nothing")
    suite_option(collect)


def add_commands(verbs: Any) -> None:
    execute = verb(verbs, "exec", commands.execute, "run a command as root on a node")
    execute.add_argument("--wait", type=float, default=0, metavar="S", help="wait up to S seconds for the node")
    execute.add_argument("node", metavar="NODE")
    execute.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD")
    run = verb(verbs, "run", commands.run, "run a command as an ordinary user on the head node")
    run.add_argument("--user", default="user1", help="user1 or user2 (default user1)")
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD")
    copy = verb(verbs, "copy", commands.copy, "copy a file or directory; NODE:PATH names one in a guest")
    copy.add_argument("--user", help="who writes it in the guest (default: the owner of the home it is in, else root)")
    copy.add_argument("source", metavar="SRC")
    copy.add_argument("target", metavar="DST")


def add_watching(verbs: Any) -> None:
    status = verb(verbs, "status", commands.status, "show the guests and what Slurm thinks of them")
    status.add_argument("--json", action="store_true")
    logs = verb(verbs, "logs", commands.logs, "show a node's console, with the journal of its services")
    logs.add_argument("--follow", action="store_true")
    logs.add_argument("node", metavar="NODE")
    events = verb(verbs, "events", commands.events, "show what supervisor and firmware did, with times")
    events.add_argument("--follow", action="store_true")
    events.add_argument("--json", action="store_true")


def add_power(verbs: Any) -> None:
    cycle = verb(verbs, "power-cycle", commands.power_cycle, "cut a node's power and give it back")
    cycle.add_argument("--wait", type=float, default=0, metavar="S", help="wait up to S seconds for its services")
    cycle.add_argument("node", metavar="NODE")
    inject = verb(verbs, "inject", commands.inject,
                  "give a node's firmware a fault, which stays until FAULT is 'none'; boot-hang needs a power-cycle then")
    inject.add_argument("--once", action="store_true", help="for the next POST only")
    inject.add_argument("node", metavar="NODE")
    inject.add_argument("fault", metavar="FAULT", help="goal-rejected, goal-ignored, boot-hang, ... or none")


def main(argv: list[str]) -> int:
    code = 1
    try:
        arguments = build_parser().parse_args(argv)
        if arguments.verb in ("exec", "run"):
            code = LOST_STATUS
        return arguments.call(arguments)
    except TwinError as error:
        print(f"pmtwin: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except KeyboardInterrupt:
        print("pmtwin: interrupted", file=sys.stderr)
        return 130
