"""The actions of a sequence: how each is made up, and how it is done.

A step is a table of words, as a script holds it: {"do": "cancel", "job": 3}. `choose` makes one up, or
None where the cluster is not in a state for it; `do` does it and tells whether it could.
"""

import random
import signal
import time
from collections.abc import Mapping

from meddlers import MEDDLERS, job_for_another_mode, modes_of, other_modes
from promises import has_too_much
from request import ODD_NAMES, RACK, options_of, update
from submitting import BESIDE, MAX_LIVE, next_number, submit
from world import NEVER, Submission, Version, World

GOAL_FAULTS = ("goal-rejected", "goal-ignored", "goal-socket0-only", "goal-split")
TOOL_FAULTS = ("fail", "killed", "hang", "garbage", "silent", "lies")
TOOL_CALLS = ("helper/ipmctl:create-goal#1", "helper/ipmctl:show-goal#1", "job-begin/ipmctl:show-goal#1",
              "verify/ipmctl:show-goal#1")
# slurmctld 22.05 says so of all modes when it has just begun, and has then changed the job's memory already.
BAD_FEATURES = "Invalid feature specification"
# Behind a job's own name: what programs could take for their own words, as scontrol and squeue print them.
NAMES = (" JobState=RUNNING", " RUNNING NO 0 1 0 2026-01-01T00:00:00 1 1 cpu=1",
         " COMPLETED NO 0 1 0 2026-01-01T00:00:00 1 1 cpu=1",
         " holder=1 OverSubscribe=NO NodeList=n1",
         " 'a' \"b\" `c` $(d) ;|&")


class Action:
    name = ""
    weight = 1.0

    def choose(self, world: World, chance: random.Random) -> dict | None:
        return {}

    def do(self, world: World, step: dict) -> bool:
        raise NotImplementedError


# --- submissions -------------------------------------------------------------------------------
def mode_words(modes: list[str], chance: random.Random) -> tuple[list[str], dict[str, str]]:
    """Any way to ask for a mode, or none: options and environment."""
    mode = chance.choice(modes)
    feature = "pm_appdirect" if mode == "flat" else f"pm_{mode}"
    way = chance.choices(("option", "feature", "twin", "both", "twin and other", "or", "none"),
                         (8, 4, 3, 1, 1, 2, 3))[0]
    other = chance.choice(modes)
    return {"option": ([f"--pm-mode={mode}"], {}),
            "feature": ([f"--constraint={feature}"], {}),
            "twin": ([], {"PM_MODE": mode}),
            "both": ([f"--pm-mode={mode}", f"--constraint={feature}"], {}),
            "twin and other": ([f"--pm-mode={mode}"], {"PM_MODE": other}),
            "or": (["--constraint=pm_memory|pm_appdirect"], {}),
            "none": ([], {})}[way]


# How a job says where it runs, and how often.
OF_ONE_NODE = {"": 8, "one": 5, "not": 2, "rack": 2}
WAYS = OF_ONE_NODE | {"two": 1, "count": 2, "one of two": 2}


def with_rack(words: list[str], rack: str) -> list[str]:
    """The constraint, if there is one, ANDed with a rack."""
    for at, word in enumerate(words):
        if word.startswith("--constraint="):
            return [*words[:at], f"{word}&{rack}" if "|" not in word else word, *words[at + 1:]]
    return [*words, f"--constraint={rack}"]


def place_words(words: list[str], nodes: list[str], chance: random.Random, ways: dict[str, int]) -> list[str]:
    """Which nodes, if any in particular."""
    way = chance.choices(list(ways), list(ways.values()))[0]
    if way == "rack":
        return with_rack(words, chance.choice([*list(RACK)[:len(nodes)], *list(ODD_NAMES)[:len(nodes) - 1], "c++",
                                               "(rack1|rack-2)"]))
    return words + {"": [], "one": ["-w", chance.choice(nodes)],
                    "two": ["-w", ",".join(sorted(chance.sample(nodes, 2)))],
                    "not": ["-x", chance.choice(nodes)], "count": ["-N", "2"],
                    "one of two": ["-w", chance.choice(nodes), "-N", "2"]}[way]


def other_words(nodes: list[str], chance: random.Random) -> list[str]:
    words = []
    if chance.random() < 0.12:
        preferred = ["pm_memory", "pm_appdirect", "pm_mixed", *list(RACK)[:len(nodes)]]
        words.append(f"--prefer={chance.choice(preferred)}")
    if chance.random() < 0.15:
        words.append("--exclusive")
    if chance.random() < 0.15:
        words.append(f"--time={chance.choice((2, 5))}")
    if chance.random() < 0.3:
        words.append(f"--mem={chance.choice((600, 1200))}")
    if chance.random() < 0.06:
        words.append(f"--pm-dram={chance.choice(('64M', '100G'))}")
    return words


class Submit(Action):
    """One client, an array, a job that waits for another."""

    def __init__(self, name: str, client: str, weight: float):
        self.name, self.client, self.weight = name, client, weight

    def choose(self, world, chance):
        limited = world.more.policy == "no reboots"
        behind = limited and chance.random() < 0.5      # those in a mode, which may wait for long
        if len(world.live()) >= MAX_LIVE + (BESIDE if behind else 0):
            return None
        crowded = world.more.policy == "shared nodes" and chance.random() < 0.7
        ways = OF_ONE_NODE if limited else WAYS
        words, env = self.request(world, chance, [] if behind else self.modes(world, crowded, limited), ways)
        if crowded:     # jobs that would come to be beside each other
            words = [word for word in words if not word.startswith(("--exclusive", "--mem"))] + ["--mem=1200"]
        if world.without & set(options_of([self.client, *words])):
            return None
        extra = self.extra(world, chance)
        if extra is None:
            return None
        return {"job": next_number(world), "argv": [self.client, *words, *extra], "env": env,
                "name": chance.choice(NAMES) if chance.random() < 0.2 else "",
                "seconds": 3.0 if crowded else chance.choice((0.1, 0.3, 0.8, 2.0))}

    def request(self, world: World, chance: random.Random, modes: list[str],
                ways: dict[str, int]) -> tuple[list[str], dict[str, str]]:
        """Options and environment, which ask for one of the modes, if there is any."""
        words, env = mode_words(modes, chance) if modes else ([], {})
        return place_words(words, world.site.nodes, chance, ways) + other_words(world.site.nodes, chance), env

    @staticmethod
    def modes(world: World, crowded: bool, limited: bool) -> list[str]:
        """Those of which one is asked for. Who may have no node rebooted is told so where no node is in his mode; else
        Slurm would plan idle nodes for his job."""
        active = {mode for node in world.site.nodes for mode in modes_of(world, node)}
        absent = [mode for mode in world.site.modes() if mode not in active] if limited else []
        return ["appdirect"] if crowded else absent or world.site.modes()

    def extra(self, world: World, chance: random.Random) -> list[str] | None:
        return []

    def do(self, world, step):
        submit(world, step)
        return True


class SubmitArray(Submit):
    def extra(self, world, chance):
        return [f"--array=0-{chance.randrange(1, 3)}"]


class SubmitFlat(Submit):
    """The site's administrators make no flat memory: refused on the node, and earlier where others may be beside it."""

    def choose(self, world, chance):
        if len(world.live()) >= MAX_LIVE:
            return None
        return {"job": next_number(world), "argv": ["sbatch", "--hold", "--pm-mode=flat"], "env": {}, "seconds": 0.1,
                "shared": world.more.policy != "shared nodes" and chance.random() < 0.5}

    def do(self, world, step):
        job = submit(world, step)
        world.observe()
        job_id = job.job_id()
        if not job_id:
            return True
        if step["shared"]:
            job.shares = world.more.on_shared[job.number] = True
            world.admin("scontrol", "update", f"jobid={job_id}", "oversubscribe=yes")
        world.admin("scontrol", "release", job_id)
        return True


class SubmitDependent(Submit):
    def extra(self, world, chance):
        known = [job for job in world.live() if job.job_id()]
        kind = chance.choices(("afterany", "after", "afterok"), (4, 1, 1))[0]
        return [f"--dependency={kind}:@{chance.choice(known).number}"] if known else None

    def do(self, world, step):
        before, _, number = step["argv"][-1].partition("@")
        parent = world.submissions.get(int(number))
        if not parent or not parent.job_id():
            return False
        submit(world, step | {"argv": [*step["argv"][:-1], before + parent.job_id()]})
        return True


# --- changes of a job --------------------------------------------------------------------------
class OfJob(Action):
    """Something done to one of the live jobs."""

    def fits(self, job: Submission) -> bool:
        return bool(job.live())

    def choose(self, world, chance):
        fitting = [job for job in world.live() if self.fits(job)]
        if not fitting:
            return None
        job = chance.choice(fitting)
        return {"job": job.number} | self.words(world, job, chance)

    def words(self, world: World, job: Submission, chance: random.Random) -> dict:
        return {}

    def do(self, world, step):
        job = world.submissions.get(step["job"])
        if not job or not job.job_id():
            return False
        self.change(world, job, step)
        return True

    def change(self, world: World, job: Submission, step: dict) -> None:
        raise NotImplementedError


class Update(OfJob):
    """scontrol update of a pending job; what was accepted is what the job asks for from then on."""

    def __init__(self, name: str, weight: float = 1.0):
        self.name, self.weight = name, weight

    def fits(self, job):
        return bool(job.pending())

    def words(self, world, job, chance):
        nodes = world.site.nodes
        excluded = [record.get("ExcNodeList") for record in job.records]    # by the service: to say it again changes nothing
        others = [node for node in nodes if node not in excluded]           # none: tasks of an array, each with another one
        lists = {"reqnodelist": nodes, "excnodelist": others} if others else {"reqnodelist": nodes}
        what, by = {
            "features": lambda: ({"features": chance.choice(("pm_memory", "pm_appdirect", "pm_mixed"))}, "user"),
            "prefer": lambda: ({"prefer": chance.choice(("pm_memory", "pm_appdirect", "rack2"))}, "user"),
            "nodes": lambda: ({(name := chance.choice(list(lists))): chance.choice(lists[name])}, "user"),
            "exclusive": lambda: ({"oversubscribe": chance.choice(("yes", "no"))}, "admin"),
            "time": lambda: ({"timelimit": str(chance.choice((3, 6, 30)))}, "admin"),
        }[self.name.removeprefix("update ")]()
        return {"set": what, "by": by}

    def change(self, world, job, step):
        asked_at = time.time()
        command = ["scontrol", "update", f"jobid={job.job_id()}",
                   *(f"{name}={value}" for name, value in step["set"].items())]
        job.shares = job.shares or "oversubscribe" in step["set"]
        done = (world.user if step["by"] == "user" else world.admin)(*command)
        if done:
            job.updates += command[3:]
            job.versions.append(Version(update(job.request, step["set"]), asked_at, time.time()))
        elif "--array" in job.request.extra:    # some tasks may have it, others run already
            job.versions.append(Version(update(job.request, step["set"]), asked_at, NEVER))
        if "features" in step["set"]:
            self._note_memory(world, job, step["set"]["features"], done)

    @staticmethod
    def _note_memory(world, job, feature, done):
        """An update that is refused for its features has changed the memory; the next one that is not sets it right."""
        if done:
            world.more.half_updated.discard(job.number)
        elif BAD_FEATURES in world.said[-1] and has_too_much(job.request, feature):
            world.more.half_updated.add(job.number)


class Cancel(OfJob):
    name, weight = "cancel", 1.5

    def words(self, world, job, chance):
        return {"how": chance.choice(("scancel", "scancel", "client") if job.client else ("scancel",))}

    def change(self, world, job, step):
        job.cancelled = True
        if step["how"] == "client" and job.client:
            job.client.send_signal(signal.SIGTERM)
        else:
            job.stays_cancelled = world.user("scancel", job.job_id())


class Requeue(OfJob):
    name = "requeue"

    def fits(self, job):
        return job.is_batch and any(r["JobState"] in ("RUNNING", "CONFIGURING") for r in job.records)

    def change(self, world, job, step):
        world.more.uncounted.add(job.number)
        job.stays_cancelled = False
        world.user("scontrol", "requeue", job.job_id())


class Hold(OfJob):
    name = "hold"

    def fits(self, job):
        return bool(job.pending()) and not job.held

    def words(self, world, job, chance):
        return {"by": chance.choice(("user", "admin"))}

    def change(self, world, job, step):
        job.held = True
        (world.user if step["by"] == "user" else world.admin)("scontrol", "hold", job.job_id())


class Release(OfJob):
    name = "release"

    def fits(self, job):
        return job.held

    def change(self, world, job, step):
        world.more.uncounted.add(job.number)    # the service may have held it as well
        # A task of an array that just ends is not released, and may come back to the queue.
        job.held = not world.admin("scontrol", "release", job.job_id())


# --- nodes -------------------------------------------------------------------------------------
class OfNode(Action):
    def fits(self, world: World, node: str) -> bool:
        return True

    def choose(self, world, chance):
        fitting = [node for node in world.site.nodes if self.fits(world, node)]
        return {"node": chance.choice(fitting)} | self.words(chance) if fitting else None

    def words(self, chance: random.Random) -> dict:
        return {}

    def do(self, world, step):
        if not self.fits(world, step["node"]):
            return False
        self.change(world, step["node"], step)
        return True

    def change(self, world: World, node: str, step: dict) -> None:
        raise NotImplementedError


class Drain(OfNode):
    name = "drain"

    def fits(self, world, node):
        others = set(world.site.nodes) - set(world.drained) - world.broken - {node}
        stays = node not in world.rebooting or node in world.more.own_reboots
        return node not in world.drained and stays and len(others) > 0 and not world.is_going_off(node)

    def choose(self, world, chance):
        leaving = sorted(node for node in world.more.own_reboots if self.fits(world, node))
        return {"node": chance.choice(leaving)} if leaving else super().choose(world, chance)

    def change(self, world, node, step):
        if world.admin("scontrol", "update", f"nodename={node}", "state=drain", "reason=the admin's drain"):
            world.drained[node] = time.time()
            world.disturb(node)     # Slurm gives up an interactive job that waits for this node to boot


class Resume(OfNode):
    name = "resume"

    def fits(self, world, node):
        leaves = node in world.more.own_reboots and not world.site.is_marked(node, "end-reboots")
        return node in world.drained and not leaves

    def change(self, world, node, step):
        del world.drained[node]
        world.admin("scontrol", "update", f"nodename={node}", "state=resume")


class AdminReboot(OfNode):
    """Not of a node that boots for a job or has just booted, or that has not registered since its boot: 22.05 may then show
    it as rebooting for ever. So not of one that turns jobs away either, which are over as soon as it has booted for them. An idle node may have a goal of a job that is long
    gone."""

    name = "scontrol reboot"

    def fits(self, world, node):
        return (node in world.in_service() and node not in world.rebooting and "POWER" not in world.state(node)
                and world.site.uptime(node) > world.site.times.fresh and world.has_registered(node))

    def words(self, chance):
        return {"words": chance.choice((["ASAP"], []))}

    def choose(self, world, chance):
        idle = [node for node in sorted(world.up()) if world.state(node) == "IDLE" and self.fits(world, node)]
        if not idle or world.site.has_kernel or chance.random() < 0.6:
            return super().choose(world, chance)
        node = chance.choice(idle)
        return {"node": node, "words": ["ASAP"], "goal": chance.choice(other_modes(world, node))}

    def change(self, world, node, step):
        if "goal" in step:
            world.more.stale[node] = (world.site.boot_id(node), world.site.mode(node), step["goal"])
            world.site.leave_goal(node, step["goal"])
        boot = world.site.boot_id(node)
        if world.admin("scontrol", "reboot", *step["words"], "nextstate=resume", "reason=the admin's reboot", node):
            world.rebooting[node] = (boot, time.time())


class RestartSlurmd(OfNode):
    name = "restart slurmd"

    def fits(self, world, node):
        return node not in world.rebooting

    def change(self, world, node, step):
        world.disturb(node)
        world.site.restart_slurmd(node)


class PowerCycle(OfNode):
    """Not during an administrator's reboot either, see RestartController."""

    name = "power cycle"

    def fits(self, world, node):
        return node not in world.rebooting and not world.is_off(node)

    def change(self, world, node, step):
        world.disturb(node)
        world.site.power_cycle(node)


class Slow(OfNode):
    """How long each call of ipmctl takes there from now on: a change has its moments for what comes between."""

    name = "slow ipmctl"

    def words(self, chance):
        return {"seconds": chance.choice((0, 0.3, 0.6))}

    def change(self, world, node, step):
        world.site.slow_down(node, step["seconds"])


class Repair(Action):
    """The administrator looks at what a fault did to a node, and takes it back into service."""

    name = "repair"

    def choose(self, world, chance):
        fitting = sorted(world.broken - set(world.rebooting))
        return {"node": chance.choice(fitting)} if fitting else None

    def do(self, world, step):
        if step["node"] not in world.broken:
            return False
        repair(world, step["node"])
        return True


def repair(world: World, node: str) -> None:
    world.site.repair_node(node)
    world.broken.discard(node)
    world.note_repair(node)
    if node not in world.drained:
        world.admin("scontrol", "update", f"nodename={node}", "state=resume")


class Fault(Action):
    """Of the campaign: the firmware treats a goal badly, or ipmctl misbehaves once. A user's job has an idle node get a
    goal soon; it asks by a feature, since tasks themselves look whether they are in the mode of --pm-mode."""

    name = "fault"

    def choose(self, world, chance):
        node = world.site.breakable
        if node in world.broken or node in world.drained or node in world.more.own_reboots:
            return None
        if chance.random() < 0.5:
            return {"fault": chance.choice(GOAL_FAULTS)} | job_for_another_mode(world, node, chance, 0.3, "--constraint=pm_")
        return {"how": chance.choice(TOOL_FAULTS), "call": chance.choice(TOOL_CALLS)}

    def do(self, world, step):
        world.broken.add(world.site.breakable)
        world.disturb(world.site.breakable)
        if "fault" in step:
            world.site.break_goal(step["fault"])
        else:
            world.site.break_tool(step["how"], step["call"])
        if "job" in step:
            submit(world, step)
        return True


# --- the cluster -------------------------------------------------------------------------------
class RestartController(Action):
    """Not during an administrator's reboot: slurmctld 22.05 then shows that node as rebooting for ever."""

    name = "restart slurmctld"

    def choose(self, world, chance):
        return {} if self.fits(world) else None

    @staticmethod
    def fits(world: World) -> bool:
        return not world.rebooting and not world.more.on_backup

    def do(self, world, step):
        if not self.fits(world):
            return False
        world.disturb(*world.site.nodes)
        world.site.restart_controller()
        return True


class Reserve(OfNode):
    """A maintenance that begins now, over whatever runs there; or the end of the one that there is."""

    name = "reservation"

    def fits(self, world, node):
        return node not in world.rebooting

    def choose(self, world, chance):
        return {"end": True} if world.reserved else super().choose(world, chance)

    def do(self, world, step):
        if step.get("end"):
            ends = bool(world.reserved)
            end_reservations(world)
            return ends
        return not world.reserved and super().do(world, step)

    def change(self, world, node, step):
        if world.admin("scontrol", "create", "reservation", "reservationname=maintenance", "starttime=now",
                       "duration=10", f"nodes={node}", "users=root", "flags=maint,ignore_jobs"):
            world.reserved["maintenance"] = node


def end_reservations(world: World) -> None:
    for name in list(world.reserved):
        world.admin("scontrol", "delete", f"reservationname={name}")
        world.disturb(world.reserved.pop(name))


class Wait(Action):
    name, weight = "wait", 0.5

    def choose(self, world, chance):
        return {"for": round(chance.uniform(0.5, 3), 1)}

    def do(self, world, step):
        time.sleep(step["for"])
        return True


ACTIONS: tuple[Action, ...] = (
    Submit("sbatch", "sbatch", 12), Submit("srun", "srun", 8), Submit("salloc", "salloc", 6),
    SubmitArray("array", "sbatch", 1), SubmitDependent("dependency", "sbatch", 1), SubmitFlat("flat", "sbatch", 1),
    Update("update features"), Update("update prefer"), Update("update nodes"), Update("update exclusive"),
    Update("update time"), Cancel(), Requeue(), Hold(), Release(), Drain(), Resume(), AdminReboot(),
    RestartSlurmd(), PowerCycle(), Slow(), Fault(), Repair(),
    RestartController(), Reserve(), Wait(), *MEDDLERS)
# Of the steps so far each action is to have at least this part.
LEAST = 0.0295


def lack(counts: dict[str, int], name: str, parts: Mapping[str, float] = {}) -> float:
    """Steps that an action came too seldom so far, by its part of all steps."""
    return max(0.0, parts.get(name, LEAST) * (sum(counts.values()) + 10) - counts.get(name, 0))


def make_up(world: World, chance: random.Random, counts: dict[str, int], actions: tuple = ACTIONS,
            parts: Mapping[str, float] = {}) -> dict:
    """The next step; an action that came too seldom so far comes sooner."""
    def want(action: Action) -> float:
        lacks = lack(counts, action.name, parts)
        return action.weight + 10 * lacks * (2 + lacks)
    possible = [(action, step) for action in actions
                if action.name not in world.without and (step := action.choose(world, chance)) is not None]
    action, step = chance.choices(possible, [want(action) for action, _ in possible])[0]
    return as_step(action, step, chance)


def as_step(action: Action, words: dict, chance: random.Random) -> dict:
    return {"do": action.name} | words | {"pause": round(chance.choice((0, 0.1, 0.2, 0.4, 0.8)), 1)}
