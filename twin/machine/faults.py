"""Faults that can be injected into one power-on.

A fault can replace the decision of rules.py, for each DIMM with a goal.
"""
from dataclasses import dataclass
from enum import Enum, auto
from typing import Callable

from .topology import Dimm

MISSING, LOCKED, UNHEALTHY = "missing", "locked", "unhealthy"


class Fate(Enum):
    JUDGE = auto()      # let the rules decide
    REFUSE = auto()     # refuse it: old configuration kept, COUT says why
    IGNORE = auto()     # do not read it: it stays pending


@dataclass(frozen=True)
class Fault:
    help: str
    fate: Callable[[Dimm, bool], Fate]      # of a DIMM's goal; the flag: a cold power-on
    hangs: bool = False
    ailment: str = ""       # of the node's last DIMM, from this power-on to the next


def _first_socket(other: Fate) -> Callable[[Dimm, bool], Fate]:
    return lambda dimm, cold: Fate.JUDGE if dimm.socket == 0 else other


def _judge(_dimm: Dimm, _cold: bool) -> Fate:
    return Fate.JUDGE


def _last_socket_refused(dimm: Dimm, _cold: bool) -> Fate:
    return Fate.REFUSE if dimm.socket else Fate.JUDGE


FAULTS = {
    "goal-rejected": Fault(
        "every goal is refused: the old configuration stays, COUT and CCUR say so",
        lambda dimm, cold: Fate.REFUSE),
    "goal-ignored": Fault(
        "goals are not looked at: the old configuration stays and the goals stay pending",
        lambda dimm, cold: Fate.IGNORE),
    "goal-needs-power-cycle": Fault(
        "goals are not looked at unless the power was cut before",
        lambda dimm, cold: Fate.JUDGE if cold else Fate.IGNORE),
    "goal-socket0-only": Fault(
        "goals of socket 0 are applied, those of other sockets stay pending",
        _first_socket(Fate.IGNORE)),
    "goal-split": Fault(
        "goals of socket 0 are applied, those of other sockets are refused",
        _first_socket(Fate.REFUSE)),
    "dimm-missing": Fault(
        "the last DIMM is not there: the sets it was in are lost, memory shrinks",
        _judge, ailment=MISSING),
    "dimm-locked": Fault(
        "the last DIMM is locked by a passphrase: its socket's goals are refused",
        _last_socket_refused, ailment=LOCKED),
    "dimm-unhealthy": Fault(
        "the last DIMM reports a noncritical failure",
        _judge, ailment=UNHEALTHY),
    "boot-hang": Fault(
        "power-on self-test hangs before it looks at goals: the node never starts",
        lambda dimm, cold: Fate.IGNORE, hangs=True),
}
