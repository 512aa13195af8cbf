"""A twin's directory: the files that survive `down`, and the files by which a running twin is found.

    .pmtwin          marker and settings, JSON {"suite", "nodes", "cores", "packages", "plain", "accounting",
                     "kernel_options", "image"}
    lock             held by the supervisor as long as it lives
    runtime          path of the directory with the unix sockets, while the twin runs
    supervisor.log, events.jsonl, faults.json, munge.key, initrd
    home/            the guests' /home
    NODE/            disk.img (the guest's own disk), machine/ (its hardware), console.log, qemu.log
"""
from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any

from cluster import paths
from cluster.errors import TwinError, UsageError

MARKER = ".pmtwin"


class State:
    """The directory of one twin."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.marker = directory / MARKER
        self.events = directory / "events.jsonl"
        self.log = directory / "supervisor.log"
        self.home = directory / "home"
        self.initrd = directory / "initrd"
        self.faults = directory / "faults.json"
        self.munge_key = directory / "munge.key"

    # settings

    def exists(self) -> bool:
        return self.marker.is_file()

    def settings(self) -> dict[str, Any]:
        try:
            return json.loads(self.marker.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise TwinError(f"cannot understand '{self.marker}' ({error}); `pmtwin up --fresh` starts anew") from error

    def create(self) -> None:
        """Makes the directory, unless it is a twin's already. A directory with other files is refused."""
        if self.exists():
            return
        if self.directory.exists() and any(self.directory.iterdir()):
            raise UsageError(f"'{self.directory}' holds something else than a twin; name another one with --dir")
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.save({})

    def save(self, settings: dict[str, Any]) -> None:
        write_atomically(self.marker, json.dumps(settings) + "\n")

    def node(self, name: str) -> Path:
        path = self.directory / name
        path.mkdir(exist_ok=True)
        return path

    def wipe(self) -> None:
        """Removes everything in a directory that we made, last the marker."""
        if not self.exists():
            return
        self.remove_runtime()
        for path in self.directory.iterdir():
            if path.name == MARKER:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        self.marker.unlink()

    # the running twin

    def running(self) -> bool:
        """True while a supervisor holds the lock."""
        try:
            with open(self.directory / "lock", "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return False
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True

    def acquire(self):
        """The lock, for the supervisor: an open file to keep."""
        file = open(self.directory / "lock", "a+", encoding="ascii")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TwinError(f"a supervisor already runs for '{self.directory}'") from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        return file

    def supervisor_pid(self) -> int:
        try:
            return int((self.directory / "lock").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def runtime(self) -> Path | None:
        try:
            return Path((self.directory / "runtime").read_text(encoding="utf-8").strip())
        except FileNotFoundError:
            return None

    def make_runtime(self) -> Path:
        """A new private directory for sockets; its path is short however deep the state directory lies."""
        self.remove_runtime()
        path = Path(tempfile.mkdtemp(prefix="pmtwin-", dir=paths.runtime_base()))
        write_atomically(self.directory / "runtime", f"{path}\n")
        return path

    def remove_runtime(self) -> None:
        """Removes the runtime directory, if its name, owner and mode show that it is ours."""
        path = self.runtime()
        if path and path.name.startswith("pmtwin-") and _is_private_directory(path):
            shutil.rmtree(path, ignore_errors=True)
        (self.directory / "runtime").unlink(missing_ok=True)

    def control(self) -> Path:
        path = self.runtime()
        if not path or not self.running():
            raise TwinError("the twin is down; `pmtwin up` starts it")
        return path / "control"


def _is_private_directory(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def write_atomically(path: Path, text: str, mode: int = 0o644) -> None:
    temporary = path.with_name(f".{path.name}.new")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, path)
