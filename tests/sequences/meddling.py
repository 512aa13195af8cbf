"""What besides users' jobs is under way on a cluster, and which jobs may feel it: part of the model."""

import time

from dataclasses import dataclass, field

NEVER = float("inf")
# A node tells the service so long after it has turned a job away, and may meet what became of the service meanwhile.
TELLS_S = 5


@dataclass
class Meddling:
    policy: str = "plain"                                   # of the site, see sites.POLICIES
    policy_since: float = 0
    service_down: bool = False                              # pm-controller
    gaps: list[tuple[float, float]] = field(default_factory=list)   # when it was not there to count
    on_backup: bool = False                                 # of two controllers, the backup is in control
    backup_down: str = ""                                   # its daemon that was killed
    turning: set[str] = field(default_factory=set)          # nodes that turn jobs away
    turning_since: float = 0
    own_reboots: set[str] = field(default_factory=set)      # nodes that a job's end reboots, or is going to
    # Nodes that reboot with a goal of a job that is gone: boot id, mode, and that of the goal.
    stale: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    # Submissions, by number.
    named: set[int] = field(default_factory=set)            # with words behind their name
    limited: set[int] = field(default_factory=set)          # may have no node rebooted, at some time
    uncounted: set[int] = field(default_factory=set)        # were released or requeued: a node may turn them away anew
    half_updated: set[int] = field(default_factory=set)     # have the memory of another mode
    # Nodes on which a job stood still, since the last rest: they sent jobs back to the queue that wanted another mode.
    stood_on: set[str] = field(default_factory=set)
    on_shared: dict[int, bool] = field(default_factory=dict)    # a flat job: were its nodes made shared?

    def note(self, live: set[int]) -> None:
        """Of those that are there now."""
        if self.policy == "no reboots":
            self.limited |= live

    def note_service(self, is_down: bool) -> None:
        """It was killed now, and is back, or will be."""
        since = self.gaps.pop()[0] if self.service_down else time.time() - TELLS_S
        self.gaps.append((since, NEVER if is_down else time.time() + TELLS_S))
        self.service_down = is_down

    def note_untold(self) -> None:
        """What told the service was killed; the node sends the job back to the queue by itself."""
        self.gaps.insert(0, (time.time() - TELLS_S, time.time() + TELLS_S))     # the last one is the service's

    def could_count(self, at: float) -> bool:
        return not any(since < at < until for since, until in self.gaps)
