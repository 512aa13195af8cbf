# SPDX-License-Identifier: Apache-2.0
"""What apt and dpkg of the machine that a module runs on would do, do, and have."""

from __future__ import annotations

import re
from typing import NamedTuple

INSTALLED = "installed"
# How long apt waits for another apt, in seconds; what a package asks gets the answer that loses nothing of the site's.
OPTIONS = ("--option=DPkg::Lock::Timeout=60", "--option=Dpkg::Options::=--force-confdef",
           "--option=Dpkg::Options::=--force-confold")
INSTALL = ("--yes", "--quiet", "--no-install-recommends", "--allow-downgrades", "install")
# It would remove what was unneeded before, too, and keep what something else merely suggests.
REMOVE = ("--option=APT::AutoRemove::SuggestsImportant=false", "--option=APT::AutoRemove::RecommendsImportant=false",
          "--yes", "--quiet", "--auto-remove", "remove")
ENVIRONMENT = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}


class AptError(Exception):
    """apt refuses; the text is its own.

    unknown: it does not know a package or a version, which it may once its lists are loaded.
    """

    def __init__(self, text):
        super().__init__(text)
        self.unknown = bool(re.search("Unable to locate package|has no installation candidate|was not found", text))


class Change(NamedTuple):
    """What apt does to one package; None is the version of one that is not there."""

    package: str
    before: str | None
    after: str | None

    def __str__(self):
        return f"{self.package} {self.before or 'new'} to {self.after or 'none'}"


class State(NamedTuple):
    """What dpkg has of a package."""

    version: str
    status: str


class Apt:
    """run: AnsibleModule.run_command, or what takes and returns the same."""

    def __init__(self, run):
        self.run = run

    def _call(self, *words):
        return self.run(list(words), environ_update=ENVIRONMENT)

    def states(self):
        """Package to State, of those that are there at least in part."""
        out = self._call("dpkg-query", "--show", "--showformat", "${Package}\t${Version}\t${db:Status-Status}\n")[1]
        rows = (line.split("\t") for line in out.splitlines())
        return {name: State(version, state) for name, version, state in rows
                if state not in ("not-installed", "config-files")}

    def plan(self, *words):
        """Changes that apt-get would make; AptError if it would make none of them."""
        status, out, err = self._call("apt-get", "--simulate", *OPTIONS, *words)
        if status:
            raise AptError(complaint(out, err))
        changes = [Change(name.split(":")[0], before or None, after) for name, before, after
                   in re.findall(r"^Inst (\S+)(?: \[([^\]]+)\])? \((\S+)", out, re.M)]
        changes += [Change(name.split(":")[0], before, None) for name, before
                    in re.findall(r"^(?:Remv|Purg) (\S+) \[([^\]]+)\]", out, re.M)]
        return sorted(changes, key=lambda change: change.package)

    def do(self, *words):
        """Has apt-get do it. Its complaint, empty if it has none; what it has done is to be looked at."""
        status, out, err = self._call("apt-get", *OPTIONS, *words)
        return complaint(out, err) or f"apt-get exited with {status}" if status else ""

    def automatic(self):
        """The packages that apt takes for unasked."""
        return set(self._call("apt-mark", "showauto")[1].split())

    def set_automatic(self, names):
        """Has apt take these for unasked. Those that it does not."""
        if names:
            self._call("apt-mark", "auto", *sorted(names))
        return names - self.automatic() if names else set()


def complaint(out, err):
    """One line of what apt and dpkg have printed: what depends on what, what failed, errors.

    apt prints on its standard output what dpkg says.
    """
    found = re.findall(r"^The following packages have unmet dependencies:\n(?: .*\n)+", out, re.M)
    found += re.findall(r"^dpkg: error .*\n(?: .*\n)?", out + err, re.M)
    found += re.findall(r"^E: .*", err, re.M)
    return "; ".join(" ".join(text.split()) for text in found)


def unlike(changes, states):
    """Of the changes those that the packages do not show, with what they show: "slurmd 1.2 (half-configured)"."""
    def shown(change):
        found = states.get(change.package)
        if not found:
            return None if change.after is None else f"{change.package} (not there)"
        if change.after == found.version and found.status == INSTALLED:
            return None
        return f"{change.package} {found.version} ({found.status})"
    return [text for text in map(shown, changes) if text]
