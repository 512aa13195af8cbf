"""up, down and build."""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

from cluster import payload, paths, slurm
from cluster.choose import chosen_state, chosen_suite, running_state
from cluster.control import ask
from cluster.errors import TwinError, UsageError
from cluster.members import MAX_NODES, members
from cluster.progress import Progress
from cluster.state import State
from image import build as image_build
from image import recipe

DEFAULT_NODES = 2
POLL_S = 0.4
STOP_LIMIT_S = 60.0


def build(arguments: argparse.Namespace) -> int:
    which = recipe.suite(arguments.suite or recipe.DEFAULT_SUITE)
    with Progress() as progress:
        image = image_build.ensure(which, progress)
    print(image.directory)
    return 0


def up(arguments: argparse.Namespace) -> int:
    state = chosen_state(arguments)
    suite = chosen_suite(arguments, state)
    nodes = wanted_nodes(arguments, state)
    if state.running():
        return already_up(arguments, state, nodes)
    with Progress() as progress:
        if arguments.fresh:
            state.wipe()
        image = image_build.ensure(recipe.suite(suite), progress)
        progress.step("programs: building and packing them for the guests")
        prepare(state, suite, nodes, image)
        progress.step(f"guests: starting head and {nodes} compute node{'s' if nodes > 1 else ''}")
        supervisor = start_supervisor(state, image, nodes)
        try:
            remarks = slurm.wait_ready(state, progress, arguments.timeout, supervisor)
        except BaseException:
            stop(state, supervisor)
            raise
        seconds = progress.elapsed()
    tell_up(state, suite, nodes, seconds, remarks)
    return 0


def already_up(arguments: argparse.Namespace, state: State, nodes: int) -> int:
    if arguments.fresh or nodes != state.settings()["nodes"]:
        raise UsageError("the twin is up; `pmtwin down` comes first")
    with Progress() as progress:
        remarks = slurm.wait_ready(state, progress, arguments.timeout, None)
    tell_up(state, state.settings()["suite"], nodes, None, remarks)
    return 0


def tell_up(state: State, suite: str, nodes: int, seconds: float | None, remarks: list[str]) -> None:
    after = f" after {seconds:.1f} s" if seconds is not None else ""
    for remark in remarks:
        print(f"pmtwin: {remark}", file=sys.stderr)
    print(f"twin is up{after}: {suite}, head and {nodes} compute nodes, in '{state.directory}'")


def wanted_nodes(arguments: argparse.Namespace, state: State) -> int:
    existing = state.settings().get("nodes") if state.exists() and not arguments.fresh else None
    nodes = arguments.nodes if arguments.nodes is not None else existing or DEFAULT_NODES
    if not 1 <= nodes <= MAX_NODES:
        raise UsageError(f"cannot make {nodes} compute nodes, only 1 to {MAX_NODES}")
    return nodes


def prepare(state: State, suite: str, nodes: int, image: image_build.Image) -> None:
    """Everything that the supervisor needs. Guests' disks do not outlive the image that they lie over."""
    state.create()
    settings = state.settings()
    if settings.get("image") not in (None, image.digest):
        for path in state.directory.glob("*/disk.img"):
            path.unlink()
        print("pmtwin: the image is a new one: the guests' disks start empty, DIMMs and /home stay", file=sys.stderr)
    state.save({"suite": suite, "nodes": nodes, "image": image.digest})
    payload.build(state, image, suite, members(nodes))


def start_supervisor(state: State, image: image_build.Image, nodes: int) -> subprocess.Popen:
    """A process of its own session, so that neither our end nor the terminal's reaches it."""
    with open(state.log, "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-B", "-c", "from cluster.lifecycle import supervise; supervise()",
             str(state.directory), str(image.directory), str(nodes)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(paths.TWIN)})


def supervise() -> None:
    """Entry of the supervisor's process."""
    from pathlib import Path

    from cluster import supervisor
    directory, image, nodes = sys.argv[1:]
    supervisor.main(State(Path(directory)), image_build.Image(Path(image)), int(nodes))


def down(arguments: argparse.Namespace) -> int:
    state = running_state(arguments)
    if not state.running():
        print("twin is down already")
        return 0
    with Progress() as progress:
        progress.step("guests: powering off")
        stop(state, None)
    print("twin is down")
    return 0


def stop(state: State, supervisor: subprocess.Popen | None) -> None:
    """Orders the supervisor to end, and waits for it."""
    try:
        ask(state, "stop")
    except TwinError:
        if supervisor:
            supervisor.terminate()
    end = time.monotonic() + STOP_LIMIT_S
    while state.running():
        if time.monotonic() > end:
            raise TwinError(f"the supervisor, process {state.supervisor_pid()}, did not end within {STOP_LIMIT_S:.0f} s; "
                            f"see '{state.log}'")
        time.sleep(0.1)
    if supervisor:
        supervisor.wait()
