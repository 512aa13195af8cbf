"""Ansible connection to a guest of the twin, as root: over 'pmtwin exec' and 'pmtwin copy'."""
from __future__ import annotations

DOCUMENTATION = """
name: pmtwin
short_description: A guest of the emulated cluster
description: Runs programs with C(pmtwin exec) and brings files with C(pmtwin copy). The guest needs no ssh and no network.
author: The slurm-pmem authors
options:
  node:
    description: The guest's name.
    vars:
      - name: inventory_hostname
      - name: ansible_host
  pmtwin:
    description: The pmtwin program; the twin is that of PMTWIN_DIR.
    default: pmtwin
    env:
      - name: PMTWIN
    vars:
      - name: pmtwin_program
"""

import subprocess

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.connection import ConnectionBase

LOST_STATUS = 125  # pmtwin's own failures: the guest does not answer
WAIT_S = 10


class Connection(ConnectionBase):
    """Stateless: each command is a pmtwin of its own."""

    transport = "pmtwin"
    has_pipelining = True

    def _connect(self):
        self._connected = True
        return self

    def close(self):
        self._connected = False

    def reset(self):
        self.close()

    def _run(self, *words, in_data=None):
        done = subprocess.run([self.get_option("pmtwin"), *words], input=in_data or b"", capture_output=True)
        if done.returncode == LOST_STATUS:
            raise AnsibleConnectionFailure(done.stderr.decode(errors="replace").strip())
        return done.returncode, done.stdout, done.stderr

    def exec_command(self, cmd, in_data=None, sudoable=True):
        super().exec_command(cmd, in_data=in_data, sudoable=sudoable)
        return self._run("exec", "--wait", str(WAIT_S), self.get_option("node"), "--", "/bin/sh", "-c", cmd,
                         in_data=in_data)

    def _copy(self, source, target):
        status, _out, err = self._run("copy", source, target)
        if status:
            raise AnsibleError(f"copy '{source}' to '{target}': {err.decode(errors='replace').strip()}")

    def put_file(self, in_path, out_path):
        super().put_file(in_path, out_path)
        self._copy(in_path, f"{self.get_option('node')}:{out_path}")

    def fetch_file(self, in_path, out_path):
        super().fetch_file(in_path, out_path)
        self._copy(f"{self.get_option('node')}:{in_path}", out_path)
