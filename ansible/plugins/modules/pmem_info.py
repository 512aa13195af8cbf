#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Ansible module: what pmctl shows of a node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: pmem_info
short_description: Tell the state of a node's persistent memory
version_added: 0.1.0
description:
  - Returns what C(pmctl show), C(pmctl health), C(pmctl journal), C(pmctl pin --list) and C(pmctl show-config) say of the
    node, as they say it with C(--json). Changes nothing, needs root to see all.
  - Fails if C(pmctl) is not there, or if pmem.conf has an error; that the node is not fit to serve is no failure, see
    RV(health).
extends_documentation_fragment:
  - slurm_pmem.cluster.pmctl
attributes:
  check_mode:
    description: Can run in check mode, where it does the same.
    support: full
  diff_mode:
    description: Returns what changed, which is nothing.
    support: none
author:
  - The slurm-pmem authors (@slurm-pmem)
seealso:
  - module: slurm_pmem.cluster.pmem_mode
"""

EXAMPLES = r"""
- name: Look at the persistent memory
  slurm_pmem.cluster.pmem_info:
  register: pmem

- name: Stop at a node that should not serve
  ansible.builtin.assert:
    that: pmem.health.ok
    fail_msg: "{{ pmem.health.text }}"
"""

RETURN = r"""
mode:
  description: The mode that the node is in; C(unknown) when the evidence contradicts itself.
  returned: success
  type: str
  sample: appdirect
substate:
  description: What all App Direct regions are, C(empty), C(fsdax), C(devdax) or C(flat); null where they differ or are none.
  returned: success
  type: str
  sample: fsdax
reboot_required:
  description: Whether a goal waits for a reboot.
  returned: success
  type: bool
  sample: false
show:
  description: All of C(pmctl show --json), with modules, regions, namespaces, jobs, and what blocks a change.
  returned: success
  type: dict
  sample: {"node": "n1", "mode": "appdirect", "blocks": [], "modules": [], "regions": []}
health:
  description: Whether the node may serve, and if not, the sentence that says why.
  returned: success
  type: dict
  sample: {"ok": true, "text": ""}
journal:
  description: The last change of mode with its steps.
  returned: success
  type: dict
  sample: {"state": "done", "from": "memory", "mode": "appdirect", "steps": []}
pins:
  description: The namespaces that are protected.
  returned: success
  type: list
  elements: dict
  sample: []
settings:
  description: Each key of pmem.conf with the value in force.
  returned: success
  type: dict
  sample: {"MixedPercent": "50", "FileSystem": "ext4"}
slurm_state:
  description: The node's state as Slurm has it; C(not in Slurm) without scontrol or where the controller does not know
    the node; null when the controller does not answer.
  returned: success
  type: str
  sample: IDLE+DRAIN
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.slurm_pmem.cluster.plugins.module_utils.pmctl import (
    ARGUMENTS, Pmctl, PmctlError, SlurmNode, substate,
)


def slurm_state(module, settings, name):
    try:
        return SlurmNode(module.run_command, settings["ScontrolPath"], name).state()
    except PmctlError as error:
        module.warn(str(error))
        return None


def gather(module):
    pmctl = Pmctl.of_module(module)
    show, settings = pmctl.show(), pmctl.settings()
    return {
        "mode": show["mode"],
        "substate": substate(show.get("regions", [])),
        "reboot_required": bool(show.get("goal")),
        "show": show,
        "health": pmctl.health(),
        "journal": pmctl.ask("journal"),
        "pins": pmctl.ask("pin", "--list"),
        "settings": settings,
        "slurm_state": slurm_state(module, settings, show["node"]),
    }


def main():
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    try:
        module.exit_json(changed=False, **gather(module))
    except PmctlError as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
