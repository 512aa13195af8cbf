#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Ansible module: bring a node's persistent memory into a mode."""

from __future__ import annotations

DOCUMENTATION = r"""
module: pmem_mode
short_description: Bring a node's persistent memory into a mode
version_added: 0.1.0
description:
  - Compares the mode that the node is in with the wanted one, and does nothing if they are the same. Else it lets C(pmctl)
    say what it would do and what that destroys, and does it if all that is required is given.
  - Within a platform mode (App Direct to flat memory, or file systems on the regions) the change is done at once. A change of
    platform mode is staged as a goal on all sockets, and RV(reboot_required) is returned; reboot the node with C(pmctl reboot),
    for example by M(ansible.builtin.reboot), and run the module again, which verifies the goal and brings the regions into their
    state. Killed at any point, the same two calls converge.
  - After each change the state is read back; what a tool's exit status says does not count.
  - Namespaces that are not slurm-pmem's, pinned ones, and jobs that live on the persistent memory are never touched, whatever
    is allowed; the module fails and names them.
  - All sockets change together. There is no option for a single socket, as a node with one socket in Memory Mode may not boot.
extends_documentation_fragment:
  - slurm_pmem.cluster.pmctl
options:
  mode:
    description:
      - The wanted mode, as jobs ask for it with C(--pm-mode). V(flat) is App Direct with all regions as NUMA nodes.
      - This or percentages (O(memorymode), O(appdirect)) must be given.
    type: str
    # made by 'make tables' from site/modes.def
    choices: [memory, appdirect, flat, mixed]
    # end
  memorymode:
    description:
      - Percentage of the persistent memory that is to be main memory, as in M(community.general.pmem).
      - Together with O(appdirect) and O(reserved) it must make 100. Where pmem.conf has other percentages (C(MixedPercent),
        C(ReservedPercent)) the module fails, for jobs that change the mode later would bring theirs.
    type: int
  appdirect:
    description: Percentage that is to be App Direct, see O(memorymode).
    type: int
  reserved:
    description: Percentage that no mode uses, see O(memorymode).
    type: int
  substate:
    description:
      - What the App Direct regions are to be, with mode V(appdirect) or V(mixed). Without it regions get what
        jobs of the mode expect, a file system each.
    type: str
    choices: [empty, fsdax, devdax, flat]
  allow_data_loss:
    description:
      - Whether namespaces of slurm-pmem (C(slurm-...)) may be destroyed with what is on them. Needed only where there are some.
    type: bool
    default: false
  reboot_ok:
    description:
      - Whether the change may be one that needs a reboot. The module does not reboot by itself.
    type: bool
    default: false
  slurm:
    description:
      - Whether to ask Slurm for the node's state. Anything is changed only while the node is drained and without jobs, or down, or
        unknown to Slurm. V(false) is for machines that are set up before there is a controller to ask.
    type: bool
    default: true
attributes:
  check_mode:
    description: Makes all checks, fails where a run would fail, and returns what a run would do.
    support: full
  diff_mode:
    description: Shows mode and state of the regions before and after, each command, and in words what it destroys.
    support: full
author:
  - The slurm-pmem authors (@slurm-pmem)
seealso:
  - module: slurm_pmem.cluster.pmem_info
  - module: ansible.builtin.reboot
"""

EXAMPLES = r"""
- name: Stage Memory Mode
  slurm_pmem.cluster.pmem_mode:
    mode: memory
    reboot_ok: true
    allow_data_loss: true
  register: staged

- name: Have the firmware apply it
  ansible.builtin.reboot:
    reboot_command: /usr/bin/pmctl reboot
  when: staged.reboot_required

- name: Verify it
  slurm_pmem.cluster.pmem_mode:
    mode: memory
    reboot_ok: true
    allow_data_loss: true

- name: Give the regions back to nobody
  slurm_pmem.cluster.pmem_mode:
    mode: appdirect
    substate: empty
    allow_data_loss: true
"""

RETURN = r"""
mode:
  description: The mode that the node is in now; a staged one counts after the reboot.
  returned: success
  type: str
  sample: appdirect
substate:
  description: What all App Direct regions are now; null where they differ or are none.
  returned: success
  type: str
  sample: fsdax
reboot_required:
  description: Whether the goal waits for a reboot. In check mode, whether it would.
  returned: success
  type: bool
  sample: true
steps:
  description: The commands that were run or would be, each with what it destroys.
  returned: always
  type: list
  elements: dict
  sample:
    - command: /usr/bin/ndctl destroy-namespace -f namespace0.0
      destroys: the namespace namespace0.0 named 'slurm-fsdax' (4225761280 bytes)
required:
  description: What a run would need that it was not given, a sentence each.
  returned: when something is required
  type: list
  elements: str
  sample: ["reboot_ok: only a reboot brings the node from appdirect to memory"]
slurm_state:
  description: The node's state in Slurm when it was asked.
  returned: when a change is needed
  type: str
  sample: IDLE+DRAIN
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.slurm_pmem.cluster.plugins.module_utils.pmctl import (
    ARGUMENTS, Pmctl, PmctlError, SlurmNode, is_quiet, namespaces, substate,
)


# made by 'make tables' from site/modes.def
MODES = ("memory", "appdirect", "flat", "mixed")
WITH_REGIONS = ("appdirect", "mixed")
# end
PERCENTAGES = ("memorymode", "appdirect", "reserved")


def mode_of_percentages(params, settings):
    """The mode that community.general.pmem's percentages mean; they must be those of pmem.conf."""
    memory, direct, reserved = (params[name] or 0 for name in PERCENTAGES)
    if min(memory, direct, reserved) < 0 or memory + direct + reserved != 100 or reserved == 100:
        raise PmctlError("memorymode, appdirect and reserved are percentages, and together they must be 100")
    wanted = {"ReservedPercent": reserved}
    if memory and direct:
        wanted["MixedPercent"] = memory
    for key, value in wanted.items():
        if int(settings[key]) != value:
            raise PmctlError(f"pmem.conf has {key}={settings[key]}, the percentages ask for {key}={value}; "
                             "write that there, for jobs that change the mode go by it")
    return "mixed" if memory and direct else "memory" if memory else "appdirect"


class Change:
    """From the state that the node is in to the wanted one."""

    def __init__(self, pmctl, params):
        self.pmctl = pmctl
        self.params = params
        self.settings = pmctl.settings()
        self.mode = params["mode"] or mode_of_percentages(params, self.settings)
        self.substate = params["substate"]
        if self.substate and self.mode not in WITH_REGIONS:
            raise PmctlError(f"substate goes with mode {' or '.join(WITH_REGIONS)}; mode {self.mode} says all")
        self.look()

    def look(self):
        self.show = self.pmctl.show()

    @property
    def found(self):
        """Mode and state of the regions, as people read them in a diff."""
        shown = {"mode": self.show["mode"], "regions": substate(self.show.get("regions", []))}
        if self.show.get("goal"):
            shown["goal"] = self.show["change"].get("to", "not pmctl's")
        return shown

    def needs_verify(self):
        """A change that a boot may have applied, and that nobody has looked at since."""
        journal = self.pmctl.ask("journal")
        is_open = journal["state"] in ("intent", "staged", "rebooting")
        return is_open and journal["boot_id"] != self.pmctl.ask("mode")["boot_id"]

    def verify(self):
        """Has pmctl close the journal; PmctlError if the node did not get what was staged."""
        told = self.pmctl.ask("verify", also_good=(1,))
        self.look()
        if not told["ok"]:
            raise PmctlError(told["text"])

    def plan(self):
        """{"steps": […], "reboot": bool}: the platform mode first, then the regions."""
        plan = self.pmctl.ask("set", "--dry-run", self.mode)
        if plan["reboot"] or not self.substate:
            return plan
        if substate(self.show["regions"]) == self.substate:
            return {"steps": [], "reboot": False}
        return self.pmctl.ask("provision", "--dry-run", self.substate)

    def act(self, plan):
        if plan["reboot"] or not self.substate:
            self.pmctl.call("set", self.mode)
        else:
            self.pmctl.call("provision", self.substate)
        self.look()
        left = self.plan()
        if left["steps"] or left["reboot"] != plan["reboot"]:
            raise PmctlError(f"after the change the node shows {self.found}, and still to be done is: "
                             f"{words_of(left) or 'nothing'}; look at 'pmctl show' and 'pmctl journal'")

    def required(self, plan, slurm_state):
        """Sentences: what the plan needs that was not given."""
        missing = []
        if not is_quiet(slurm_state):
            missing.append(f"a drained node: in Slurm {self.show['node']} is {slurm_state}; run 'scontrol update "
                           f"nodename={self.show['node']} state=drain reason=...', and wait until its jobs have ended")
        lost = [step["destroys"] for step in plan["steps"] if "destroys" in step]
        if lost and namespaces(self.show) and not self.params["allow_data_loss"]:
            missing.append(f"allow_data_loss: this destroys {'; '.join(lost)}")
        if plan["reboot"] and not self.params["reboot_ok"]:
            missing.append(self.why_reboot())
        return missing

    def why_reboot(self):
        if self.show["change"]["state"] == "failed":
            return f"reboot_ok, to try again: {self.pmctl.health()['text']}"
        return f"reboot_ok: only a reboot brings the node from {self.show['mode']} to {self.mode}"


def words_of(plan):
    """The plan as lines for people."""
    lines = [step["command"] + (f"  # destroys {step['destroys']}" if "destroys" in step else "")
             for step in plan["steps"]]
    return "\n".join(lines + (["reboot"] if plan["reboot"] else []))


def diff(before, after, plan):
    def text(shown):
        return "".join(f"{key}: {value}\n" for key, value in shown.items())
    return {"before_header": "persistent memory", "after_header": "persistent memory",
            "before": text(before), "after": text(after) + words_of(plan) + "\n"}


def expected(change, plan):
    """What `found` should show after the plan."""
    if plan["reboot"]:
        return change.found | {"goal": change.mode}
    return {"mode": change.mode, "regions": change.substate or change.found["regions"]}


def slurm_state(module, change):
    if not module.params["slurm"]:
        return SlurmNode.NO_SCONTROL
    return SlurmNode(module.run_command, change.settings["ScontrolPath"], change.show["node"]).state()


def run(module, change):
    before = change.found
    changed = change.needs_verify()
    if changed and module.check_mode:
        return {"changed": True, "steps": [], "reboot_required": False, "msg": "would run 'pmctl verify' first"}
    if changed:
        change.verify()
    plan = change.plan()
    result = {"changed": changed or bool(plan["steps"]), "steps": plan["steps"], "reboot_required": plan["reboot"]}
    if plan["steps"] or plan["reboot"]:
        result["slurm_state"] = slurm_state(module, change)
        refuse(module, change, plan, result)
    after = expected(change, plan)
    if plan["steps"] and not module.check_mode:
        change.act(plan)
        after = change.found
    if result["changed"]:
        result["diff"] = diff(before, after, plan)
    return result


def refuse(module, change, plan, result):
    missing = change.required(plan, result["slurm_state"])
    if missing:
        module.fail_json(msg=f"mode {change.mode} requires " + "; and ".join(missing), required=missing,
                         **(result | {"changed": False}))


def main():
    module = AnsibleModule(
        argument_spec=ARGUMENTS | {
            "mode": {"type": "str", "choices": list(MODES)},
            "memorymode": {"type": "int"},
            "appdirect": {"type": "int"},
            "reserved": {"type": "int"},
            "substate": {"type": "str", "choices": ["empty", "fsdax", "devdax", "flat"]},
            "allow_data_loss": {"type": "bool", "default": False},
            "reboot_ok": {"type": "bool", "default": False},
            "slurm": {"type": "bool", "default": True},
        },
        mutually_exclusive=[("mode", name) for name in PERCENTAGES],
        required_one_of=[("mode", "memorymode", "appdirect")],
        supports_check_mode=True,
    )
    try:
        change = Change(Pmctl.of_module(module), module.params)
        result = run(module, change)
    except PmctlError as error:
        module.fail_json(msg=str(error), steps=[])
    module.exit_json(mode=change.show["mode"], substate=change.found["regions"], **result)


if __name__ == "__main__":
    main()
