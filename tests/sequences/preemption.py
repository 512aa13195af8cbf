"""A bench with three partitions over the same nodes: jobs of `urgent` preempt those of `main`, which go back to the queue,
and those of `cheap`, which are cancelled; those of `main` preempt the latter.
"""

import random
import re

from actions import Submit
from meddlers import modes_of
from sites import BenchSite
from submitting import BESIDE, MAX_LIVE, next_number
from world import TIERS, World

PREEMPT_CONF = """\
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=cheap Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
"""
LONG_S = 6.0


class PreemptionSite(BenchSite):
    place = "preemption"

    def _configure(self) -> None:
        preempt(self)
        self.restart_all()


def preempt(site: BenchSite) -> None:
    """Daemons that start then know the partitions."""
    path = site.home / "etc/slurm.conf"
    conf = re.sub(r"^(PartitionName=main .*)$", r"\1 PriorityTier=5", path.read_text(), flags=re.M)
    path.write_text(conf + PREEMPT_CONF)


class Long(Submit):
    """A job that others preempt."""

    def __init__(self, name: str, weight: float):
        super().__init__(name, "", weight)

    def choose(self, world, chance):
        self.client = chance.choice(("sbatch", "sbatch", "sbatch", "srun", "salloc"))
        step = super().choose(world, chance)
        return step and step | {"seconds": LONG_S}

    def extra(self, world, chance):
        return [f"--partition={chance.choice(('main', 'main', 'cheap'))}"]


class Urgent(Submit):
    """It names a node of a job that gives way, also one that boots for that job, and asks for the node's mode or another one."""

    def __init__(self, name: str, weight: float):
        super().__init__(name, "", weight)

    def choose(self, world, chance):
        nodes = sorted({node for job in world.live() if job.tier < TIERS["urgent"] for node in job.busy_nodes()})
        if not nodes or len(world.live()) >= MAX_LIVE + BESIDE:
            return None
        node = chance.choice(nodes)
        return {"job": next_number(world), "argv": [chance.choice(("sbatch", "sbatch", "srun", "salloc")), "--partition=urgent",
                *self.mode(world, node, chance), "-w", node], "env": {}, "seconds": chance.choice((0.3, 2.0))}

    @staticmethod
    def mode(world: World, node: str, chance: random.Random) -> list[str]:
        mine = modes_of(world, node)
        modes = mine if mine and chance.random() < 0.4 else world.site.modes()
        return [] if chance.random() < 0.2 else [f"--pm-mode={chance.choice(modes)}"]


PREEMPTION = (Long("long", 4), Urgent("urgent", 6))
