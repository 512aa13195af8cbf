"""What besides users' jobs is under way on a cluster, and which jobs may feel it: part of the model."""

from dataclasses import dataclass, field


@dataclass
class Meddling:
    policy: str = "plain"                                   # of the site, see sites.POLICIES
    service_down: bool = False                              # pm-controller
    turning: set[str] = field(default_factory=set)          # nodes that turn jobs away
    turning_since: float = 0
    own_reboots: set[str] = field(default_factory=set)      # nodes that a job's end reboots, or is going to
    # Submissions, by number.
    named: set[int] = field(default_factory=set)            # with words behind their name
    limited: set[int] = field(default_factory=set)          # may have no node rebooted, at some time
    uncounted: set[int] = field(default_factory=set)        # were there while pm-controller was not, or were released
    on_shared: dict[int, bool] = field(default_factory=dict)    # a flat job: were its nodes made shared?

    def note(self, live: set[int]) -> None:
        """Of those that are there now."""
        if self.policy == "no reboots":
            self.limited |= live
        if self.service_down:
            self.uncounted |= live
