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
  preloaded:
    description: A folder to be made in the guest, for an interpreter that runs all modules in forks of itself; else each has its own.
    default: ""
    vars:
      - name: pmtwin_preloaded
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import ansible
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.connection import ConnectionBase

LOST_STATUS = 125  # pmtwin's own failures: the guest does not answer
WAIT_S = 10
INTERPRETER = "/bin/sh -c '/usr/bin/python3 && sleep 0'"  # as Ansible asks for it
# Makes a request of site/preloaded.py in the folder $1; NOT_THERE: it does not run. Few programs, for each takes its time to begin.
NOT_THERE = 97
REQUEST = f"""
cd "$1" 2>/dev/null && read -r pid <pid && kill -0 "$pid" || exit {NOT_THERE}
cat >$$.module && mkfifo $$.status || exit 1
echo $$ >requests
read -r status <$$.status
cat $$.out
[ ! -s $$.err ] || cat $$.err >&2
rm $$.*
exit "$status"
"""
# Of several who find none in the folder $1, one begins what is in folder $2.
BEGIN = """
exec 9>"$1.lock"
flock 9
if { read -r pid <"$1/pid" && kill -0 "$pid"; } 2>/dev/null; then
    exec rm -r "$2"
fi
rm -rf "$1"
mv "$2" "$1"
setsid /usr/bin/python3 "$1/preloaded.py" </dev/null >"$1/log" 2>&1 9>&- &
until [ -e "$1/pid" ]; do
    kill -0 $! || { cat "$1/log" >&2; exit 1; }
    sleep 0.2
done
"""


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
        if in_data and cmd == INTERPRETER and self.get_option("preloaded"):
            return self._request(in_data)
        return self._sh(cmd, in_data=in_data)

    def _sh(self, text, *arguments, in_data=None):
        return self._run("exec", "--wait", str(WAIT_S), self.get_option("node"), "--", "/bin/sh", "-c", text, *arguments,
                         in_data=in_data)

    def _request(self, module):
        where = self.get_option("preloaded")
        done = self._sh(REQUEST, "sh", where, in_data=module)
        if done[0] != NOT_THERE:
            return done
        self._begin(where)
        return self._sh(REQUEST, "sh", where, in_data=module)

    def _begin(self, where):
        with tempfile.TemporaryDirectory(prefix="pmtwin-preloaded.") as folder:
            library = Path(folder, "library/ansible")
            ours = Path(ansible.__file__).parent
            shutil.copytree(ours / "module_utils", library / "module_utils", ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(ours / "release.py", library)
            (library / "__init__.py").write_text("from ansible.release import __author__, __version__  # noqa: F401\n")
            shutil.copy(Path(__file__).parents[1] / "preloaded.py", folder)
            brought = f"{where}.{Path(folder).name}"
            self._copy(folder, f"{self.get_option('node')}:{brought}")
        status, _out, err = self._sh(BEGIN, "sh", where, brought)
        if status:
            raise AnsibleError(f"begin {where}/preloaded.py: {err.decode(errors='replace').strip()}")

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
