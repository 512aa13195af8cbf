"""pmem_mode on the emulated machine: real pmctl, real ipmctl, a firmware that applies goals."""
import json

import pytest
from conftest import BUILD, NODE

ALLOWED = {"reboot_ok": True, "allow_data_loss": True}


def test_there_already(machine, mode):
    machine.into("appdirect")
    before = machine.files()
    told = mode("appdirect")
    assert (told["changed"], told["reboot_required"], told["mode"]) == (False, False, "appdirect")
    assert "diff" not in told
    assert machine.files() == before


def test_stage_reboot_verify(machine, mode):
    machine.into("appdirect")
    told = mode("memory", reboot_ok=True)
    assert (told["changed"], told["reboot_required"], told["mode"]) == (True, True, "appdirect")
    assert machine.has_goal()
    assert told["slurm_state"] == "IDLE+DRAIN"
    machine.reboot()
    told = mode("memory", reboot_ok=True)
    assert (told["changed"], told["reboot_required"], told["mode"]) == (False, False, "memory")


def test_the_second_call_verifies_where_no_unit_did(machine, mode):
    mode("memory", reboot_ok=True)
    machine.reboot(verify=False)
    assert mode("memory", check=True)["changed"]
    told = mode("memory")
    assert (told["changed"], told["reboot_required"], told["mode"]) == (True, False, "memory")
    assert mode("memory")["changed"] is False


def test_from_a_factory_fresh_machine_through_all_modes(machine, mode):
    for wanted in ("appdirect", "memory", "mixed", "appdirect"):
        assert mode(wanted, reboot_ok=True)["reboot_required"]
        machine.reboot()
        assert mode(wanted)["mode"] == wanted


def test_killed_after_staging(machine, mode):
    machine.pmctl("set", "memory")
    told = mode("memory", reboot_ok=True)
    assert (told["changed"], told["reboot_required"]) == (False, True)
    told = mode("memory")
    assert told["failed"] and "reboot_ok" in told["msg"]


def test_another_mode_takes_the_place_of_a_staged_one(machine, mode):
    machine.into("appdirect")
    mode("memory", reboot_ok=True)
    told = mode("mixed", reboot_ok=True)
    assert told["changed"]
    assert [step["command"].split()[1] for step in told["steps"]] == ["delete", "create"]
    told = mode("appdirect")
    assert told["changed"] and not told["reboot_required"]
    assert not machine.has_goal()


def test_reboot_is_required_in_words(machine, mode):
    machine.into("appdirect")
    before = machine.files()
    for check in (False, True):
        told = mode("memory", check=check)
        assert told["failed"] and told["changed"] is False
        assert told["required"] == ["reboot_ok: only a reboot brings the node from appdirect to memory"]
    assert machine.files() == before


@pytest.mark.parametrize("state", ["IDLE", "ALLOCATED", "MIXED+DRAIN", "ALLOCATED+DRAIN", "IDLE+COMPLETING+DRAIN",
                                   "DOWN+COMPLETING", "IDLE+MAINTENANCE"])
def test_a_node_that_is_not_drained(machine, mode, state):
    machine.into("appdirect")
    machine.slurm(state)
    told = mode("memory", **ALLOWED)
    assert told["failed"]
    assert f"in Slurm {NODE} is {state}" in told["msg"] and "state=drain" in told["msg"]
    assert not machine.has_goal()


@pytest.mark.parametrize("state", ["IDLE+DRAIN", "IDLE*+DRAIN", "DOWN", "DOWN*+DRAIN", "IDLE+DRAIN+NOT_RESPONDING"])
def test_a_node_without_jobs(machine, mode, state):
    machine.slurm(state)
    assert mode("memory", **ALLOWED)["changed"]


def test_when_slurm_does_not_answer_nothing_is_done(machine, mode):
    machine.into("appdirect")
    machine.script("scontrol", "echo 'slurm_load_node error: Unable to contact slurm controller' >&2; exit 1")
    told = mode("memory", **ALLOWED)
    assert told["failed"] and f"cannot tell whether node '{NODE}' is drained" in told["msg"]
    assert not machine.has_goal()
    assert mode("memory", slurm=False, **ALLOWED)["changed"]


def test_check_mode_changes_nothing_and_predicts(machine, mode):
    machine.into("appdirect")
    before = machine.files()
    predicted = mode("memory", check=True, **ALLOWED)
    assert machine.files() == before
    done = mode("memory", **ALLOWED)
    for key in ("changed", "reboot_required", "steps", "diff"):
        assert predicted[key] == done[key], key


def test_the_diff_says_what_is_destroyed(machine, mode):
    machine.into("appdirect")
    shown = mode("memory", check=True, **ALLOWED)["diff"]
    assert shown["before"] == "mode: appdirect\nregions: None\n"
    assert "goal: memory\n" in shown["after"]
    assert "# destroys the labels of 4 modules at once" in shown["after"]
    assert shown["after"].endswith("reboot\n")


def test_namespaces_of_ours_go_only_when_allowed(machine, mode):
    machine.into("appdirect")
    machine.regions("devdax")
    told = mode("memory", reboot_ok=True)
    assert told["failed"]
    assert "allow_data_loss: this destroys the namespace namespace" in told["msg"]
    assert machine.changed() == [] and not machine.has_goal()
    assert mode("memory", check=True, **ALLOWED)["changed"]
    assert machine.changed() == []
    told = mode("memory", **ALLOWED)
    assert told["reboot_required"] and machine.has_goal()
    assert any("destroy-namespace" in line for line in machine.changed())


def test_foreign_namespaces_stay_whatever_is_allowed(machine, mode):
    machine.into("appdirect")
    machine.regions("foreign")
    for check in (True, False):
        told = mode("memory", check=check, **ALLOWED)
        assert told["failed"] and "not slurm-pmem's" in told["msg"]
    assert machine.changed() == [] and not machine.has_goal()


def test_substate_of_regions_that_are_there_already(machine, mode):
    machine.into("appdirect")
    for state in ("devdax", "empty", "flat"):
        machine.regions(state)
        assert mode("appdirect", substate=state)["changed"] is False
    assert machine.changed() == []


def test_a_substate_that_destroys(machine, mode):
    machine.into("appdirect")
    machine.regions("devdax")
    told = mode("appdirect", substate="empty")
    assert told["failed"] and "this destroys all that is on namespace" in told["msg"]
    told = mode("appdirect", substate="empty", check=True, allow_data_loss=True)
    assert told["changed"] and not told["reboot_required"]
    assert "regions: devdax" in told["diff"]["before"] and "regions: empty" in told["diff"]["after"]


def test_a_change_that_does_not_happen_is_a_failure(machine, mode):
    machine.into("appdirect")
    machine.regions("empty")
    told = mode("appdirect", substate="devdax", allow_data_loss=True)
    assert told["failed"]


def test_what_pmctl_says_it_has_done_is_read_back(machine, mode):
    """Real pmctl behind a door that lets no change in, and says that all went well."""
    machine.into("appdirect")
    machine.script("door", "case $* in *--json*) ;; *' set '*) exit 0 ;; esac", f'exec {BUILD}/pmctl "$@"')
    told = mode("memory", pmctl=f"{machine.directory}/door", **ALLOWED)
    assert told["failed"] and "after the change the node shows" in told["msg"] and "-goal MemoryMode=100" in told["msg"]


def test_substate_goes_with_regions(machine, mode):
    told = mode("memory", substate="empty")
    assert told["failed"] and "substate goes with mode appdirect or mixed" in told["msg"]


def test_a_goal_that_the_firmware_rejects(machine, mode):
    machine.into("appdirect")
    mode("memory", reboot_ok=True)
    machine.run_firmware("goal-rejected")
    told = mode("memory", reboot_ok=True)
    assert told["failed"]
    assert "rejected by the firmware on 0x0001" in told["msg"]


def test_a_rejection_that_the_unit_has_seen_is_told(machine, mode):
    machine.into("appdirect")
    mode("memory", reboot_ok=True)
    machine.run_firmware("goal-rejected")
    machine.pmctl("verify", check=False)
    told = mode("memory")
    assert told["required"][0].startswith("reboot_ok, to try again: goal memory was rejected by the firmware on 0x0001")
    assert mode("memory", reboot_ok=True)["reboot_required"]


def test_percentages(machine, mode):
    machine.into("appdirect")
    assert mode(None, appdirect=100)["changed"] is False
    assert mode(None, memorymode=100, check=True, reboot_ok=True)["diff"]["after"].count("goal: memory")
    assert mode(None, memorymode=50, appdirect=50, check=True, reboot_ok=True)["diff"]["after"].count("goal: mixed")


@pytest.mark.parametrize("wanted, message", [
    ({"memorymode": 75, "appdirect": 25}, "pmem.conf has MixedPercent=50, the percentages ask for MixedPercent=75"),
    ({"memorymode": 80, "reserved": 20}, "pmem.conf has ReservedPercent=0"),
    ({"memorymode": 50, "appdirect": 20}, "together they must be 100"),
    ({"memorymode": 0, "reserved": 100}, "together they must be 100"),
    ({"memorymode": 110, "appdirect": -10}, "together they must be 100"),
    ({"reserved": 100}, "one of the following is required"),
    ({"mode": "memory", "memorymode": 100}, "mutually exclusive"),
    ({"mode": "2lm"}, "value of mode must be one of"),
])
def test_bad_input(machine, mode, wanted, message):
    told = mode(None, **wanted)
    assert told["failed"]
    assert message in json.dumps(told)
    assert not machine.has_goal()
