"""No other series of Slurm comes along by the way: an apt-get that says what the real one would."""
import json
import os

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.slurm_pmem.cluster.plugins.modules import pmem_packages

SAME = "Inst slurmd [22.05.8-4+deb12u3] (22.05.8-4+deb12u4 Debian-Security:12/oldstable-security [amd64])"
OTHER = "Inst slurmctld [22.05.8-4+deb12u3] (24.11.5-4 Debian:13.1/stable [amd64])"
OURS = "Inst slurm-pmem-plugin [0.1.0-1~deb12+slurm22.05] (0.2.0-1~deb13+slurm24.11 localhost [amd64])"
FIRST = "Inst slurmctld (24.11.5-4 Debian:13.1/stable [amd64])"


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    """ask(lines, option=value, …): what Ansible would get back in check mode."""
    def run_module(lines, **options):
        program = tmp_path / "apt-get"
        program.write_text("\n".join(["#!/bin/sh", "cat <<'END'", *lines, "END", "exit 0", ""]))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        arguments = {"packages": ["slurm-pmem-plugin"], "state": "latest", "folder": str(tmp_path), "_ansible_check_mode": True}
        with patch_module_args(arguments | options), pytest.raises(SystemExit):
            pmem_packages.main()
        return json.loads(capsys.readouterr().out)
    return run_module


@pytest.mark.parametrize("lines", [[SAME, OURS], [FIRST, OURS], []])
def test_what_may_come(ask, lines):
    told = ask(lines)
    assert "failed" not in told and len(told["changes"]) == len(lines)


def test_another_series_is_refused_until_it_is_allowed(ask):
    told = ask([SAME, OURS, OTHER])
    assert told["failed"]
    assert "would bring another series of Slurm: slurmctld 22.05.8-4+deb12u3 to 24.11.5-4. Read docs/admin" in told["msg"]
    assert "failed" not in ask([OTHER], slurm_upgrade_ok=True)
