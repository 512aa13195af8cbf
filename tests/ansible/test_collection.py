"""What the roles say of themselves, and what they bring, is what slurm-pmem's own samples have."""
import json
import re
import subprocess
import sys

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from conftest import TOP

ROLES = sorted((TOP / "ansible/roles").iterdir())


TEMPLATE = """
import json, sys
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
text, names = json.load(sys.stdin)
print(json.dumps(Templar(DataLoader(), variables=names).template(trust_as_template(text))))
"""


def template(text, names):
    """As a controller does, in a process of its own: a module beside its parts would take itself for one."""
    done = subprocess.run([sys.executable, "-c", TEMPLATE], input=json.dumps([text, names]), check=True,
                          stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def load(path):
    return yaml.safe_load(path.read_text()) if path.exists() else {}


def options(role):
    return load(role / "meta/argument_specs.yml")["argument_specs"]["main"]["options"]


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_each_variable_is_specified_with_its_default(role):
    defaults = load(role / "defaults/main.yml")
    assert {name: option["default"] for name, option in options(role).items()} == defaults


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_each_variable_is_used(role):
    text = "".join(path.read_text() for path in (TOP / "ansible").rglob("*")
                   if path.suffix in (".yml", ".j2") and path.parent.name not in ("defaults", "meta"))
    for name in options(role):
        assert re.search(rf"\b{name}\b", text), name


def test_each_variable_in_a_task_is_specified_or_passed_on():
    """What a playbook or a task file hands to a task file under vars: is no variable of a role's; groups are the inventory's."""
    texts = [path.read_text() for path in (TOP / "ansible/roles").rglob("*") if path.parent.name in ("tasks", "vars")]
    playbooks = [path.read_text() for path in (TOP / "ansible/playbooks").iterdir()]
    used = {name for text in texts for name in re.findall(r"(?<![\w./'-])(?:pmem|slurm)_[a-z_]+\b(?!\\?\.)", text)}
    passed = {name for text in texts + playbooks for pair in re.findall(r"^ +((?:pmem|slurm)_\w+):|groups\[.(\w+).\]", text, re.M) for name in pair}
    assert used - passed - {name for role in ROLES for name in options(role)} == set()


def test_slurmctld_is_restarted_for_new_programs():
    """It loads them once."""
    tasks = load(TOP / "ansible/roles/pmem_controller/tasks/services.yml")
    watched, = (task["vars"]["pmem_watched"] for task in tasks if task["name"].startswith("Restart slurmctld"))
    for program in (TOP / "controller").glob("*.lua"):
        assert f"/{program.name}'" in watched


def sample(name):
    """Key to value of a file in etc/."""
    lines = (TOP / "etc" / name).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def as_slurm(value):
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def test_slurm_conf_is_the_sample():
    ours = load(TOP / "ansible/roles/pmem/vars/main.yml")["__pmem_slurm_conf"]
    assert {key: as_slurm(value) for key, value in ours.items()} == sample("slurm-pmem.conf")


def test_configless_adds_one_word_to_the_sample():
    ours = load(TOP / "ansible/roles/pmem/vars/main.yml")["__pmem_slurm_conf_configless"]
    assert {key: as_slurm(value) for key, value in ours.items()} == {
        "SlurmctldParameters": "enable_configless," + sample("slurm-pmem.conf")["SlurmctldParameters"]}


def test_helpers_conf_is_the_sample():
    ours = load(TOP / "ansible/roles/pmem/vars/main.yml")
    theirs = sample("helpers.conf")
    assert {key: as_slurm(value) for key, value in ours["__pmem_helpers_conf"].items()} == {
        key: value for key, value in theirs.items() if key != "Feature"}
    features = re.findall(r"^Feature=(\S+) Helper=(\S+)$", (TOP / "etc/helpers.conf").read_text(), re.M)
    assert features == [(feature, ours["__pmem_helper"]) for feature in ours["__pmem_features"]]


SITES = [
    ({}, [], None),
    ({"RebootUsers": "*"}, [{"PartitionName": "a", "RebootUsers": "alice"}], None),
    ({"RebootUsers": "alice"}, [{"PartitionName": "a", "RebootUsers": "*"}], None),
    ({"RebootUsers": "alice,bob"}, [], "alice,bob"),
    ({"RebootUsers": ["alice", "bob"]}, [{"PartitionName": "a", "RebootUsers": "bob,carol"}, {"PartitionName": "b"}], "alice,bob,carol"),
]


@pytest.mark.parametrize("conf, lines, users", SITES)
def test_who_may_reboot_is_told_to_slurm(conf, lines, users):
    """Slurm's list has no partitions: who may somewhere is on it."""
    names = {"pmem_conf": conf, "pmem_conf_lines": lines}
    text = load(TOP / "ansible/roles/pmem/vars/main.yml")["__pmem_reboot_users"]
    found = template(text, names)
    assert ([None] if "*" in found else [",".join(found)]) == [users]


OUR_HEALTH_CHECK = "/usr/libexec/slurm-pmem/pm-reachable"


@pytest.mark.parametrize("slurm_conf, conf, program, of_site", [
    ({}, {}, OUR_HEALTH_CHECK, None),
    ({"HealthCheckProgram": OUR_HEALTH_CHECK}, {}, OUR_HEALTH_CHECK, None),
    ({"HealthCheckProgram": "/usr/sbin/nhc"}, {}, OUR_HEALTH_CHECK, "/usr/sbin/nhc"),
    ({"HealthCheckProgram": "/usr/sbin/nhc"}, {"SiteHealthCheckProgram": "/usr/sbin/nhc -t 30"}, OUR_HEALTH_CHECK, "/usr/sbin/nhc -t 30"),
    ({}, {"SiteHealthCheckProgram": "/usr/sbin/nhc"}, OUR_HEALTH_CHECK, "/usr/sbin/nhc"),
    ({"HealthCheckProgram": None}, {}, None, None)])
def test_a_sites_health_check_is_run_by_ours(slurm_conf, conf, program, of_site):
    """Slurm has one HealthCheckProgram; what a site sets goes to pmem.conf."""
    names = load(TOP / "ansible/roles/pmem/vars/main.yml")
    names |= {"pmem_slurm_conf": slurm_conf, "pmem_conf": conf, "pmem_configless": False}
    names["__pmem_site_health_check"] = template(names["__pmem_site_health_check"], names)
    assert template(names["__pmem_slurm_conf_here"], names).get("HealthCheckProgram") == program
    assert template(names["__pmem_conf_here"], names).get("SiteHealthCheckProgram") == of_site


def spec_problems(**variables):
    """What Ansible says of these variables of the role pmem before it does anything."""
    given = {name: option for name, option in options(TOP / "ansible/roles/pmem").items() if name in variables}
    return ArgumentSpecValidator(given).validate(variables).error_messages


def test_the_keys_of_pmem_conf_are_those_of_pmctl(machine):
    """With a sample, which sets nothing."""
    (machine.directory / "pmem.conf").write_text((TOP / "etc/pmem.conf").read_text())
    shown = json.loads(machine.pmctl("show-config", "--json"))["keys"]
    keys = {name: key["value"] for name, key in shown.items()}
    for name in ("pmem_conf", "pmem_plugstack_conf"):
        assert spec_problems(**{name: keys}) == []
    assert spec_problems(pmem_conf_lines=[{"NodeName": "n[1-4]", **keys}, {"PartitionName": ["a", "b"], "Modes": "memory"}]) == []
    specified = {name: option["default"] for name, option in options(TOP / "ansible/roles/pmem")["pmem_conf"]["options"].items()}
    assert {name: ("no", "yes")[value] if isinstance(value, bool) else as_slurm(value) for name, value in specified.items()} == keys


@pytest.mark.parametrize("variable, value", [
    ("pmem_conf", {"Bogus": 1}), ("pmem_conf", {"modes": "memory"}), ("pmem_plugstack_conf", {"Bogus": 1}),
    ("pmem_conf_lines", [{"NodeName": "n1", "Bogus": 1}]), ("pmem_conf", {"NodeName": "n1"}), ("pmem_conf", {"ToolTimeout": "soon"})])
def test_what_is_no_key_of_pmem_conf_is_refused(variable, value):
    assert spec_problems(**{variable: value})


def test_job_submit_is_the_sample():
    def code(path):
        return [line for line in path.read_text().splitlines() if line and not re.match(r"--|\{%|pm\.\w+ =", line)]
    assert code(TOP / "ansible/roles/pmem_controller/templates/job_submit.lua.j2") == code(TOP / "etc/job_submit.lua")
