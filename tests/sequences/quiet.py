"""Situations that only show what they may break while nothing else happens: they come at the end of some rests.

Each is brought about on a node in service that is idle; what has been submitted must end as at any rest. On the bench alone.
"""

from collections.abc import Callable

from meddlers import ARRAY_S, cancel_as_it_is_turned_away, job_on, modes_of, other_modes, turn_away
from sites import wait_for
from submitting import next_number, submit
from times import PASS_S
from world import World

# A node's job outlasts Slurm's pass, which looks once more at the one behind it and holds it anew, and ends before the oracle
# says that this one is held; until then the hold is Slurm's, and in order.
BEHIND_S = PASS_S + 3
# A user cancels so long after the node has turned the job away.
LATER_S = (0, 0.003, 0.006, 0.010, 0.015)


def wait_behind(world: World, node: str, look: Callable[[], None]) -> None:
    """A job names a node that another one has. Nothing else happens that would have slurmctld look again at it."""
    first = job_on(world, node, modes_of(world, node)[:1])
    submit(world, first | {"seconds": BEHIND_S})
    wait_for(BEHIND_S, lambda: look() or world.state(node) != "IDLE")
    argv = ["sbatch", f"--pm-mode={other_modes(world, node)[0]}", "-w", node, "-N", "2"]
    submit(world, first | {"job": next_number(world), "argv": argv})


def turn_last_task_away(world: World, node: str, look: Callable[[], None]) -> None:
    """The first task of an array runs; the last one, which has the number of the whole array, comes to a node that takes none."""
    first, *others = world.site.nodes   # Slurm gives idle nodes in their order
    before = len(world.site.turned_away())
    turn_away(world, others)
    array = job_on(world, first, modes_of(world, first) or modes_of(world, node))
    submit(world, array | {"argv": [*array["argv"][:2], "--array=0-1"], "seconds": ARRAY_S})
    wait_for(ARRAY_S, lambda: look() or len(world.site.turned_away()) > before)
    turn_away(world, [])


def cancel_turned_away(world: World, node: str, look: Callable[[], None]) -> None:
    """Jobs are cancelled as the node turns them away."""
    turn_away(world, [node])
    for later in LATER_S:
        submit(world, job_on(world, node, modes_of(world, node)[:1]))
        cancel_as_it_is_turned_away(world, later)
        look()
    turn_away(world, [])


WAYS = {"wait behind": wait_behind, "last task": turn_last_task_away, "cancelled": cancel_turned_away}
