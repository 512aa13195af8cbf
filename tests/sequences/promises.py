"""Promises beyond modes and waiting: memory, records, tools, requests that nothing can meet; and which jobs
what is done to the site may cost something.
"""

from oracle import Violation, looks_of, spans_of
from world import Submission, World, nodes_of

# MemTotal of the bench's nodes.
MEMORY_MIB = {"memory": 7936, "mixed": 3968, "appdirect": 1984}
# TurnAwayLimit, and one for a turn away that slurmctld had not yet heard of.
MOST_RESTARTS = 3 + 1
# Slurm looks at its queue every 2 s here, without the jobs that may have no node rebooted.
DELAYED_S = 25


def has_mode(job: Submission) -> bool:
    return any(version.request.modes() is not None for version in job.versions)


class Promises:
    def __init__(self, world: World, lasts):
        self.world, self.lasts = world, lasts
        self.in_use: list[tuple[str, float, float, int, Submission]] = []

    # --- what a site's own doings may cost -----------------------------------------------------
    def is_limited(self, job: Submission) -> bool:
        """It takes nodes that are in its mode already, if there are any."""
        return job.number in self.world.more.limited and has_mode(job)

    def is_turned_away(self, job: Submission) -> bool:
        """By a node that takes none, or that has no memory left beside other jobs."""
        return job.number in self.world.more.turned or job.shares and has_mode(job)

    def may_be_lost(self, job: Submission) -> bool:
        """An interactive job cannot go back to the queue; the bench's site makes no flat memory."""
        no_flat = job.request.option == "flat" and not self.world.site.has_kernel
        return self.is_limited(job) or no_flat or not job.is_batch and self.is_turned_away(job)

    def may_wait(self, job: Submission) -> bool:
        return self.is_limited(job) or self.is_turned_away(job)

    # --- nodes ---------------------------------------------------------------------------------
    def check_node(self, node: str) -> list[Violation]:
        return [Violation("tools", f"on {node} {first} still changes something, and {second} begins")
                for first, second in beside(self.world.site.tool_times(node))]

    # --- jobs ----------------------------------------------------------------------------------
    def check_job(self, job: Submission) -> list[Violation]:
        found = [Violation("foreign", f"{job}: job {line.replace(' ', ' was told to use ', 1)}, which it was not given")
                 for line in self.world.site.given(job.number)]
        if job.records and job.versions[0].request.asks_too_much():
            found.append(Violation("accepted", f"{job} asks for more than any node has"))
        for record in job.records:
            found += self._check_flat(job, record) + self._check_restarts(job, record) + self._check_delay(job, record)
        return found

    def _check_flat(self, job: Submission, record: dict) -> list[Violation]:
        if job.request.option != "flat" or job.updates:
            return []
        if not self.world.more.on_shared.get(job.number):
            alone = record.get("OverSubscribe") == "NO"
            return [] if alone else [Violation("shared", f"{job}: others may be put beside flat memory")]
        told = f"job {record['JobId']}: job begin: other jobs may be put on the job's nodes"
        if (record["JobState"] != "FAILED" or job.disturbed
                or any(self.world.site.has_said(node, told) for node in nodes_of(record))):
            return []
        return [Violation("shared", f"{job} began, though others may be put beside its flat memory")]

    def _check_restarts(self, job: Submission, record: dict) -> list[Violation]:
        counted = job.number not in self.world.more.uncounted and not job.disturbed
        if counted and int(record.get("Restarts", 0)) > MOST_RESTARTS:
            return [Violation("requeued", f"{job} was requeued {record['Restarts']} times")]
        return []

    def _check_delay(self, job: Submission, record: dict) -> list[Violation]:
        """By jobs that may have no node rebooted."""
        world = self.world
        idle = {node for node in world.up() if world.state(node) == "IDLE"}
        waits = (record["JobState"] == "PENDING" and world.more.policy == "no reboots" and not has_mode(job)
                 and not job.held and record.get("Reason") not in ("Dependency", "JobArrayTaskLimit")
                 and job.request.can_be_served(idle))
        if self.lasts(DELAYED_S, waits, "delayed", job.number, record["JobId"]):
            return [Violation("stuck", f"{job} waits behind jobs that may have no node rebooted, "
                                       f"{', '.join(sorted(idle))} idle")]
        return []

    def check_memory(self, job: Submission) -> list[Violation]:
        """What jobs in a mode have on a node at the same time, as far as they asked for it."""
        looks, found = looks_of(job, self.world.site.mode_of), []
        mib = job.request.memory_mib() if has_mode(job) else 0
        modes = {(look.job, look.node): look.mode for look in looks}
        for node, start, end, number in spans_of(job, looks) if mib else []:
            beside_it = [other for other in self.in_use if other[0] == node and other[1] < end and start < other[2]]
            exists = MEMORY_MIB.get(modes[number, node], 0)
            for _, _, _, others, other in beside_it:
                if exists and others + mib > exists:
                    found.append(Violation("memory", f"{job} and {other} had {others + mib} MiB of the {exists} of {node}"))
            self.in_use.append((node, start, end, mib, job))
        return found


def beside(lines: list[str]) -> list[tuple[str, str]]:
    """Tools that began while one that changes something was at work: its process, and theirs."""
    runs = [line.split() for line in lines]
    begun = [(words[1], float(words[2]), words[3]) for words in runs if words[0] == "begin" and len(words) == 4]
    ended = {words[1]: float(words[2]) for words in runs if words[0] == "end"}
    changes = [(pid, since, ended[pid]) for pid, since, kind in begun if kind == "change" and pid in ended]
    return [(f"process {pid}", f"process {other}") for pid, since, until in changes
            for other, at, _ in begun if other != pid and since < at < until]
