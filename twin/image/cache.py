"""The images in the cache: an image can be removed if no process holds it and no recipe makes it any more.

A user of an image holds it by a shared lock on its directory, for as long as it needs the files, and builds its own programs
in build-SUITE-DIGEST beside. A directory with a leading dot in its name is half an image: a build is at work, which has its
release's lock, or a build or a removal was killed.
"""
from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from cluster import paths
from cluster.errors import TwinError, UsageError
from cluster.progress import Progress
from image import build, recipe

NAME = re.compile("(?P<suite>.+)-[0-9a-f]{16}")
NOW = fcntl.LOCK_EX | fcntl.LOCK_NB


@contextmanager
def held(directory: Path, how: int = fcntl.LOCK_SH) -> Iterator[bool]:
    """Whether the lock was got and the directory is still there: another process may have removed it meanwhile."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        yield locked(descriptor, how) and is_at(descriptor, directory)
    finally:
        os.close(descriptor)


def locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    return True


def is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


@contextmanager
def image(which: recipe.Suite, progress: Progress) -> Iterator[build.Image]:
    """The image of a recipe, built if need be; no process removes it before the context ends."""
    while True:
        found = build.ensure(which, progress)
        with held(found.directory) as there:
            if there:
                yield found
                return


def suite_of(path: Path) -> str | None:
    """The suite of an image, of half an image, or of programs; None for any other directory."""
    match = NAME.fullmatch(path.name.removeprefix("build-"))
    return match["suite"] if match else path.name[1:].rpartition("-")[0] if path.name.startswith(".") else None


def directories(parent: Path, suite: str | None) -> list[Path]:
    """The directories of one release or of all, the newest first."""
    found = [path for path in parent.iterdir() if path.is_dir()] if parent.is_dir() else []
    wanted = [path for path in found if suite_of(path) and suite in (None, suite_of(path))]
    return sorted(wanted, key=lambda path: path.stat().st_mtime, reverse=True)


def removable(suite: str | None = None) -> list[Path]:
    """Images that no recipe makes any more, except the newest of each release; half images; programs without an image."""
    known = directories(paths.images(), suite)
    whole = [path for path in known if not is_half(path)]
    newest = {suite_of(path): path for path in reversed(whole)}.values()
    old = [path for path in whole if path not in newest and not is_of_now(path)]
    programs = [path for path in directories(paths.cache(), suite) if not image_of(path).exists()]
    return old + [path for path in known if is_half(path)] + programs


def is_half(path: Path) -> bool:
    return path.name.startswith(".")


def is_of_now(directory: Path) -> bool:
    """Whether the recipe as it is now, with this image's arguments, makes the same image."""
    suite, asked = suite_of(directory), directory / build.ASKED
    try:
        words = json.loads(asked.read_text(encoding="utf-8")) if asked.exists() else {}
        return directory.name == f"{suite}-{recipe.digest(recipe.suite(suite, **words))}"
    except UsageError:
        return False


def programs_of(directory: Path) -> Path:
    return paths.cache() / f"build-{directory.name}"


def image_of(programs: Path) -> Path:
    return paths.images() / programs.name.removeprefix("build-")


@contextmanager
def unused(path: Path) -> Iterator[bool]:
    """Whether no process uses it, or can use it while the context lasts: an image is made under its release's lock only."""
    if path.parent == paths.images() and not is_half(path):
        with held(path, NOW) as free:
            yield free
        return
    with open(paths.images() / f"{suite_of(path)}.lock", "w", encoding="ascii") as lock:
        yield locked(lock.fileno(), NOW) and (is_half(path) or not image_of(path).exists())


def size_bytes(path: Path) -> int:
    """Bytes that its removal frees, with an image's programs: blocks, not lengths, since images have holes."""
    walks = [os.walk(top) for top in (path, programs_of(path))]
    stats = [os.lstat(os.path.join(top, name)) for walk in walks for top, _, files in walk for name in files]
    return sum({(s.st_dev, s.st_ino): s.st_blocks * 512 for s in stats}.values())


def remove(path: Path) -> None:
    """Renames an image first, so that an interrupted removal leaves half an image."""
    half = path
    try:
        if path.parent == paths.images() and not is_half(path):
            shutil.rmtree(programs_of(path), ignore_errors=True)
            half = path.rename(path.with_name(f".{path.name}"))
        shutil.rmtree(half)
    except OSError as error:
        raise TwinError(f"cannot remove '{half}' ({error.strerror}); who built it can") from error
