"""Finds the twin that a command is for."""
from __future__ import annotations

import argparse
import os
from pathlib import Path

from cluster import paths
from cluster.errors import TwinError, UsageError
from cluster.state import State
from image import recipe


def chosen_state(arguments: argparse.Namespace) -> State:
    """From --dir, PMTWIN_DIR, or the default place for --suite."""
    if arguments.suite:
        recipe.suite(arguments.suite)
    directory = arguments.dir or os.environ.get("PMTWIN_DIR")
    if directory:
        return State(Path(directory).absolute())
    return State(paths.default_state(arguments.suite or recipe.DEFAULT_SUITE))


def check_suite(arguments: argparse.Namespace, state: State) -> None:
    """Asking for another suite than an existing twin's is an error."""
    existing = state.settings().get("suite")
    if existing and arguments.suite and arguments.suite != existing:
        raise UsageError(f"the twin in '{state.directory}' runs {existing}, not {arguments.suite}; "
                         "use another --dir, or --fresh to replace it")


def running_state(arguments: argparse.Namespace) -> State:
    state = chosen_state(arguments)
    if not state.exists():
        raise TwinError(f"there is no twin in '{state.directory}'; `pmtwin up` makes one")
    check_suite(arguments, state)
    return state


def member_names(state: State) -> list[str]:
    return ["head", *(f"n{i}" for i in range(1, state.settings().get("nodes", 0) + 1))]


def check_node(state: State, name: str) -> None:
    """For commands that also work on a twin that is down; the supervisor checks names itself."""
    names = member_names(state)
    if name not in names:
        raise UsageError(f"no node '{name}', there are: {', '.join(names)}")
