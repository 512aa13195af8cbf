"""What all sites share: Slurm's words about jobs and nodes, and goals in the DIMMs of an emulated machine."""

import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "faults"), str(TOP / "tests" / "cluster"), str(TOP / "twin")]
from machine.image import Image  # noqa: E402
from machine.node import Node  # noqa: E402
from machine.post import read_goals  # noqa: E402


class Cluster:
    """`nodes` and `breakable`, the one that faults are done to, are the site's."""

    place = ""              # of where.PLACES
    has_kernel = False      # file systems, memory and processes of a job's own on each node
    restarts_at_reconfigure = False     # slurmctld and each slurmd: Slurm 23.11 and later
    gives_back_misread = False          # nodes that slurmctld took for too small, by pm-reregister
    nodes: list[str]
    cycled: dict[str, float] = {}           # when the power of each was cut last, where that is known

    def admin(self, *argv: str) -> subprocess.CompletedProcess:
        raise NotImplementedError

    def shown(self) -> tuple[list[dict[str, str]], dict[str, dict[str, str]]]:
        """Jobs and nodes."""
        return self.jobs_shown(), self.nodes_shown()

    def jobs_shown(self) -> list[dict[str, str]]:
        return jobs_in(self.admin("scontrol", "-o", "show", "job").stdout)

    def nodes_shown(self) -> dict[str, dict[str, str]]:
        return nodes_in(self.admin("scontrol", "-o", "show", "node").stdout)

    def come_to_rest(self, world: object) -> None:
        """What an action of this site alone has left."""

    def given(self, number: int) -> list[str]:
        """What the jobs of a submission were told to use and cannot have been given."""
        return []

    def turned_away(self) -> list[tuple[str, float]]:
        """The job of each time that a node took none, and when."""
        return []

    def tool_times(self, node: str) -> list[str]:
        """When tools ran there, as far as it is known."""
        return []

    def has_said(self, node: str, words: str) -> bool:
        return False

    def is_marked(self, node: str, mark: str) -> bool:
        return False

    def left_behind(self) -> list[str]:
        """Of jobs that are gone, on nodes without any."""
        return []


def goals_in(machine: Path) -> list[str]:
    """DIMMs in which a goal waits for the next boot."""
    try:
        node = Node(machine)
        with Image(node.image_path, node.topology) as image:
            waiting, bad = read_goals(node.topology, image)
    except (OSError, ValueError):
        return []
    return [dimm.name for dimm in (*waiting, *bad)]


def jobs_in(text: str) -> list[dict[str, str]]:
    return [fields for fields in map(fields_of, text.splitlines()) if "JobId" in fields]


def nodes_in(text: str) -> dict[str, dict[str, str]]:
    return {fields["NodeName"]: fields for fields in map(fields_of, text.splitlines()) if "NodeName" in fields}


def fields_of(line: str) -> dict[str, str]:
    """The words NAME=VALUE of a line of scontrol; a node's reason goes on to its end."""
    line, _, reason = line.partition(" Reason=") if line.startswith("NodeName=") else (line, "", "")
    fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
    return fields | ({"Reason": re.sub(r" \[\S+@.*", "", reason)} if reason else {})


def own_environment() -> None:
    """What the caller's shell says of modes is not meant for our jobs."""
    for name in list(os.environ):
        if name.startswith(("PM_", "SLURM_", "SBATCH_", "SRUN_", "SALLOC_")):
            del os.environ[name]
