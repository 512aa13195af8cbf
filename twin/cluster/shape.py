"""The shape of a twin: `up` chooses it and keeps it in the twin's settings, so that the next `up` makes the same."""
from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from cluster.choose import check_suite
from cluster.errors import UsageError
from cluster.members import MAX_NODES
from cluster.state import State
from image import recipe

MAX_CORES = 16


@dataclass(frozen=True)
class Shape:
    """`nodes` compute nodes with two sockets of `cores` each; `packages` are in the guests beyond the recipe's.

    Guests of a `plain` twin have neither Slurm nor slurm-pmem. With `accounting` the head node runs slurmdbd and MariaDB.
    `kernel_options` are words of the compute nodes' kernel command line.
    """

    suite: str = recipe.DEFAULT_SUITE
    nodes: int = 2
    cores: int = 1
    packages: tuple[str, ...] = ()
    plain: bool = False
    accounting: bool = False
    kernel_options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= MAX_NODES:
            raise UsageError(f"cannot make {self.nodes} compute nodes, only 1 to {MAX_NODES}")
        if not 1 <= self.cores <= MAX_CORES:
            raise UsageError(f"cannot make sockets of {self.cores} cores, only of 1 to {MAX_CORES}")
        if self.plain and self.accounting:
            raise UsageError("plain guests have no Slurm that could account for jobs; leave out --plain or --accounting")

    @property
    def image(self) -> recipe.Suite:
        return recipe.suite(self.suite, recipe.with_accounting(self.packages, self.accounting), self.plain)

    def settings(self) -> dict[str, Any]:
        return {"suite": self.suite, "nodes": self.nodes, "cores": self.cores, "packages": self.packages,
                "plain": self.plain, "accounting": self.accounting, "kernel_options": self.kernel_options}


def saved(state: State) -> Shape:
    """The shape of an existing twin; the default one where there is none yet."""
    settings, default = state.settings(), Shape()
    return Shape(settings.get("suite", default.suite), settings.get("nodes", default.nodes),
                 settings.get("cores", default.cores), tuple(settings.get("packages", default.packages)),
                 settings.get("plain", default.plain), settings.get("accounting", default.accounting),
                 tuple(settings.get("kernel_options", default.kernel_options)))


def wanted(arguments: argparse.Namespace, state: State) -> Shape:
    """The shape that `up` is asked for; the rest is as last time. Suite, cores and plainness of an existing twin stay."""
    last = saved(state)
    if arguments.fresh:
        last = Shape(last.suite)
    else:
        check_suite(arguments, state)
        check_cores(arguments, state, last)
        check_plain(arguments, state, last)
    return Shape(arguments.suite or last.suite, or_last(arguments.nodes, last.nodes),
                 or_last(arguments.cores, last.cores), or_last(arguments.packages, last.packages),
                 arguments.plain or last.plain, or_last(arguments.accounting, last.accounting),
                 or_last(arguments.kernel_options, last.kernel_options))


def or_last(value: Any, last: Any) -> Any:
    return last if value is None else value


def check_cores(arguments: argparse.Namespace, state: State, last: Shape) -> None:
    """The nodes' hardware is made once."""
    if state.settings() and arguments.cores not in (None, last.cores):
        raise UsageError(f"the twin in '{state.directory}' has sockets of {last.cores} cores, not {arguments.cores}; "
                         "use another --dir, or --fresh to replace it")


def check_plain(arguments: argparse.Namespace, state: State, last: Shape) -> None:
    """Slurm is not removed again from the nodes of a twin."""
    if state.settings() and arguments.plain and not last.plain:
        raise UsageError(f"the twin in '{state.directory}' came with Slurm; use another --dir, or --fresh to replace it")
