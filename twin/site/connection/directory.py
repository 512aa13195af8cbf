"""Ansible connection to a root file system in a directory, by chroot: packages and files, no services."""
from __future__ import annotations

DOCUMENTATION = """
name: directory
short_description: A root file system in a directory
description: Runs programs in the root file system in the folder DIRECTORIES/HOST; without that folder the host is down. Needs root.
author: The slurm-pmem authors
options:
  node:
    description: The folder's name; of a delegated task only this variable is the other host's.
    vars:
      - name: inventory_hostname_short
"""

import os
import shlex
import shutil

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection.local import Connection as LocalConnection

CHROOT = 'exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root /bin/sh -c "$2"'
# Scripts of packages look into /proc. Who has mounted it there may be where no namespace of mounts can be made: in a chroot.
MOUNT = 'mount -t proc proc "$1/proc" && '


def inside(root: str) -> list[str]:
    if os.path.exists(f"{root}/proc/self"):
        return ["sh", "-c", CHROOT, "sh", root]
    return ["unshare", "--mount", "--", "sh", "-c", MOUNT + CHROOT, "sh", root]


class Connection(LocalConnection):
    """Local, but for the root."""

    transport = "directory"

    def _root(self):
        root = os.path.join(os.environ["DIRECTORIES"], self.get_option("node"))
        if not os.path.isdir(root):
            raise AnsibleConnectionFailure(f"there is no '{root}'")
        return root

    def exec_command(self, cmd, in_data=None, sudoable=True):
        return super().exec_command(shlex.join([*inside(self._root()), cmd]), in_data, sudoable)

    def put_file(self, in_path, out_path):
        shutil.copy(in_path, self._root() + out_path)

    def fetch_file(self, in_path, out_path):
        shutil.copy(self._root() + in_path, out_path)
