"""A bench with power saving: Slurm turns idle nodes off, and those that are to change their mode; an administrator does so
as well. The site's programs turn nodes off and on as a BMC does.
"""

import random
import re
from dataclasses import replace

from actions import OfNode
from bench_config import write, write_script
from bench_supervisor import call
from common import TOP
from sites import BenchSite, wait_for
from times import BENCH, PASS_S
from world import World

# A change of mode is SuspendTimeout and two boots; that of a busy machine takes a few times as long.
POWER_CONF = """\
SuspendProgram={home}/bin/site-suspend
ResumeProgram={home}/bin/pm-resume
SuspendTime={idle}
SuspendTimeout=3
ResumeTimeout=60
SuspendRate=0
ResumeRate=0
DebugFlags=NodeFeatures,Power
"""
PROGRAM = """\
#!/bin/bash
export PATH=/usr/bin:/bin PM_BENCH={home}/pointer SLURM_CONF={home}/etc/slurm.conf
for node in $(scontrol show hostnames "$1"); do
	{top}/tests/cluster/bench power {what} "$node"
done
"""
IDLE_S = 12
STATES = ("power_down", "power_down", "power_down_asap", "power_down_force")


class PowerSite(BenchSite):
    place = "power"
    times = replace(BENCH, idle=PASS_S + 50, down=80, settle=200)

    def _configure(self) -> None:
        save_power(self)
        self.restart_all()

    def repair_node(self, node: str) -> None:
        """One that is off is turned on."""
        before = self.boot_id(node)
        call(self.bench, node, "on")
        wait_for(3, lambda: self.boot_id(node) not in ("", before))
        super().repair_node(node)


def save_power(site: BenchSite) -> None:
    """Daemons that start then do so."""
    for name, what in (("site-suspend", "off"), ("site-resume", "on")):
        write(site.home / "bin" / name, PROGRAM.format(home=site.home, top=TOP, what=what), 0o755)
    write_script(site.home / "bin" / "slurmctld", 'exec /usr/sbin/slurmctld -R "$@"')
    etc = site.home / "etc"
    conf = re.sub(r"^DebugFlags=.*\n", "", (etc / "slurm.conf").read_text(), flags=re.M)
    (etc / "slurm.conf").write_text(conf + POWER_CONF.format(home=site.home, idle=IDLE_S))
    more = re.sub(r"^ResumeTimeout=.*\n", "", (etc / "slurm-pmem.conf").read_text(), flags=re.M)
    more = re.sub(r"^(SlurmctldParameters=.*)$", r"\1,power_save_interval=1,power_save_min_interval=0", more, flags=re.M)
    (etc / "slurm-pmem.conf").write_text(more)
    site.own["pmem.conf"] += f"SiteResumeProgram={site.home}/bin/site-resume\n"
    site.set_policy("plain")


class PowerDown(OfNode):
    """A node with jobs is turned off behind them, unless it is forced. Not one that an administrator has drained: Slurm ends
    that drain with its own."""

    name, weight = "power down", 3.0

    def fits(self, world: World, node: str) -> bool:
        return node in world.on_duty() and node not in world.rebooting and not world.is_going_off(node)

    def words(self, chance: random.Random) -> dict:
        return {"state": chance.choice(STATES)}

    def change(self, world: World, node: str, step: dict) -> None:
        if step["state"] == "power_down_force":
            world.disturb(node)
        world.admin("scontrol", "update", f"nodename={node}", f"state={step['state']}")


class PowerUp(OfNode):
    name, weight = "power up", 2.0

    def fits(self, world: World, node: str) -> bool:
        return world.is_off(node) and node not in world.broken

    def change(self, world: World, node: str, step: dict) -> None:
        world.admin("scontrol", "update", f"nodename={node}", "state=power_up")


POWER = (PowerDown(), PowerUp())
