"""Ansible connection to a node of tests/cluster: a process on this host that sees that node's pmctl and Slurm."""
from __future__ import annotations

DOCUMENTATION = """
name: bench
short_description: A node of tests/cluster
description: Runs programs on this host, with the environment of the bench in the folder $PMBENCH; a file NODE/gone there means no answer.
author: The slurm-pmem authors
options:
  node:
    description: The node's name.
    vars:
      - name: inventory_hostname
"""

import os
import shlex

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection.local import Connection as LocalConnection


class Connection(LocalConnection):
    """Local, but for the name: ansible.builtin.reboot refuses to reboot the machine that Ansible runs on."""

    transport = "bench"

    def exec_command(self, cmd, in_data=None, sudoable=True):
        bench = os.environ["PMBENCH"]
        if os.path.exists(os.path.join(bench, self.get_option("node"), "gone")):
            raise AnsibleConnectionFailure("the node is gone")
        words = [f"{name}={shlex.quote(value)}" for name, value in (
            ("PATH", f"{bench}/bin:/usr/sbin:/usr/bin:/sbin:/bin"), ("SLURM_CONF", f"{bench}/etc/slurm.conf"),
            ("SLURMD_NODENAME", self.get_option("node")))]
        return super().exec_command(f"export {' '.join(words)}; {cmd}", in_data, sudoable)
