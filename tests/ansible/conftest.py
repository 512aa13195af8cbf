"""Fixtures: the real pmctl with real ipmctl on an emulated machine, and our modules run on it. Needs root."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("PM_BUILD", TOP / "build"))
RECORDED = TOP / "tests/fixtures/substate/ndctl-76"
# Of a plain twin.
TWIN_INVENTORY = ("-i", str(TOP / "twin/site/cluster.yml"), "-i", str(TOP / "tests/ansible/twin.yml"))
sys.path[:0] = [str(TOP / "twin"), str(BUILD / "collections")]

from ansible.module_utils.testing import patch_module_args  # noqa: E402
from ansible_collections.slurm_pmem.cluster.plugins.modules import pmem_info, pmem_mode  # noqa: E402
from machine import Node, Topology, fakeroot  # noqa: E402

LARGE = 1 << 24
# No bench on this host has a node of that name: pmctl looks for steps of the node's jobs among the host's sockets.
NODE = "pmnode1"
SCONTROL_LINE = "NodeName=pmnode1 Arch=x86_64 CPUAlloc=0 State={state} ThreadsPerCore=1 Partitions=main"


def recorded_ndctl(directory: Path, namespaces: Path = TOP / "tests/fixtures/ndctl/nothing") -> list[str]:
    """A stand-in for ndctl and daxctl: lists what was recorded in the state that the file 'regions' names.

    Once something is destroyed the regions are empty. What would change them is written to the file 'changed'.
    """
    return [f"now=$(cat {directory}/regions)", "case $* in",
            f"*-R*) cat {RECORDED}/$now.regions.json ;;",
            f"*-N*) [ $now = empty ] || cat {namespaces} ;;",
            f"*-D*) [ ! -e {RECORDED}/$now.daxes.json ] || cat {RECORDED}/$now.daxes.json ;;",
            f"*) echo \"ndctl $*\" >>{directory}/changed",
            f"case $* in destroy-namespace*) echo empty >{directory}/regions ;; esac ;;", "esac"]


class Machine:
    """A node in a directory that only root can write: emulated modules, pmctl's state, stand-ins beside it.

    The stand-in for ndctl and daxctl prints what was recorded on a node in some state; the one for scontrol prints a
    line of the form that Slurm's has.
    """

    def __init__(self, directory: Path):
        self.directory = directory
        for name in ("state", "run"):
            (directory / name).mkdir(mode=0o755)
        node = Node(directory / "machine", Topology())
        node.power_on()
        fakeroot.write(node.directory / "root", node.topology, node.state)
        self.script("ipmctl", f"export LD_PRELOAD={BUILD}/tests/pmshim.so PMSHIM_NODE={directory}/machine",
                    'exec /usr/bin/ipmctl "$@"')
        self.script("reset", f"cd {TOP}/twin", "export PYTHONDONTWRITEBYTECODE=1",
                    f'exec /usr/bin/python3 -m machine reboot "$@" {directory}/machine >/dev/null')
        self.script("ndctl", ":")
        self.slurm("IDLE+DRAIN")
        self.configure()

    def script(self, name: str, *lines: str) -> None:
        path = self.directory / name
        path.write_text("\n".join(("#!/bin/sh", *lines, "")))
        path.chmod(0o755)

    def configure(self, *lines: str) -> None:
        here = self.directory
        text = [f"IpmctlPath={here}/ipmctl NdctlPath={here}/ndctl DaxctlPath={here}/ndctl",
                f"ScontrolPath={here}/scontrol RebootCommand={here}/reset",
                f"StateDir={here}/state RunDir={here}/run FsRoot={here}/machine/root", "Provision=no", *lines, ""]
        (here / "pmem.conf").write_text("\n".join(text))

    def slurm(self, state: str) -> None:
        self.script("scontrol", f"[ \"$*\" = '-o show node {NODE}' ] || exit 64", f"echo '{SCONTROL_LINE.format(state=state)}'")

    def regions(self, recorded: str, namespaces: str | None = None) -> None:
        """From here on the regions are as they were recorded in this state; Provision=yes."""
        self.configure("Provision=yes")
        mounts = self.directory / "machine/root/proc/self"
        mounts.mkdir(parents=True, exist_ok=True)
        (mounts / "mountinfo").touch()
        (self.directory / "regions").write_text(recorded)
        self.script("ndctl", *recorded_ndctl(self.directory, *([namespaces] if namespaces else [])))

    def changed(self) -> list[str]:
        path = self.directory / "changed"
        return path.read_text().splitlines() if path.exists() else []

    def pmctl(self, *words: str, check: bool = True) -> str:
        done = subprocess.run([BUILD / "pmctl", "--config", self.directory / "pmem.conf", "--node", NODE, *words],
                              capture_output=True, text=True)
        assert not check or not done.returncode, done.stderr
        return done.stdout + done.stderr

    def reboot(self, verify: bool = True) -> None:
        self.pmctl("reboot")
        if verify:
            self.pmctl("verify", check=False)

    def run_firmware(self, fault: str) -> None:
        subprocess.run([self.directory / "reset", "--fault", fault], check=True)

    def into(self, mode: str) -> None:
        self.pmctl("set", mode)
        self.reboot()

    def has_goal(self) -> bool:
        return bool(json.loads(self.pmctl("show", "--json"))["goal"])

    def files(self) -> dict[str, object]:
        """All that the machine and pmctl remember; of what is large (media) when it was changed."""
        return {str(path): path.read_bytes() if path.stat().st_size < LARGE else path.stat().st_mtime_ns
                for path in sorted(self.directory.rglob("*")) if path.is_file() and path.suffix != ".lock" and path.name != "lock"}


@pytest.fixture
def machine():
    if os.geteuid():
        pytest.skip("pmctl changes modes only as root")
    directory = Path(tempfile.mkdtemp(prefix="pm-ansible.", dir="/run"))
    directory.chmod(0o755)
    yield Machine(directory)
    shutil.rmtree(directory)


@pytest.fixture
def run(machine, capsys):
    """run(module, option=value, …): what Ansible would get back; check=True is check mode."""
    def run_module(module, check=False, **options):
        arguments = {"pmctl": str(BUILD / "pmctl"), "config": str(machine.directory / "pmem.conf"), "node": NODE,
                     "_ansible_check_mode": check, "_ansible_diff": True} | options
        with patch_module_args(arguments), pytest.raises(SystemExit):
            module.main()
        return json.loads(capsys.readouterr().out)
    return run_module


@pytest.fixture
def mode(run):
    """mode("memory", option=value, …) of pmem_mode; positional None leaves the option out."""
    return lambda wanted, **options: run(pmem_mode, **({"mode": wanted} if wanted else {}), **options)


@pytest.fixture
def info(run):
    return lambda **options: run(pmem_info, **options)
