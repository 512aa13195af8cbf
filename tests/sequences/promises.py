"""Promises beyond modes and waiting: memory, records, tools, requests that nothing can meet; and which jobs
what is done to the site may cost something. What is broken is told as a kind and a text.
"""

from collections.abc import Iterable

from request import FEATURE, Request
from world import Submission, World, nodes_of

# MemTotal of the bench's nodes.
MEMORY_MIB = {"memory": 7936, "mixed": 3968, "appdirect": 1984}
TURN_AWAY_LIMIT = 2
SAME_RUN_S = 4
# The files of the kernel come one after the other.
BOOTS_S = 0.5
# Slurm looks at its queue every 2 s here, without the jobs that may have no node rebooted.
DELAYED_S = 25
REVIVED_S = 5

Broken = tuple[str, str]


def has_mode(job: Submission) -> bool:
    """Perhaps: Slurm may have refused to change it to a job that has one."""
    return any(version.request.modes() is not None for version in job.versions)


def surely_has_mode(job: Submission) -> bool:
    return all(version.request.modes() is not None for version in job.versions)


def has_too_much(before: Request, refused: str) -> bool:
    """Would the memory of the refused mode be more than a node has in one of the modes that the job had before? Memory that
    its user has named stays."""
    modes = before.modes()
    return bool(modes) and not before.memory_mib() and any(MEMORY_MIB[FEATURE[refused]] > MEMORY_MIB[mode] for mode in modes)


def is_held_by_user(record: dict) -> bool:
    return record.get("Reason") == "JobHeldUser"


class Promises:
    def __init__(self, world: World, lasts):
        self.world, self.lasts = world, lasts
        self.in_use: list[tuple[str, float, float, int, Submission]] = []
        self.excused: dict[str, int] = {}       # restarts of Slurm's jobs that something of ours may have caused
        self.seen_on: dict[str, list[str]] = {} # nodes of Slurm's jobs, since their last restart

    # --- what a site's own doings may cost -----------------------------------------------------
    def is_limited(self, job: Submission) -> bool:
        """It takes nodes that are in its mode already, if there are any."""
        return job.number in self.world.more.limited and has_mode(job)

    def is_half_updated(self, job: Submission) -> bool:
        """It has more memory than its mode has."""
        return job.number in self.world.more.half_updated

    def is_turned_away(self, job: Submission) -> bool:
        """By a node that takes none, or that has no memory left beside other jobs."""
        turned = {job_id for job_id, _ in self.world.site.turned_away()}
        return (job.shares or self.is_half_updated(job)) and has_mode(job) or any(record["JobId"] in turned for record in job.records)

    def may_be_lost(self, job: Submission) -> bool:
        """An interactive job cannot go back to the queue; the bench's site makes no flat memory; that an srun without a mode
        asks for more DRAM than there is, only its node can tell. Other jobs have no ranks that could ask. A node with a
        suspended job turns away a job of another mode. A job of a higher partition cancels what cannot go back to the queue, or
        is of a partition that does not."""
        no_flat = job.request.option == "flat" and not self.world.site.has_kernel
        much_dram = job.argv[0] == "srun" and job.request.wants_much_dram() and not surely_has_mode(job)
        stood = has_mode(job) and any(node in self.world.more.stood_on for record in job.records for node in nodes_of(record))
        gave_way = job.outranked and (not job.is_batch or job.request.extra.get("--partition") == "cheap")
        return no_flat or much_dram or gave_way or not job.is_batch and (stood or self.is_turned_away(job))

    def may_wait(self, job: Submission, record: dict) -> bool:
        """Held because nodes have turned it away, or sent away from them."""
        excluded = set(nodes_of({"NodeList": record.get("ExcNodeList", "")})) - job.request.excluded
        return self.is_limited(job) or self.is_half_updated(job) or self.is_turned_away(job) and (is_held_by_user(record) or bool(excluded))

    # --- nodes ---------------------------------------------------------------------------------
    def check_node(self, node: str) -> list[Broken]:
        return [("tools", f"on {node} {first} still changes something, and {second} begins")
                for first, second in beside(self.world.site.tool_times(node))] + self._check_stale(node)

    def _check_stale(self, node: str) -> list[Broken]:
        """An administrator's reboot leaves a node in its mode, unless a job asks for another."""
        boot, before, goal = self.world.more.stale.get(node, ("", "", ""))
        if not boot or self.world.site.boot_id(node) in ("", boot):
            return []
        wanted = any(goal in (job.request.modes() or ()) for job in self.world.live()) or node in self.world.broken
        applied = goal not in (before, "") and not wanted and self.world.site.mode(node) == goal
        if self.lasts(BOOTS_S, applied, "stale", node):
            return [("unasked", f"{node} is in {goal} since an administrator's reboot, and was in {before}: no job asks for it")]
        if not applied:
            del self.world.more.stale[node]
        return []

    # --- jobs ----------------------------------------------------------------------------------
    def check_job(self, job: Submission) -> list[Broken]:
        found = [("foreign", f"{job}: job {line.replace(' ', ' was told to use ', 1)}, which it was not given")
                 for line in self.world.site.given(job.number)]
        if job.records and job.versions[0].request.asks_too_much():
            found.append(("accepted", f"{job} asks for more than any node has"))
        for record in job.records:
            found += (self._check_flat(job, record) + self._check_turned(job, record) + self._check_delay(job, record)
                      + self._check_cancelled(job, record) + self._check_restarts(job, record))
        return found

    def _check_flat(self, job: Submission, record: dict) -> list[Broken]:
        if job.request.option != "flat" or job.updates:
            return []
        if not self.world.more.on_shared.get(job.number):
            alone = record.get("OverSubscribe") == "NO"
            return [] if alone else [("shared", f"{job}: others may be put beside flat memory")]
        told = f"job {record['JobId']}: job begin: other jobs may be put on the job's nodes"
        if (record["JobState"] != "FAILED" or job.disturbed
                or any(self.world.site.has_said(node, told) for node in nodes_of(record))):
            return []
        return [("shared", f"{job} began, though others may be put beside its flat memory")]

    def _check_cancelled(self, job: Submission, record: dict) -> list[Broken]:
        back = job.stays_cancelled and record["JobState"] in ("PENDING", "CONFIGURING", "RUNNING")
        if self.lasts(REVIVED_S, back, "revived", job.number, record["JobId"]) and not self._failed_prolog(record["JobId"]):
            return [("revived", f"{job} is {record['JobState']}, though its user has cancelled it")]
        return []

    def _failed_prolog(self, job_id: str) -> bool:
        """slurmd puts a job back into the queue when its prolog has failed, also one that was cancelled meanwhile."""
        site = self.world.site
        return any(site.has_said(node, f"[job {job_id}] prolog failed") for node in site.nodes)

    def _times_turned(self, record: dict) -> list[float]:
        """When nodes turned this job away."""
        return [at for job_id, at in self.world.site.turned_away() if job_id == record["JobId"]]

    def _check_turned(self, job: Submission, record: dict) -> list[Broken]:
        """As far as the service could count; the same number counts again once somebody has released the job."""
        more = self.world.more
        times = runs(filter(more.could_count, self._times_turned(record)))
        if times > TURN_AWAY_LIMIT and job.number not in more.uncounted:
            return [("requeued", f"{job} went back to the queue {times} times, since nodes turned it away")]
        return []

    def _check_restarts(self, job: Submission, record: dict) -> list[Broken]:
        """Slurm starts a job anew for what happens to the job itself: a node turns it away, its user requeues it."""
        number, more = record["JobId"], self.world.more
        unexplained = int(record.get("Restarts", "0")) - runs(self._times_turned(record)) - self.excused.get(number, 0)
        if unexplained <= 0:
            self.seen_on[number] = nodes_of(record) or self.seen_on.get(number, [])
            return []
        nodes = self.seen_on.pop(number, []) or self.world.site.nodes
        if (job.disturbed or job.outranked or job.shares or job.number in more.uncounted | more.half_updated
                or any(self.world.is_disturbed(node) or node in more.stood_on for node in nodes)):
            self.excused[number] = self.excused.get(number, 0) + unexplained
            return []
        return [("restarted", f"{job} was started anew {unexplained} times, and no node has turned it away")]

    def _check_delay(self, job: Submission, record: dict) -> list[Broken]:
        """By jobs that may have no node rebooted. Slurm may plan idle nodes for such a one; for one of several nodes, of
        which others are busy, that may be in order."""
        world = self.world
        idle = idle_or_planned(world)
        waits = (record["JobState"] == "PENDING" and world.more.policy == "no reboots" and not has_mode(job)
                 and not job.held and record.get("Reason") not in ("Dependency", "JobArrayTaskLimit")
                 and job.request.can_be_served(idle))
        if self.lasts(DELAYED_S, waits, "delayed", job.number, record["JobId"]):
            return [("stuck", f"{job} waits behind jobs that may have no node rebooted, {', '.join(sorted(idle))} idle")]
        return []

    def check_memory(self, job: Submission, spans: list[tuple[str, float, float, str]], modes: dict) -> list[Broken]:
        """What two jobs in a mode have on a node at the same time, as far as they asked for it. `modes` of the node,
        by number of the job and node. A job has nothing any more where the power was cut, though Slurm may not notice."""
        mib, found = job.request.memory_mib() if surely_has_mode(job) else 0, []
        for node, start, end, number in spans if mib else []:
            cut = self.world.site.cycled.get(node, 0)
            end = cut if start < cut < end else end
            exists = MEMORY_MIB.get(modes[number, node], mib)
            for its_node, its_start, its_end, its_mib, other in self.in_use:
                if its_node == node and its_start < end and start < its_end and its_mib + mib > exists:
                    found.append(("memory", f"{job} and {other} had {its_mib + mib} MiB of the {exists} MiB of {node}"))
            self.in_use.append((node, start, end, mib, job))
        return found


def idle_or_planned(world: World) -> set[str]:
    """For jobs of one node, while no job waits for several."""
    several = any(max(job.request.count, len(job.request.nodes)) > 1 for job in world.live() if job.pending())
    return set() if several else {node for node in world.up() if world.state(node) in ("IDLE", "IDLE+PLANNED")}


def runs(times: Iterable[float]) -> int:
    """All nodes of one run may turn it away; the next run is later."""
    found = sorted(times)
    return sum(at - before > SAME_RUN_S for before, at in zip([-SAME_RUN_S - 1, *found], found))


def beside(lines: list[str]) -> list[tuple[str, str]]:
    """Tools that began while one that changes something was at work: its process, and theirs."""
    runs = [line.split() for line in lines]
    begun = [(words[1], float(words[2]), words[3]) for words in runs if words[0] == "begin" and len(words) == 4]
    ended = {words[1]: float(words[2]) for words in runs if words[0] == "end"}
    changes = [(pid, since, ended[pid]) for pid, since, kind in begun if kind == "change" and pid in ended]
    return [(f"process {pid}", f"process {other}") for pid, since, until in changes
            for other, at, _ in begun if other != pid and since < at < until]
