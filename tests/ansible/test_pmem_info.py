"""pmem_info on the emulated machine."""


def test_unconfigured(machine, info):
    told = info()
    assert told["changed"] is False
    assert told["mode"] == "unknown"
    assert told["health"] == {"ok": False, "text": "the node's mode is unknown: the persistent memory is not configured"}
    assert told["journal"]["state"] == "none"
    assert told["reboot_required"] is False
    assert told["slurm_state"] == "IDLE+DRAIN"
    assert len(told["show"]["modules"]) == 4


def test_after_a_change_and_with_a_goal(machine, info):
    machine.into("appdirect")
    machine.pmctl("set", "memory")
    told = info()
    assert (told["mode"], told["reboot_required"]) == ("appdirect", True)
    assert told["health"]["ok"]
    assert told["journal"]["state"] == "staged"
    assert told["settings"]["MixedPercent"] == "50"


def test_says_the_state_of_the_regions(machine, info):
    machine.into("appdirect")
    for state in ("empty", "devdax", "flat"):
        machine.regions(state)
        assert info()["substate"] == state
    machine.regions("foreign")
    assert info()["substate"] is None


def test_says_the_same_in_check_mode(machine, info):
    machine.into("memory")
    before = machine.files()
    assert info(check=True) == info()
    assert machine.files() == before


def test_without_a_controller(machine, info):
    machine.script("scontrol", "echo 'slurm_load_node error: Unable to contact slurm controller' >&2; exit 1")
    told = info()
    assert told["slurm_state"] is None
    assert "Unable to contact slurm controller" in str(told["warnings"])


def test_a_machine_that_slurm_does_not_know(machine, info):
    machine.script("scontrol", "echo 'Node n1 not found'; exit 1")
    assert info()["slurm_state"] == "not in Slurm"
    (machine.directory / "scontrol").unlink()
    assert info()["slurm_state"] == "not in Slurm"


def test_without_pmctl(machine, info):
    told = info(pmctl="/nonexistent/pmctl")
    assert told["failed"]
    assert "there is no '/nonexistent/pmctl'; install" in told["msg"]


def test_a_wrong_configuration_is_named_with_file_and_line(machine, info):
    machine.configure("MixedPercent=no")
    told = info()
    assert told["failed"]
    assert "pmem.conf:5" in told["msg"]
