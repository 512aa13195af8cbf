"""All actions by name, and those that a site has what it takes for."""

from actions import ACTIONS, Action
from common import Cluster
from controllers import CONTROLLERS
from mixed import MIXED
from power_saving import POWER
from preemption import PREEMPTION
from suspending import SUSPENDING
from twin_actions import ON_NODES

# These change the bench's own files and processes; "flat" expects that there is no such memory.
OF_BENCH = ("flat", "policy", "turn away", "epilog reboot", "kill pmctl", "unseen change", "tamper")
ON_TWIN = (*(action for action in ACTIONS if action.name not in OF_BENCH), *ON_NODES)
# Of benches that have what it takes, by their place.
OF_PLACE = {"power": POWER, "preemption": PREEMPTION, "controllers": CONTROLLERS, "mixed": MIXED}
ALL = (*ACTIONS, *(action for action in ON_NODES if action.name not in OF_BENCH), *SUSPENDING,
       *dict.fromkeys(action for actions in OF_PLACE.values() for action in actions))
# Of sites that do so; a run has them with --with.
EXTRA = tuple(action.name for action in SUSPENDING)

# Actions after which the oracle excuses many failures, or other actions cannot be drawn.
STIRRING = ("drain", "scontrol reboot", "restart slurmd", "power cycle", "fault", "restart slurmctld", "reservation", "policy",
            "restart pm-controller", "turn away", "epilog reboot", "kill pmctl", "unseen change", "fail over", "kill slurmctld", "backup")
# Without the one there is nothing that the other could be done to.
MAKES_ROOM = {"drain": "resume", "fault": "repair", "fail over": "take back", "power down": "power up", "long": "urgent"}


# Of the steps, each action of such a bench has the first part, all of these at most the second, and all actions the third.
OWN, ALL_OWN, ALL_OF_THEM = 0.08, 0.4, 0.98


def parts_of(place: str) -> dict[str, float]:
    """The least part of the steps that each action is to have; empty: that of all sites."""
    own = [action.name for action in OF_PLACE.get(place, ())]
    others = [action.name for action in of_place(place) if action.name not in (*own, *EXTRA)]
    if not own:
        return {}
    part = min(OWN, ALL_OWN / len(own))
    return dict.fromkeys(own, part) | dict.fromkeys(others, (ALL_OF_THEM - part * len(own)) / len(others))


def of_place(place: str) -> tuple[Action, ...]:
    return (*(ON_TWIN if place == "twin" else ACTIONS), *OF_PLACE.get(place, ()), *SUSPENDING)


def of_site(site: Cluster) -> tuple[Action, ...]:
    return of_place(site.place)


def named(name: str, site: Cluster) -> Action:
    return next(action for action in of_site(site) if action.name == name)
