"""Actions of administrators, faults and forgers beside those of actions.py, and how the site comes to rest."""

import json
import os
import random
import signal
import time

from promises import has_mode, is_held_by_user
from sites import POLICIES
from submitting import BESIDE, MAX_LIVE, next_number, submit
from world import Submission, World

LOOK_S, FIND_S, CHANGE_S, CANCEL_S = 0.005, 6, 6, 3
TURNING_S = 35      # a job comes back to the queue for six seconds each time
LONG_S, ARRAY_S = 60.0, 8.0
# Jobs come to be beside one another, or to wait behind one another for as long as the oracle takes to say so.
POLICY_S = {"shared nodes": 20, "no reboots": 45}
# Of these there is always one soon, and nothing depends on them.
LOOKERS = ("reachable", "health", "mode")
OFTEN = {"forgotten": 3, "garbage": 3}
ANOTHER_UID = 12345
ANOTHER_BOOT = "00000000-0000-4000-8000-000000000000"
NOT_THE_JOBS = "/of/another/job"
MORE_THAN_EXISTS = 1 << 43


class Policy:
    """The administrator edits the site's files: jobs in a mode share nodes, or may have none rebooted, or neither. Where
    none is rebooted, a job without a mode has a node for long: while one is busy, only backfill starts jobs, on nodes that
    it has planned for none."""

    name, weight = "policy", 1.0

    def choose(self, world: World, chance: random.Random) -> dict | None:
        others = [name for name in POLICIES if name != "plain"]
        if time.time() < world.more.policy_since + POLICY_S.get(world.more.policy, 0):
            return None
        policy = chance.choice(others) if world.more.policy == "plain" else "plain"
        up = sorted(world.up())
        if policy != "no reboots" or not up or len(world.live()) >= MAX_LIVE + BESIDE:
            return {"policy": policy}
        return {"policy": policy, "job": next_number(world), "argv": ["sbatch", "--exclusive", "-w", chance.choice(up)],
                "env": {}, "seconds": LONG_S}

    def do(self, world: World, step: dict) -> bool:
        set_policy(world, step["policy"])
        if "job" in step:
            submit(world, step)
        return True


def set_policy(world: World, name: str) -> None:
    world.before_reconfigure()
    world.site.set_policy(name)
    world.more.policy, world.more.policy_since = name, time.time()


class Service:
    """pm-controller is killed, and started again or not. No job depends on it, so nothing counts as disturbed; not one
    either that comes while it is gone, to a node that nothing else has happened to."""

    name, weight = "restart pm-controller", 1.0

    def choose(self, world: World, chance: random.Random) -> dict | None:
        calm = sorted(world.up() - set(world.more.own_reboots))
        calm = [node for node in calm if world.state(node) == "IDLE"] or calm
        if world.more.service_down or not calm or chance.random() < 0.3:
            return {"stop": False}
        if len(world.live()) >= MAX_LIVE + BESIDE:
            return {"stop": True}
        # Where an interactive job fails, a batch job goes back to the queue; a job that hangs is cancelled at rest.
        client = chance.choice(("srun", "salloc", "sbatch"))
        return {"stop": True} | job_on(world, chance.choice(calm), world.site.modes(), chance, client)

    def do(self, world: World, step: dict) -> bool:
        if step.get("stop"):
            world.site.stop_service()
        else:
            world.site.restart_service()
        world.more.note_service(bool(step.get("stop")))
        if "job" in step:
            submit(world, step)
        return True


class TurnAway:
    """Nodes take no job, as where memory or devices are another's; and take them again. A user names one of them for a
    job that it has the mode for, and which so comes to it soon and often; or submits an array, of which it gets a task; or
    cancels the job as it is turned away. None that an administrator's reboot waits for: it
    would come as soon as the node has booted for a job (AdminReboot)."""

    name, weight = "turn away", 4.0

    def choose(self, world: World, chance: random.Random) -> dict | None:
        if world.more.turning:
            return {"nodes": []} if time.time() > world.more.turning_since + TURNING_S else None
        staying = [node for node in world.site.nodes if node not in world.rebooting]
        if not staying:
            return None
        nodes = staying if chance.random() < 0.6 else [chance.choice(staying)]
        ready = [node for node in nodes if node in world.in_service() and modes_of(world, node)]
        if not ready or len(world.live()) >= MAX_LIVE + BESIDE:
            return {"nodes": nodes}
        job = job_on(world, node := chance.choice(ready), modes_of(world, node), chance)
        way = chance.choice(("named", "named", "array", "cancelled"))
        if way == "array":      # its first task runs on the first node, its last one comes to another
            nodes = staying[1:]
            job |= {"argv": [*job["argv"][:2], "--array=0-1"], "seconds": ARRAY_S}
        return {"nodes": nodes} | job | ({"cancel": round(chance.uniform(0, 0.02), 3)} if way == "cancelled" else {})

    def do(self, world: World, step: dict) -> bool:
        turn_away(world, step["nodes"])
        if "job" in step:
            submit(world, step)
        if "cancel" in step:
            cancel_as_it_is_turned_away(world, step["cancel"])
        return True


def cancel_as_it_is_turned_away(world: World, later: float) -> None:
    """Before it is back in the queue: there is no time to ask Slurm for the job's number."""
    before, end = len(world.site.turned_away()), time.monotonic() + CANCEL_S
    while len(turned := world.site.turned_away()) == before:
        if time.monotonic() > end:
            return
        time.sleep(LOOK_S)
    time.sleep(later)
    done = world.user("scancel", turned[-1][0])
    world.observe()
    for other in world.submissions.values():    # most often the one that has just come
        if any(record["JobId"] == turned[-1][0] for record in other.records):
            other.cancelled, other.stays_cancelled = True, done and "--array" not in other.request.extra


def modes_of(world: World, node: str) -> list[str]:
    """One, as Slurm has it, or none."""
    active = world.nodes[node].get("ActiveFeatures", "").split(",")
    return [mode for mode in world.site.modes() if f"pm_{mode}" in active]


def other_modes(world: World, node: str) -> list[str]:
    """That its machine can be in."""
    return sorted(set(world.site.modes()) - {"flat"} - set(modes_of(world, node)))


def job_on(world: World, node: str, modes: list[str], chance: random.Random | None = None, client: str = "sbatch") -> dict:
    mode = chance.choice(modes) if chance else modes[0]
    return {"job": next_number(world), "argv": [client, f"--pm-mode={mode}", "-w", node], "env": {},
            "seconds": 0.3}


def job_for_another_mode(world: World, node: str, chance: random.Random, seconds: float,
                         option: str = "--pm-mode=") -> dict:
    """A batch job for which an idle node boots; none where it is not idle, or where many jobs wait."""
    if world.state(node) != "IDLE" or len(world.live()) >= MAX_LIVE + BESIDE:
        return {}
    mode = chance.choice(other_modes(world, node))
    return {"job": next_number(world), "argv": ["sbatch", f"{option}{mode}", "-w", node], "env": {}, "seconds": seconds}


def turn_away(world: World, nodes: list[str]) -> None:
    for node in world.site.nodes:
        world.site.mark(node, "turns-away", node in nodes)
    world.more.turning, world.more.turning_since = set(nodes), time.time()


class EpilogReboot:
    """What the next job there had is taken back by a reboot alone. Not of a node that has just booted, see AdminReboot."""

    name, weight = "epilog reboot", 1.0

    def choose(self, world: World, chance: random.Random) -> dict | None:
        fitting = [node for node in world.site.nodes if self._fits(world, node)]
        busy = [node for node in fitting if "ALLOC" in world.state(node) or "MIXED" in world.state(node)]
        return {"node": chance.choice(busy or fitting)} if fitting else None

    def _fits(self, world: World, node: str) -> bool:
        return node in world.in_service() and node not in world.rebooting and not world.is_going_off(node)

    def do(self, world: World, step: dict) -> bool:
        node = step["node"]
        if not self._fits(world, node):
            return False
        world.rebooting[node] = (world.site.boot_id(node), time.time())
        world.more.own_reboots.add(node)
        world.site.mark(node, "end-reboots", True)
        return True


class KillPmctl:
    """In the middle of what it does, best while a tool of its changes something; then an administrator looks.
    A user's job for another mode has one run on a node that is idle."""

    name, weight = "kill pmctl", 1.0

    def choose(self, world: World, chance: random.Random) -> dict | None:
        fitting = sorted(world.on_duty() - set(world.rebooting))
        if len(fitting) < 2:
            return None
        changing = [node for node in fitting if "POWERING_UP" in world.state(node)]
        idle = [node for node in fitting if world.state(node) == "IDLE"]
        if not changing and (not idle or len(world.live()) >= MAX_LIVE + BESIDE):
            return None
        step = {"node": chance.choice(changing or idle), "late": chance.choice((0, 0, 0.05, 0.3))}
        if changing:
            return step
        return step | job_on(world, step["node"], other_modes(world, step["node"]), chance)

    def do(self, world: World, step: dict) -> bool:
        if "job" in step:
            submit(world, step)
        found = self._find(world, step["node"])
        if found is not None:
            time.sleep(step["late"])
        if found is None or not kill(found[0]):
            return self._only_submitted(step)
        if found[1][:2] == ["job", "turn-away"]:
            world.more.note_untold()
        world.broken.add(step["node"])
        world.disturb(step["node"])
        world.note(world.site.pmctl("set", "memory", "--dry-run", node=step["node"]))
        return True

    @staticmethod
    def _only_submitted(step: dict) -> bool:
        """There was none to kill: a script has the submission alone."""
        if "job" in step:
            step["do"] = "sbatch"
        return "job" in step

    def _find(self, world: World, node: str) -> tuple[int, list[str]] | None:
        end, others = time.monotonic() + FIND_S, world.site.other_processes()
        while (now := time.monotonic()) < end:
            for pid, words in world.site.pmctls(node, others):
                if words[:1] == ["helper"] and len(words) > 1:
                    wait_for_change(world, pid)
                if words[:1] not in [[verb] for verb in LOOKERS] or now > end - 1:
                    return pid, words
            time.sleep(LOOK_S)
        return None


def wait_for_change(world: World, pid: int) -> None:
    end = time.monotonic() + CHANGE_S
    while time.monotonic() < end and os.path.exists(f"/proc/{pid}") and not world.site.is_changing(pid):
        time.sleep(LOOK_S)


def kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class UnseenChange:
    """An administrator changes a node's mode by hand, and Slurm does not hear of it. A user's job for the mode that Slurm
    takes for the node's comes at once; then an administrator looks."""

    name, weight = "unseen change", 1.0

    def choose(self, world: World, chance: random.Random) -> dict | None:
        fitting = [node for node in sorted(world.in_service()) if self._fits(world, node) and modes_of(world, node)]
        if not fitting or len(world.live()) >= MAX_LIVE + BESIDE:
            return None
        node = chance.choice(fitting)
        job = job_on(world, node, modes_of(world, node), chance)
        feature = job["argv"][1].replace("--pm-mode=", "--constraint=pm_")     # the tasks look at the option themselves
        return {"node": node, "mode": chance.choice(other_modes(world, node))} | job | {"argv": [job["argv"][0], feature, *job["argv"][2:]]}

    def _fits(self, world: World, node: str) -> bool:
        return world.state(node) == "IDLE" and node not in world.rebooting and node not in world.broken

    def do(self, world: World, step: dict) -> bool:
        """No job may begin there meanwhile, in the one mode and be in the other at once."""
        node = step["node"]
        if not self._fits(world, node):
            return False
        world.admin("scontrol", "update", f"nodename={node}", "state=drain", "reason=a change by hand")
        world.observe()
        changes = world.state(node) == "IDLE+DRAIN"
        if changes:
            world.broken.add(node)
            world.disturb(node)
            world.note(world.site.pmctl("set", step["mode"], node=node))
            world.site.apply_goal(node)
        world.admin("scontrol", "update", f"nodename={node}", "state=resume")
        submit(world, step)
        if not changes:
            step["do"] = "sbatch"
        return True


# --- forged and forgotten records --------------------------------------------------------------
def record_of(job_id: str, **said) -> str:
    """As 'pmctl job begin' keeps it on a node."""
    return json.dumps({"version": 2, "job": int(job_id), "uid": ANOTHER_UID, "gid": ANOTHER_UID, "state": "ready",
                       "mode": "appdirect", "substate": "empty", "size_bytes": 0, "memory_bytes": 0,
                       "boot_id": ANOTHER_BOOT, "run": "of an earlier time", "time": "2026-01-01T00:00:00Z"} | said)


def view_of(job_id: str, uid: int, boot: str, mode: str) -> str:
    return (f"PM_JOB={job_id}\nPM_UID={uid}\nPM_BOOT={boot}\nPM_MODE={mode}\n"
            f"PM_DIR0={NOT_THE_JOBS}\nPM_DIR0_SOCKET=0\n")


class Tamper:
    """Records and views that are not the job's: another user's, another boot's, an earlier run's of the same number;
    one of a job with an epilog that never ran; garbage."""

    name, weight = "tamper", 1.0

    def choose(self, world: World, chance: random.Random) -> dict | None:
        pending = [record["JobId"] for job in world.live() for record in job.pending()]
        ended = [record["JobId"] for job in world.submissions.values() if job.is_over() and has_mode(job)
                 for record in job.records]
        ways = {"another user's": pending, "another boot's": pending, "an earlier run's": pending,
                "forgotten": ended, "garbage": ended}
        ways["forgotten"] = self._named(world, ended)
        possible = [name for name, ids in ways.items() if ids]
        if not possible:
            return None
        way = chance.choices(possible, [OFTEN.get(name, 1) for name in possible])[0]
        return {"way": way, "id": chance.choice(ways[way]), "mode": chance.choice(world.site.modes())}

    @staticmethod
    def _named(world: World, ids: list[str]) -> list[str]:
        """Those with a name that could be taken for more, if there are any."""
        named = {record["JobId"] for number in world.more.named for record in world.submissions[number].records}
        return [job_id for job_id in ids if job_id in named] or ids

    def do(self, world: World, step: dict) -> bool:
        if step["way"] not in ("forgotten", "garbage") and not is_pending(world, step["id"]):
            return False
        for node in world.site.nodes:
            self._leave(world, node, step)
        return True

    def _leave(self, world: World, node: str, step: dict) -> None:
        site, job_id, mode = world.site, step["id"], step["mode"]
        uid, boot = site.bench.uid, site.boot_id(node).strip()
        record, owner, since = {
            "another user's": (record_of(job_id, mode=mode, boot_id=boot), ANOTHER_UID, boot),
            "another boot's": (record_of(job_id, mode=mode, uid=uid, gid=site.bench.gid), uid, ANOTHER_BOOT),
            "an earlier run's": (record_of(job_id, mode=mode, uid=uid, gid=site.bench.gid, boot_id=boot), uid, boot),
            "forgotten": (record_of(job_id, mode=mode, uid=uid, boot_id=boot, memory_bytes=MORE_THAN_EXISTS), uid, boot),
            "garbage": ('{"version": 2, "job"', uid, boot),
        }[step["way"]]
        site.leave(node, job_id, record, view_of(job_id, owner, since, mode))


def is_pending(world: World, job_id: str) -> bool:
    """At this moment: a job that has begun has a record of its own, which is not to be touched."""
    return any(record["JobId"] == job_id and record["JobState"] == "PENDING" for record in world.site.jobs_shown())


# --- rest --------------------------------------------------------------------------------------
def come_to_rest(world: World) -> None:
    """The site is as it began, nothing is in any job's way."""
    if world.more.policy != "plain":
        set_policy(world, "plain")
    if world.more.service_down:
        Service().do(world, {})
    world.site.come_to_rest(world)
    if world.more.turning:
        turn_away(world, [])
    for node in sorted(world.more.own_reboots):
        if world.site.is_marked(node, "end-reboots"):
            forget_reboot(world, node)


def forget_reboot(world: World, node: str) -> None:
    """One that does not come about any more."""
    world.site.mark(node, "end-reboots", False)
    world.more.own_reboots.discard(node)
    world.more.stale.pop(node, None)
    if world.rebooting.pop(node, None):
        world.disturb(node)


def let_go(world: World, job: Submission, promises) -> None:
    """Releases what was held because nodes turned it away; who may have no node rebooted may wait for ever, and so may
    who has more memory than any node in his mode."""
    if (promises.is_limited(job) or promises.is_half_updated(job)) and not job.cancelled:
        job.cancelled = True
        world.user("scancel", job.job_id() or "")
    elif promises.is_turned_away(job):
        for record in job.pending():
            if is_held_by_user(record):
                world.more.uncounted.add(job.number)
                world.admin("scontrol", "release", record["JobId"])


MEDDLERS = (Policy(), Service(), TurnAway(), EpilogReboot(), KillPmctl(), UnseenChange(), Tamper())
