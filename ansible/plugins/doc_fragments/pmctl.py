# SPDX-License-Identifier: Apache-2.0
"""Documentation of the options in module_utils/pmctl.py."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of every module that asks pmctl."""

    DOCUMENTATION = r"""
options:
  pmctl:
    description: The pmctl program on the node.
    type: path
    default: /usr/bin/pmctl
  config:
    description: Another pmem.conf than C(/etc/slurm/pmem.conf).
    type: path
  node:
    description: The node's name in Slurm, where that is not its host name up to the first dot.
    type: str
"""
