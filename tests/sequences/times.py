"""How long things may take where sequences run, in seconds."""

from dataclasses import dataclass, replace
from math import inf

# Slurm looks at what it holds or missed every 30 s.
PASS_S = 30


@dataclass(frozen=True)
class Times:
    held: float         # a job that could be served is held by Slurm
    idle: float         # nodes that could serve a job are idle
    goal: float         # a goal waits on a node on which nothing runs
    down: float         # a node is down: longer than ResumeTimeout
    drain: float        # a drain is there, or gone, without an administrator
    misread: float      # slurmctld has taken a node for too small: a timer of a minute gives it back
    begin: float        # from Slurm's start of a job on nodes that are up until it does something
    ending: float       # a node completes a job
    settle: float       # at rest: until everything has ended
    reconfigure: float  # at rest: until slurmctld is made to ask nodes for jobs that it misses
    reboot: float       # an administrator's reboot
    fresh: float        # a node counts as just booted
    disturbed: float    # a node may show what a boot or a restart of ours did to it
    later: float        # a job that waits for such a node meets what became of it
    look: float         # between two looks at rest
    patience: float     # for a state of the cluster in which an action that came too seldom can be done
    pace: float         # of the pauses between steps
    clock: float        # the nodes' clocks may differ from ours by this
    rest_every: int     # steps

    def scaled(self, factor: float) -> "Times":
        """On a machine that is slower by so much."""
        return replace(self, **{name: factor * getattr(self, name) for name in SLOWED})


SLOWED = ("held", "idle", "goal", "down", "drain", "misread", "begin", "ending", "settle", "reconfigure", "reboot", "fresh",
          "disturbed", "later", "patience")

# Its nodes have no file systems: there is nothing that a job could leave for the next one to wait for.
BENCH = Times(held=PASS_S + 12, idle=PASS_S + 20, goal=PASS_S, down=40, drain=2, misread=inf, begin=inf, ending=inf, settle=100,
              reconfigure=20, reboot=15, fresh=5, disturbed=20, later=5, look=0.5, patience=5, pace=1, clock=0,
              rest_every=35)

# Where guests boot in BOOT_S, as on two processors that do nothing else; ipmctl takes seconds in them, as it does on
# real machines.
BOOT_S = 20
TWIN = Times(held=PASS_S + 60, idle=PASS_S + 120, goal=PASS_S + 60, down=660, drain=10, misread=120, begin=120, ending=60, settle=600,
             reconfigure=90, reboot=120, fresh=20, disturbed=90, later=30, look=3, patience=30, pace=4, clock=2,
             rest_every=25)
