"""All actions by name, and those that a site has what it takes for."""

from actions import ACTIONS, Action
from common import Cluster
from suspending import SUSPENDING
from twin_actions import ON_NODES

# These change the bench's own files and processes; "flat" expects that there is no such memory.
OF_BENCH = ("flat", "policy", "turn away", "epilog reboot", "kill pmctl", "unseen change", "tamper")
ON_TWIN = (*(action for action in ACTIONS if action.name not in OF_BENCH), *ON_NODES)
ALL = (*ACTIONS, *(action for action in ON_NODES if action.name not in OF_BENCH), *SUSPENDING)
# Of sites that do so; a run has them with --with.
EXTRA = tuple(action.name for action in SUSPENDING)

# Actions after which the oracle excuses many failures, or other actions cannot be drawn.
STIRRING = ("drain", "scontrol reboot", "restart slurmd", "power cycle", "fault", "restart slurmctld", "reservation", "policy",
            "restart pm-controller", "turn away", "epilog reboot", "kill pmctl", "unseen change")
# Without the one there is nothing that the other could be done to.
MAKES_ROOM = {"drain": "resume", "fault": "repair"}


def of_site(site: Cluster) -> tuple[Action, ...]:
    return (*(ON_TWIN if site.has_kernel else ACTIONS), *SUSPENDING)


def named(name: str, site: Cluster) -> Action:
    return next(action for action in of_site(site) if action.name == name)
