"""A bench that saves power, preempts and has two controllers, all at once, with the actions of each."""

from controllers import CONTROLLERS, ControllersSite
from power_saving import POWER, PowerSite, save_power
from preemption import PREEMPTION, preempt


class MixedSite(ControllersSite, PowerSite):
    place = "mixed"

    def _configure(self) -> None:
        save_power(self)
        preempt(self)
        self.order("kill-slurmctld", "backup")
        self.order("start-slurmctld", "backup")
        self.restart_all()


MIXED = (*POWER, *PREEMPTION, *CONTROLLERS)
