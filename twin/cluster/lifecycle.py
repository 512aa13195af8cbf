"""up, down and build."""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

from cluster import payload, paths, slurm
from cluster.choose import chosen_state, running_state
from cluster.control import ask
from cluster.errors import TwinError, UsageError
from cluster.progress import Progress
from cluster.shape import Shape, saved, wanted
from cluster.state import State
from image import build as image_build
from image import cache, recipe

POLL_S = 0.4
STOP_LIMIT_S = 60.0


def build(arguments: argparse.Namespace) -> int:
    which = Shape(arguments.suite or recipe.DEFAULT_SUITE, packages=arguments.packages or (), plain=arguments.plain,
                  accounting=bool(arguments.accounting)).image
    with Progress() as progress:
        image = image_build.ensure(which, progress)
    print(image.directory)
    return 0


def up(arguments: argparse.Namespace) -> int:
    state = chosen_state(arguments)
    shape = wanted(arguments, state)
    if state.running():
        return already_up(arguments, state, shape)
    with Progress() as progress:
        if arguments.fresh:
            state.wipe()
        with cache.image(shape.image, progress) as image:
            remarks = start(state, shape, image, arguments.timeout, progress)
        seconds = progress.elapsed()
    tell_up(state, shape, seconds, remarks)
    return 0


def start(state: State, shape: Shape, image: image_build.Image, timeout_s: float, progress: Progress) -> list[str]:
    """Starts a twin from an image, and waits for its nodes; returns remarks on those that are not idle."""
    progress.step("programs: building and packing them for the guests")
    prepare(state, shape, image)
    progress.step(f"guests: starting head and {compute_nodes(shape)}")
    supervisor = start_supervisor(state, image)
    try:
        return slurm.wait_ready(state, progress, timeout_s, supervisor)
    except BaseException:
        stop(state, supervisor)
        raise


def already_up(arguments: argparse.Namespace, state: State, shape: Shape) -> int:
    if arguments.fresh or shape != saved(state):
        raise UsageError("the twin is up; `pmtwin down` comes first")
    with Progress() as progress:
        remarks = slurm.wait_ready(state, progress, arguments.timeout, None)
    tell_up(state, shape, None, remarks)
    return 0


def tell_up(state: State, shape: Shape, seconds: float | None, remarks: list[str]) -> None:
    after = f" after {seconds:.1f} s" if seconds is not None else ""
    for remark in remarks:
        print(f"pmtwin: {remark}", file=sys.stderr)
    print(f"twin is up{after}: {kind(shape)}, head and {compute_nodes(shape)}, in '{state.directory}'")


def kind(shape: Shape) -> str:
    """"trixie, accounting"."""
    return ", ".join([shape.suite, *(["plain"] if shape.plain else []), *(["accounting"] if shape.accounting else [])])


def compute_nodes(shape: Shape) -> str:
    return f"{shape.nodes} compute node{'s' if shape.nodes > 1 else ''}"


def prepare(state: State, shape: Shape, image: image_build.Image) -> None:
    """Prepares the supervisor's files. A guest's disk lies over the image, and is removed if the image is a new one."""
    state.create()
    settings = state.settings()
    if settings.get("image") not in (None, image.digest):
        for path in state.directory.glob("*/disk.img"):
            path.unlink()
        print("pmtwin: the image is a new one: the guests' disks start empty, DIMMs and /home stay", file=sys.stderr)
    state.save({**shape.settings(), "image": image.digest})
    payload.build(state, image, shape)


def start_supervisor(state: State, image: image_build.Image) -> subprocess.Popen:
    """Starts a process with a session of its own, so that it outlives this process and the terminal."""
    with open(state.log, "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-B", "-c", "from cluster.lifecycle import supervise; supervise()",
             str(state.directory), str(image.directory)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(paths.TWIN)})


def supervise() -> None:
    """Entry of the supervisor's process."""
    from pathlib import Path

    from cluster import supervisor
    directory, image = sys.argv[1:]
    supervisor.main(State(Path(directory)), image_build.Image(Path(image)))


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
