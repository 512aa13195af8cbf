"""An archive for the kernel's initramfs. An ordinary user can write it: owners are just numbers in it."""
from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Entry:
    """A file, directory or symlink (its target in `data`); `mode` with the type bits."""

    mode: int
    data: bytes = b""
    uid: int = 0
    gid: int = 0
    # Never 0: slurmctld takes a job_submit.lua of 1970 for one that it has loaded already, and crashes.
    modified: int = field(default_factory=lambda: int(time.time()))


class Tree:
    """Files by their path below the root; missing parents appear as root's directories with mode 755."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}

    def directory(self, path: str, mode: int = 0o755, owner: tuple[int, int] = (0, 0)) -> None:
        self._add(path, Entry(stat.S_IFDIR | mode, b"", *owner))

    def file(self, path: str, data: bytes | str, mode: int = 0o644, owner: tuple[int, int] = (0, 0)) -> None:
        self._add(path, Entry(stat.S_IFREG | mode, data.encode() if isinstance(data, str) else data, *owner))

    def symlink(self, path: str, target: str) -> None:
        self._add(path, Entry(stat.S_IFLNK | 0o777, target.encode()))

    def copy(self, source: Path, path: str = "") -> None:
        """Adds a host directory's contents below `path`, owned by root; of a mode only the x bit counts."""
        for directory, names, files in os.walk(source):
            relative = os.path.join(path, os.path.relpath(directory, source)) if directory != str(source) else path
            for name in [n for n in names if os.path.islink(os.path.join(directory, n))] + files:
                self._copy_one(os.path.join(directory, name), os.path.normpath(os.path.join(relative, name)))
            names[:] = [n for n in names if n != "__pycache__"]

    def _copy_one(self, source: str, path: str) -> None:
        if os.path.islink(source):
            return self.symlink(path, os.readlink(source))
        with open(source, "rb") as file:
            executable = os.fstat(file.fileno()).st_mode & stat.S_IXUSR
            self.file(path, file.read(), 0o755 if executable else 0o644)

    def _add(self, path: str, entry: Entry) -> None:
        path = path.strip("/")
        parent = os.path.dirname(path)
        if parent and parent not in self.entries:
            self.directory(parent)
        self.entries[path] = entry

    def archive(self) -> bytes:
        """The "newc" format: 110 bytes of hexadecimal header, name, data, each padded to 4 bytes."""
        parts = [_record(i, path, entry) for i, (path, entry) in enumerate(self.entries.items(), 1)]
        parts.append(_record(0, "TRAILER!!!", Entry(0)))
        return _pad(b"".join(parts), 512)


def _record(inode: int, path: str, entry: Entry) -> bytes:
    name = path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    fields = (inode, entry.mode, entry.uid, entry.gid, links, entry.modified, len(entry.data), 0, 0, 0, 0, len(name), 0)
    header = b"070701" + b"".join(b"%08x" % f for f in fields)
    return _pad(header + name, 4) + _pad(entry.data, 4)


def _pad(data: bytes, to: int) -> bytes:
    return data + bytes(-len(data) % to)
