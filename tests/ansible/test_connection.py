"""Ansible's connection to the guests of a twin, with a stand-in for pmtwin: guests themselves are in test_twin.py."""
import json
import os
import re
import signal
import subprocess

import pytest
from conftest import BUILD, TOP, TWIN_INVENTORY

STAND_IN = """#!/bin/sh
echo "$1 $2 $3 $4" >>"{here}/calls"
[ ! -e "{here}/gone" ] || {{ echo "pmtwin: node $4 is booting" >&2; exit 125; }}
case $1 in
exec) shift 5; exec "$@" ;;
copy) exec cp -r "${{2#*:}}" "${{3#*:}}" ;;
esac
"""


@pytest.fixture
def ansible(tmp_path):
    """ansible(option, …): an ad-hoc command on n1, or a playbook, as (what it says, the calls of pmtwin)."""
    program = tmp_path / "pmtwin"
    program.write_text(STAND_IN.format(here=tmp_path))
    program.chmod(0o755)
    environment = os.environ | {
        "PMTWIN": str(program), "DEBS": "/none", "ANSIBLE_HOME": str(tmp_path), "ANSIBLE_REMOTE_TEMP": str(tmp_path / "remote"),
        "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1", "ANSIBLE_CONNECTION_PLUGINS": str(TOP / "twin/site/connection")}

    def run(*options, playbook=None, preloaded=""):
        options = (*options, "--extra-vars", json.dumps({"pmtwin_preloaded": preloaded}))
        program = ["ansible-playbook", *TWIN_INVENTORY, playbook] if playbook else ["ansible", *TWIN_INVENTORY, "n1"]
        done = subprocess.run([BUILD / "ansible-venv/bin" / program[0], *program[1:], *options],
                              env=environment, capture_output=True, text=True)
        return done.stdout + done.stderr, (tmp_path / "calls").read_text().splitlines()
    return run


def test_modules_and_files_reach_the_guest(ansible, tmp_path):
    (tmp_path / "source").write_text("text\n")
    said, calls = ansible("-m", "copy", "-a", f"src={tmp_path}/source dest={tmp_path}/target")
    assert "CHANGED" in said and (tmp_path / "target").read_text() == "text\n"
    assert "exec --wait 10 n1" in calls
    assert [call.split()[2][:4] for call in calls if call.startswith("copy ")] == ["n1:/"]
    said, calls = ansible("-m", "fetch", "-a", f"src={tmp_path}/target dest={tmp_path}/back flat=true")
    assert (tmp_path / "back").read_text() == "text\n", said


def test_ansible_host_says_which_guest(ansible):
    said, calls = ansible("-m", "command", "-a", "true", "--extra-vars", json.dumps({"ansible_host": "head"}))
    assert "CHANGED" in said and set(calls) == {"exec --wait 10 head"}


def test_a_delegated_task_goes_to_the_other_guest(ansible, tmp_path):
    playbook = tmp_path / "play.yml"
    playbook.write_text(json.dumps([{"hosts": "n1", "gather_facts": False, "tasks": [
        {"ansible.builtin.command": "true", "delegate_to": "head"}]}]))
    said, calls = ansible(playbook=playbook)
    assert "changed=1" in said and set(calls) == {"exec --wait 10 head"}


@pytest.fixture
def preloaded(tmp_path):
    """A folder for an interpreter; what runs in it is ended."""
    folder = tmp_path / "preloaded"
    yield str(folder)
    os.kill(int((folder / "pid").read_text()), signal.SIGTERM)


def test_one_interpreter_runs_all_modules(ansible, preloaded, tmp_path):
    for word in ("one", "two"):
        said, calls = ansible("-m", "copy", "-a", f"content={word} dest={tmp_path}/target", preloaded=preloaded)
        assert "CHANGED" in said and (tmp_path / "target").read_text() == word
    assert len([call for call in calls if "pmtwin-preloaded." in call]) == 1
    assert sorted(path.name for path in (tmp_path / "preloaded").iterdir()) == ["library", "log", "pid", "preloaded.py", "requests"]


# What differs between two runs of the same, and what the shell says of its interpreter.
VARYING = re.compile(r'"(start|end|delta)".*|\d\d:\d\d:.*|Killed\\n')
ENDINGS = (("command", "sh -c 'echo out; echo err >&2; exit 3'"), ("command", "sh -c 'kill -9 $PPID'"), ("stat", "path=/nowhere/at/all"),
           ("apt", "name=x state=nonsense"), ("slurm_pmem.cluster.pmem_info", "pmctl=/nowhere"))


def test_in_one_interpreter_modules_end_as_in_their_own(ansible, preloaded):
    for module, arguments in ENDINGS:
        own, forked = (VARYING.sub("", ansible("-m", module, "-a", arguments, preloaded=where)[0]) for where in ("", preloaded))
        assert own == forked


def test_a_guest_that_does_not_answer_is_unreachable(ansible, tmp_path):
    (tmp_path / "gone").touch()
    said, _calls = ansible("-m", "ping")
    assert "UNREACHABLE" in said and "pmtwin: node n1 is booting" in said
