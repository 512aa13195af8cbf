"""What decides about reboots."""

from dataclasses import dataclass
from pathlib import Path

from rule import HoldRule, Rule

MINUTE = 60.0
LEASE_S = 90.0


@dataclass
class Policy:
    """`delay`: Slurm's delay_boot; `partition`: static shares of the nodes; `weights`: the service sets
    node weights."""

    name: str
    delay: float = 0.0
    partition: tuple | None = None
    rule: HoldRule | None = None
    weights: bool = False


def hold(library: Path, name: str, minutes: float, soon: float, gap_hours: float, rent: float, guarded: int, **more) -> Policy:
    rule = Rule(reboot_s=600, most_s=minutes * MINUTE, soon=soon, gap_s=gap_hours * 60 * MINUTE, rent=rent, lease_s=LEASE_S,
                guarded=guarded)
    return Policy(name, rule=HoldRule(library, rule), **more)


def policies(library: Path) -> list[Policy]:
    """The first is what the others are compared with."""
    return [Policy("plain"),
            Policy("static", partition=(.5, .25, .25)),
            Policy("delay_boot 10", delay=10 * MINUTE),
            Policy("delay_boot 30", delay=30 * MINUTE),
            hold(library, "hold 60", 60, 4, 2, 8, guarded=8),
            hold(library, "hold 240", 240, 8, 2, 16, guarded=16)]
