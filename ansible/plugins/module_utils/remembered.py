# SPDX-License-Identifier: Apache-2.0
"""What a machine remembers of slurm-pmem's packages: those that came, and what was there before the last upgrade."""

from __future__ import annotations

import filecmp
import json
import os
import shutil


class Remembered:
    """A folder that root alone can write.

    packages.json: the names of all packages that came with ours. packages/: the files that were brought here.
    upgrading.json: the versions before an upgrade that has not ended, with the files of then in upgrading/; previous.json
    and previous/ are the same of the last one that has. The JSON is written last and taken away last: where it is, the
    files are whole.
    """

    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def brought(self, *names):
        return [os.path.join(self.path("packages"), name) for name in names]

    def all_brought(self):
        folder = self.path("packages")
        return self.brought(*sorted(name for name in os.listdir(folder) if name.endswith(".deb"))) \
            if os.path.isdir(folder) else []

    def read(self, name, default):
        try:
            with open(self.path(f"{name}.json"), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return default

    def write(self, name, value):
        os.makedirs(self.folder, mode=0o755, exist_ok=True)
        made = self.path(f".{name}.json")
        with open(made, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=4, sort_keys=True)
            file.write("\n")
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        os.replace(made, self.path(f"{name}.json"))

    @property
    def came(self):
        return self.read("packages", [])

    def add_came(self, names):
        if set(names) - set(self.came):
            self.write("packages", sorted({*self.came, *names}))

    @property
    def is_upgrading(self):
        return os.path.exists(self.path("upgrading.json"))

    def keep(self, versions, files):
        """Copies what is there now, for a way back. Not while an upgrade has not ended: that goes back to before it."""
        self.forget("upgrading")
        os.makedirs(self.path("upgrading"), mode=0o700)
        for path in filter(os.path.lexists, files):
            copy(path, self.path("upgrading") + path)
        self.write("upgrading", versions)

    def settle(self):
        """What was kept of this upgrade takes the place of what was kept of the last one."""
        self.forget("previous")
        os.replace(self.path("upgrading"), self.path("previous"))
        os.replace(self.path("upgrading.json"), self.path("previous.json"))

    def forget(self, name):
        shutil.rmtree(self.path(name), ignore_errors=True)
        if os.path.exists(self.path(f"{name}.json")):
            os.unlink(self.path(f"{name}.json"))

    def differing(self, name):
        """The files of then that are not as they were, as (kept, place)."""
        top = self.path(name)
        pairs = [(os.path.join(folder, file), os.path.join("/", os.path.relpath(os.path.join(folder, file), top)))
                 for folder, _folders, files in os.walk(top) for file in files]
        return sorted(pair for pair in pairs if not same(*pair))


def copy(source, target):
    """With owner, mode and times; a link as a link. The file is there whole or not at all."""
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    made = f"{target}.slurm-pmem-new"
    shutil.copy2(source, made, follow_symlinks=False)
    found = os.lstat(source)
    os.chown(made, found.st_uid, found.st_gid, follow_symlinks=False)
    os.replace(made, target)


def same(one, other):
    if not os.path.lexists(other):
        return False
    if os.path.islink(one) or os.path.islink(other):
        return os.path.islink(one) and os.path.islink(other) and os.readlink(one) == os.readlink(other)
    first, second = os.stat(one), os.stat(other)
    return (first.st_mode, first.st_uid, first.st_gid) == (second.st_mode, second.st_uid, second.st_gid) \
        and filecmp.cmp(one, other, shallow=False)
