# SPDX-License-Identifier: Apache-2.0
"""What pmctl and Slurm say of the node that a module runs on."""

from __future__ import annotations

import json
import os
import re

PMCTL = "/usr/bin/pmctl"

# Options that every module takes which asks pmctl.
ARGUMENTS = {
    "pmctl": {"type": "path", "default": PMCTL},
    "config": {"type": "path"},
    "node": {"type": "str"},
}


class PmctlError(Exception):
    """pmctl or scontrol said no; the text is a sentence with its cure."""


class Pmctl:
    """pmctl of this node.

    run: AnsibleModule.run_command, or what takes and returns the same.
    """

    def __init__(self, run, path=PMCTL, config=None, node=None):
        self.run = run
        self.path = path
        self.options = []
        if config:
            self.options += ["--config", config]
        if node:
            self.options += ["--node", node]

    @classmethod
    def of_module(cls, module):
        """pmctl as the options of ARGUMENTS name it."""
        return cls(module.run_command, *(module.params[name] for name in ("pmctl", "config", "node")))

    @property
    def is_installed(self):
        return os.access(self.path, os.X_OK)

    def call(self, *words, also_good=()):
        """Standard output. PmctlError with pmctl's own sentence unless it exits 0 or as also_good."""
        if not self.is_installed:
            raise PmctlError(f"there is no '{self.path}'; install slurm-pmem's package for nodes first")
        status, out, err = self.run([self.path, *self.options, *words])
        if status and status not in also_good:
            raise PmctlError(sentence(err or out) or f"'pmctl {' '.join(words)}' exited with {status}")
        return out

    def ask(self, *words, also_good=()):
        """What pmctl prints with --json, parsed."""
        out = self.call(*words, "--json", also_good=also_good)
        try:
            return json.loads(out)
        except ValueError as error:
            raise PmctlError(f"'pmctl {' '.join(words)} --json' printed no JSON: {error}") from error

    def show(self):
        return self.ask("show")

    def health(self):
        """{"ok": bool, "text": str}; exit status 1 says the same as ok=false."""
        return self.ask("health", also_good=(1,))

    def settings(self):
        """Key to value, as pmem.conf holds for this node."""
        return {key: entry["value"] for key, entry in self.ask("show-config")["keys"].items()}


def sentence(text):
    """The first line that a tool printed, without its name in front."""
    lines = text.strip().splitlines()
    return re.sub(r"^pmctl: (\w[\w -]*: )?", "", lines[0]) if lines else ""


def substate_of(namespaces):
    """empty, fsdax, devdax or flat of one region's namespaces as pmctl shows them; None for anything else."""
    if not namespaces:
        return "empty"
    if len(namespaces) > 1 or namespaces[0]["owner"] != "ours":
        return None
    only = namespaces[0]
    if only.get("device_mode") == "system-ram":
        return "flat"
    if only["mode"] == "devdax":
        return "devdax"
    return "fsdax" if "mount" in only else None


def substate(regions):
    """What all regions are; None where they differ, or where there are none."""
    found = {substate_of(region["namespaces"]) for region in regions}
    return found.pop() if len(found) == 1 else None


def namespaces(show):
    """All namespaces of the node, as pmctl shows them."""
    return [one for region in show.get("regions", []) for one in region["namespaces"]]


class SlurmNode:
    """What Slurm makes of a node."""

    NO_SCONTROL = "not in Slurm"

    def __init__(self, run, scontrol, name):
        self.run = run
        self.scontrol = scontrol
        self.name = name

    def state(self):
        """Base state and flags as scontrol prints them ("IDLE+DRAIN"), or NO_SCONTROL.

        A machine without scontrol, or that the controller does not know, has no jobs of Slurm's.
        """
        if not os.access(self.scontrol, os.X_OK):
            return self.NO_SCONTROL
        status, out, err = self.run([self.scontrol, "-o", "show", "node", self.name])
        if "not found" in out + err:
            return self.NO_SCONTROL
        found = re.search(r"\bState=(\S+)", out)
        if status or not found:
            raise PmctlError(f"cannot tell whether node '{self.name}' is drained, Slurm's controller does not say: "
                             f"{sentence(err or out)}; try 'scontrol show node {self.name}' there")
        return found.group(1)


def is_quiet(state):
    """Whether no job runs on a node of this state and none will be sent there."""
    if state == SlurmNode.NO_SCONTROL:
        return True
    base, *flags = re.sub(r"[^A-Z+_]", "", state.upper()).split("+")
    if "COMPLETING" in flags:
        return False
    return base == "DOWN" or (base == "IDLE" and "DRAIN" in flags)
