#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Ansible module: slurm-pmem's packages, to a newer version and back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: pmem_packages
short_description: Install, upgrade, roll back and remove the packages of slurm-pmem
version_added: 0.1.0
description:
  - Asks apt what it would do, and does nothing if that is nothing. Else all packages of slurm-pmem change in one transaction, as
    they need each other in the same version, and the plugin changes with its Slurm.
  - After each change the packages are read back from dpkg; what apt's exit status says does not count. If they are not as apt said
    that they would be, the packages of slurm-pmem go back to the versions of before, what came along goes, and the module fails
    with a sentence that says which version now stands.
  - Another series of Slurm comes along only with O(slurm_upgrade_ok), as slurmctld reads the state of the last few releases only.
  - What came with slurm-pmem's packages is remembered in O(folder), so that O(state=absent) takes it away again.
  - An upgrade with O(keep) keeps versions and files of before, and O(state=settled) at its end makes them what O(state=previous)
    goes back to. A run that is killed between the two leaves them, and the next one goes on with them.
options:
  state:
    description:
      - V(present) installs what is not there, or not in O(version). V(latest) takes newer versions where there are.
      - V(settled) says that an upgrade with O(keep) has ended.
      - V(previous) goes back to versions and files of before the last upgrade, also of one that has not ended.
      - V(absent) removes what came with slurm-pmem, but for what something else needs by now.
    type: str
    choices: [present, latest, settled, previous, absent]
    default: present
  packages:
    description:
      - The packages to have. With one of slurm-pmem's, all of these that the machine has are taken along.
    type: list
    elements: str
    default: []
  version:
    description: The version of slurm-pmem to have, or how it starts. Without it what is installed, else the newest.
    type: str
    default: ""
  source:
    description:
      - Folder of .deb files on the machine that runs Ansible, for words to people. With it slurm-pmem's packages come from
        C(packages/) in O(folder), where RV(files) must be brought first.
    type: str
    default: ""
  files:
    description: Names of the .deb files in O(source).
    type: list
    elements: str
    default: []
  keep:
    description: Files of the site that are kept with the versions before slurm-pmem's packages change. Without it nothing is kept.
    type: list
    elements: path
    default: []
  slurm_upgrade_ok:
    description: Whether another series of Slurm may come along.
    type: bool
    default: false
  folder:
    description: Where things are remembered.
    type: path
    default: /var/lib/slurm-pmem-ansible
attributes:
  check_mode:
    description:
      - Says what a run would do, and fails where apt refuses. A package that apt does not know yet is taken for one that a run finds
        once apt's lists are loaded.
    support: full
  diff_mode:
    description: Shows the packages that change, with their versions before and after.
    support: full
author:
  - The slurm-pmem authors (@slurm-pmem)
seealso:
  - module: ansible.builtin.apt
"""

EXAMPLES = r"""
- name: Upgrade, and keep what is there for a way back
  slurm_pmem.cluster.pmem_packages:
    packages: [slurm-pmem-node, slurm-pmem-plugin]
    state: latest
    keep: [/etc/slurm/slurm.conf, /etc/slurm/pmem.conf]

- name: Let what was kept be what the next task goes back to
  slurm_pmem.cluster.pmem_packages:
    state: settled

- name: Go back to versions and files of before
  slurm_pmem.cluster.pmem_packages:
    state: previous
"""

RETURN = r"""
versions:
  description: The packages of slurm-pmem that are installed now, with their versions.
  returned: always
  type: dict
  sample: {"slurm-pmem-common": "0.2.0-1~deb12"}
changes:
  description: The changes that were made, or in check mode would be. The version before is null for a new package, the one after for one that
    goes, or that apt does not know yet.
  returned: success
  type: list
  elements: dict
  sample: [{"package": "slurm-pmem-common", "before": "0.1.0-1~deb12", "after": "0.2.0-1~deb12"}]
files:
  description: Which of O(files) are to be in C(packages/) before the change, none if there is nothing to do.
  returned: success
  type: list
  elements: str
  sample: [slurm-pmem-common_0.2.0-1~deb12_all.deb]
previous:
  description: The versions that O(state=previous) has gone back to or would; empty where there is nothing to go back to.
  returned: success
  type: dict
  sample: {"slurm-pmem-common": "0.1.0-1~deb12"}
unfinished:
  description: Whether an upgrade with O(keep) has not been settled.
  returned: success
  type: bool
  sample: false
came:
  description: All packages that have come with slurm-pmem.
  returned: success
  type: list
  elements: str
  sample: [libhwloc15, slurm-pmem-common]
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.slurm_pmem.cluster.plugins.module_utils.apt import (
    INSTALL, INSTALLED, REMOVE, Apt, AptError, Change, unlike,
)
from ansible_collections.slurm_pmem.cluster.plugins.module_utils.remembered import Remembered, copy

OURS = "slurm-pmem-"
COMMON = "slurm-pmem-common"


class PackageError(Exception):
    """A sentence with its cure."""


def is_ours(name):
    return name.startswith(OURS)


def versions(states):
    """Of slurm-pmem's packages, as they are installed or not quite."""
    return {name: state.version for name, state in states.items() if is_ours(name)}


def standing(states):
    """Which version of slurm-pmem there is, in words: package by package where they are not the same, or broken."""
    ours = {name: state for name, state in sorted(states.items()) if is_ours(name)}
    if not ours:
        return "no slurm-pmem"
    common = ours[COMMON].version if COMMON in ours else None
    if common and all(state.status == INSTALLED and state.version.startswith(common) for state in ours.values()):
        return f"slurm-pmem {common}"
    return ", ".join(f"{name} {state.version}" + ("" if state.status == INSTALLED else f" ({state.status})")
                     for name, state in ours.items())


def series(version):
    return version.split("-")[0].split(".")[:2]


def slurm_changes(changes):
    """Packages of Slurm itself that would be of another series."""
    return [f"{change.package} {change.before} to {change.after}" for change in changes
            if change.package.startswith("slurm") and not is_ours(change.package)
            and change.before and change.after and series(change.before) != series(change.after)]


def wanted_files(module, names):
    """Package to its file in the source, which must be there once."""
    params = module.params
    found = {name: [file for file in params["files"] if file.startswith(f"{name}_{params['version']}")] for name in names}
    if any(len(files) != 1 for files in found.values()):
        shown = ", ".join(sorted(file for files in found.values() for file in files)) or "none"
        raise PackageError(f"'{params['source']}' must hold one file for each of {', '.join(names)}; found {shown}; where "
                           "there are several versions, say which with pmem_packages_version")
    return {name: files[0] for name, files in found.items()}


class Packages:
    """One call of the module. changes: what is done, or would be."""

    def __init__(self, module):
        self.module, self.params = module, module.params
        self.apt = Apt(module.run_command)
        self.remembered = Remembered(self.params["folder"])
        self.states = self.before = self.apt.states()
        self.changes, self.files, self.previous = [], [], {}
        self.changed = False

    def plan(self, *words, assumed=()):
        """What apt would do. In check mode what it may not know yet is assumed to be done."""
        try:
            return self.apt.plan(*words)
        except AptError as error:
            if self.module.check_mode and error.unknown and assumed:
                return list(assumed)
            raise PackageError(f"apt refuses, and nothing was changed: {error}; {standing(self.states)} stands") from error

    def act(self, changes, *words):
        """Has apt do it and looks. The machine is as it was if not all of it is done."""
        automatic = self.apt.automatic()
        complaint = self.apt.do(*words)
        self.states = self.apt.states()
        wrong = unlike(changes, self.states)
        if wrong:
            complaint = complaint or f"after it there are {', '.join(wrong)}"
            raise PackageError(f"apt has failed: {complaint}; {self.go_back(changes, automatic)}")
        if complaint:
            self.module.warn(f"apt has done all, and complains: {complaint}")
        self.changed = True
        return automatic

    def request(self, name, version):
        """As apt is asked for it: the file that was brought here, or the version."""
        found = [path for path in self.remembered.all_brought()
                 if os.path.basename(path).startswith(f"{name}_{version.split(':')[-1]}_")]
        return found[0] if found else f"{name}={version}"

    def go_back(self, changes, automatic):
        """Brings our packages to what they were, takes away what came. In words how that went."""
        if self.states == self.before:
            return f"{standing(self.states)} stands, as before"
        came = [f"{change.package}-" for change in changes if not change.before and change.package in self.states]
        ours = [self.request(name, version) for name, version in sorted(versions(self.before).items())]
        complaint = self.apt.do("--purge", *INSTALL, *ours, *came)
        self.states = self.apt.states()
        self.set_automatic(automatic & set(versions(self.states)))
        left = [name for name in self.states if name not in self.before]
        if not left and all(self.states.get(name) == state for name, state in self.before.items() if is_ours(name)):
            return f"{standing(self.states)} stands again"
        return (f"going back to {standing(self.before)} has failed too: {complaint or 'apt says nothing'}; "
                f"now there are {standing(self.states)}")

    # present, latest

    def install(self):
        self.changes, words = self.wanted()
        self.check_series()
        if not words or not self.changes or self.module.check_mode:
            self.changed = bool(self.changes)
            return
        ours_change = any(is_ours(change.package) for change in self.changes)
        kept_now = bool(self.params["keep"]) and ours_change and not self.remembered.is_upgrading
        if kept_now:
            self.remembered.keep(versions(self.before), self.params["keep"])
        try:
            automatic = self.act(self.changes, *INSTALL, *words)
        except PackageError:
            if kept_now and versions(self.states) == versions(self.before):
                self.remembered.forget("upgrading")
            raise
        self.remember(automatic)

    def wanted(self):
        """(changes, words for apt)"""
        states, params = self.states, self.params
        others = [name for name in params["packages"] if not is_ours(name) and name not in states]
        ours = list(filter(is_ours, params["packages"]))
        if ours:
            ours = list(dict.fromkeys([COMMON, *ours, *versions(states)]))
        if ours and params["source"]:
            return self.wanted_of_files(ours, others)
        words = others + [f"{name}={params['version']}*" if params["version"] else name for name in ours if self.is_due(name)]
        assumed = [Change(name, None, None) for name in others + list(filter(self.is_due, ours)) if name not in states]
        assumed += [Change(name, states[name].version, params["version"]) for name in ours
                    if name in states and params["version"] and self.is_due(name)
                    and not states[name].version.startswith(params["version"])]
        return (self.plan(*INSTALL, *words, assumed=assumed) if words else []), words

    def is_due(self, name):
        """Whether apt is to be asked for this one of ours."""
        state = self.states.get(name)
        return (self.params["state"] == "latest" or not state or state.status != INSTALLED
                or not state.version.startswith(self.params["version"]))

    def wanted_of_files(self, ours, others):
        chosen = wanted_files(self.module, ours)
        due = [Change(name, self.states[name].version if name in self.states else None, file.split("_")[1])
               for name, file in chosen.items()]
        due = unlike_now(due, self.states)
        if not due and not others:
            return [], []
        self.files = sorted(chosen.values()) if due else []
        paths = self.remembered.brought(*self.files)
        if not all(map(os.path.exists, paths)):
            return due + [Change(name, None, None) for name in others], []
        return self.plan(*INSTALL, *others, *paths), [*others, *paths]

    def check_series(self):
        others = slurm_changes(self.changes)
        if others and not self.params["slurm_upgrade_ok"]:
            raise PackageError(f"this would bring another series of Slurm: {', '.join(others)}. Read docs/admin/upgrade.md, save "
                               "slurmctld's state, then set pmem_slurm_upgrade_ok; or keep that Slurm out of apt's sources")

    def remember(self, automatic):
        """What came, for uninstall. apt takes each file, and what came for one, for a wish of somebody's."""
        came = {name for name in self.states if name not in self.before}
        self.remembered.add_came(came)
        unasked = (came - set(self.params["packages"])) | (automatic & set(versions(self.before)))
        self.set_automatic(unasked & set(self.states))

    def set_automatic(self, names):
        left = self.apt.set_automatic(names)
        if left:
            self.module.warn(f"apt takes {', '.join(sorted(left))} for a wish of somebody's, and keeps it for ever")

    # settled

    def settle(self):
        if self.module.check_mode or not self.remembered.is_upgrading:
            return
        if self.remembered.read("upgrading", {}) == versions(self.states):
            self.remembered.forget("upgrading")
        else:
            self.remembered.settle()

    # previous

    def roll_back(self):
        name = "upgrading"
        if self.remembered.read(name, versions(self.states)) == versions(self.states):
            name = "previous"
        self.previous = self.remembered.read(name, {})
        if not self.previous:
            return
        words = [self.request(*pair) for pair in sorted(self.previous.items())]
        words += [f"{package}-" for package in versions(self.states) if package not in self.previous]
        self.changes, self.changed = self.plan(*INSTALL, *words), True
        self.check_series()
        if self.module.check_mode:
            return
        if self.changes:
            self.remember(self.act(self.changes, *INSTALL, *words))
        self.bring_back(name)
        for path in self.remembered.all_brought():
            if path not in words:
                os.unlink(path)
        for name in ("upgrading", "previous"):
            self.remembered.forget(name)

    def bring_back(self, name):
        for kept, place in self.remembered.differing(name):
            copy(kept, place)
        left = [place for _kept, place in self.remembered.differing(name)]
        if left:
            raise PackageError(f"{standing(self.states)} stands, but {', '.join(left)} is not as it was before the upgrade; it is "
                               f"in {self.remembered.path(name)}")

    # absent

    def remove(self):
        """What was asked for goes; of what came along only what nothing needs any more then, which apt knows."""
        came = [name for name in self.remembered.came if name in self.states]
        if not came:
            return
        asked = sorted(set(came) - self.apt.automatic())
        planned = {change.package for change in self.plan(*REMOVE, *asked)}
        self.changes = [Change(name, self.states[name].version, None) for name in came if name in planned]
        self.changed = bool(self.changes)
        if self.module.check_mode or not self.changes:
            return
        complaint = self.apt.do("--purge", "--yes", "--quiet", "remove", *(change.package for change in self.changes))
        self.states = self.apt.states()
        left = unlike(self.changes, self.states)
        if left:
            raise PackageError(f"apt has not removed all: {complaint or 'it says nothing'}; still there: {', '.join(left)}")


def unlike_now(changes, states):
    """Those that are still to be made."""
    return [change for change in changes if unlike([change], states)]


def diff(changes):
    def text(versions):
        return "".join(f"{name} {version}\n" for name, version in versions)
    return {"before_header": "packages", "after_header": "packages",
            "before": text((change.package, change.before) for change in changes if change.before),
            "after": text((change.package, change.after or "not known yet") for change in changes
                          if change.after or not change.before)}


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "latest", "settled", "previous", "absent"], "default": "present"},
            "packages": {"type": "list", "elements": "str", "default": []},
            "version": {"type": "str", "default": ""},
            "source": {"type": "str", "default": ""},
            "files": {"type": "list", "elements": "str", "default": []},
            "keep": {"type": "list", "elements": "path", "default": []},
            "slurm_upgrade_ok": {"type": "bool", "default": False},
            "folder": {"type": "path", "default": "/var/lib/slurm-pmem-ansible"},
        },
        supports_check_mode=True,
    )
    packages = Packages(module)
    try:
        {"present": packages.install, "latest": packages.install, "settled": packages.settle,
         "previous": packages.roll_back, "absent": packages.remove}[module.params["state"]]()
    except PackageError as error:
        module.fail_json(msg=str(error), versions=versions(packages.states))
    except OSError as error:
        module.fail_json(msg=f"{error}; {standing(packages.states)} stands", versions=versions(packages.states))
    result = {"diff": diff(packages.changes)} if packages.changes else {}
    module.exit_json(changed=packages.changed, changes=[change._asdict() for change in packages.changes],
                     versions=versions(packages.states), files=packages.files, previous=packages.previous,
                     unfinished=packages.remembered.is_upgrading, came=packages.remembered.came, **result)


if __name__ == "__main__":
    main()
