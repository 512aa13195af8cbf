"""Fixtures: the package under test, nodes in fresh directories, ipmctl over the shim."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "twin"))
sys.path.insert(0, str(Path(__file__).parent))

from machine import GIB, MIB, Node, Topology  # noqa: E402

SHIM = Path(os.environ.get("PMSHIM", TOP / "build/tests/pmshim.so"))

TOPOLOGIES = {
    "twin": Topology(),
    "twelve": Topology.twelve_dimms(),
    "one-socket": Topology(sockets=1, cpus_per_socket=3, dram_per_socket=512 * MIB),
    "four-sockets": Topology(sockets=4, cpus_per_socket=2, channels=2, dram_per_socket=2 * GIB,
                             pmem_per_dimm=4 * GIB),
    "odd-dram": Topology(dram_per_socket=1536 * MIB, pmem_per_dimm=3 * GIB),
    "one-dimm": Topology(controllers=1, dram_per_socket=GIB, pmem_per_dimm=16 * GIB),
}


@pytest.fixture(params=TOPOLOGIES, ids=list(TOPOLOGIES))
def topology(request) -> Topology:
    """Each of several machines."""
    return TOPOLOGIES[request.param]


@pytest.fixture
def node(tmp_path) -> Node:
    """The twin's compute node, fresh from the factory, powered on once."""
    made = Node(tmp_path / "node", Topology())
    made.power_on()
    return made


class Ipmctl:
    """Real ipmctl that sees the node of a directory.

    It wants to be root; to be so in a user namespace is enough.
    """

    AS_ROOT = [] if os.getuid() == 0 else ["unshare", "--map-root-user"]

    def __init__(self, directory):
        self.env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LD_PRELOAD": str(SHIM),
                    "PMSHIM_NODE": str(directory)}

    def __call__(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([*self.AS_ROOT, "ipmctl", *words], env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def out(self, *words: str) -> str:
        done = self(*words)
        assert done.returncode == 0, f"ipmctl {' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="session")
def shim() -> Path:
    if not SHIM.exists():
        pytest.fail(f"{SHIM} is not built: run `make check-machine`")
    return SHIM
