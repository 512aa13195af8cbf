"""All actions by name, and those that a site has what it takes for."""

from actions import ACTIONS, Action
from common import Cluster
from twin_actions import ON_NODES

ALL = (*ACTIONS, *ON_NODES)
BY_NAME = {action.name: action for action in ALL}


def of_site(site: Cluster) -> tuple[Action, ...]:
    return ALL if site.has_kernel else ACTIONS
