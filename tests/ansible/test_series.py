"""No other series of Slurm comes along by the way: an apt-get that says what the real one would."""
import json
import os
import subprocess

import pytest
from conftest import BUILD, TOP

SAME = "Inst slurmd [22.05.8-4+deb12u3] (22.05.8-4+deb12u4 Debian-Security:12/oldstable-security [amd64])"
OTHER = "Inst slurmctld [22.05.8-4+deb12u3] (24.11.5-4 Debian:13.1/stable [amd64])"
OURS = "Inst slurm-pmem-plugin [0.1.0-1~deb12+slurm22.05] (0.2.0-1~deb13+slurm24.11 localhost [amd64])"
FIRST = "Inst slurmctld (24.11.5-4 Debian:13.1/stable [amd64])"


def play(tmp_path, lines, **variables):
    program = tmp_path / "apt-get"
    program.write_text("\n".join(["#!/bin/sh", "cat <<'END'", *lines, "END", "exit 0", ""]))
    program.chmod(0o755)
    variables |= {"ansible_python_interpreter": "/usr/bin/python3", "ansible_connection": "local"}
    environment = os.environ | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "ANSIBLE_HOME": str(BUILD / "ansible-home"), "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_COLLECTIONS_PATH": str(BUILD / "collections"), "ANSIBLE_LOCALHOST_WARNING": "false"}
    return subprocess.run([str(BUILD / "ansible-venv/bin/ansible-playbook"), "-i", "localhost,", str(TOP / "tests/ansible/series.yml"),
                           "--extra-vars", json.dumps(variables)], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("lines", [[SAME, OURS], [FIRST, OURS], []])
def test_what_may_come(tmp_path, lines):
    done = play(tmp_path, lines)
    assert done.returncode == 0, done.stdout


def test_another_series_is_refused_until_it_is_allowed(tmp_path):
    done = play(tmp_path, [SAME, OURS, OTHER])
    assert done.returncode
    assert "would bring another series of Slurm: slurmctld 22.05.8-4+deb12u3 to 24.11.5-4. Read docs/admin" in done.stdout
    assert play(tmp_path, [OTHER], pmem_slurm_upgrade_ok=True).returncode == 0
