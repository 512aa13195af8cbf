"""The promises, checked against what jobs, machines and Slurm show."""

import re
import time
from dataclasses import dataclass
from datetime import datetime

from promises import Promises
from request import Request
from world import NEVER, Submission, World, nodes_of


# A node that drains again behind so many repairs, with nothing else done to it, does so by itself.
IN_VAIN = 3


@dataclass(frozen=True)
class Violation:
    kind: str
    text: str


def violations(broken: list[tuple[str, str]]) -> list[Violation]:
    return [Violation(*each) for each in broken]


@dataclass(frozen=True)
class Look:
    """A line that a job printed."""

    word: str
    at: float
    job: str
    restarts: str
    node: str
    mode: str


def lines_of(job: Submission) -> list[str]:
    """What it printed: into LOG, or into one LOG.NODE of each of its nodes. LOG.NODE.MESS is what a mess complained of."""
    logs = [log for log in sorted(job.log.parent.glob(f"{job.log.name}*")) if log.name.count(".") <= 2]
    return [line for log in logs for line in log.read_text(errors="replace").splitlines()]


def looks_of(job: Submission, mode_of) -> list[Look]:
    lines = [line.split() for line in lines_of(job) if not line.startswith("!")]
    return [Look(words[0], float(words[1]), *words[2:5], mode_of(words[5])) for words in lines if len(words) == 6]


def told(job: Submission) -> list[tuple[str, str]]:
    """What the job itself has found wrong: "! KIND TEXT"."""
    words = [line.split(" ", 2) for line in lines_of(job) if line.startswith("! ")]
    return [(kind, f"{job}: {text}") for _, kind, text in (entry for entry in words if len(entry) == 3)]


def fault_of(request: Request, look: Look) -> str:
    """Why a job with this request must not run like this, "" when it may."""
    modes = request.modes()
    if modes is not None and look.mode not in modes:
        return f"wrong mode: asked for {' or '.join(sorted(modes)) or 'none that exists'}"
    if not request.can_use(look.node):
        return "wrong node: it is excluded or has not the feature"
    return ""


def wrong_looks(job: Submission, looks: list[Look]) -> list[Violation]:
    """The mode at a job's end is held against what it asked for at its start."""
    started = {(look.job, look.restarts): look.at for look in looks if look.word == "start"}
    found = []
    for look in looks:
        if look.word == "end" and job.disturbed:
            continue
        faults = [fault_of(request, look) for request in job.asked_at(started.get((look.job, look.restarts), look.at))]
        if all(faults):
            kind, _, text = faults[-1].partition(": ")
            found.append(Violation(kind, f"{job} at its {look.word} on {look.node} "
                                         f"in {look.mode}: {text}"))
    return found


def spans_of(job: Submission, looks: list[Look]) -> list[tuple[str, float, float, str]]:
    """Where it ran from when to when, by what it printed at both ends: node, start, end, Slurm's number."""
    starts = {(look.job, look.restarts, look.node): look.at for look in looks if look.word == "start"}
    return [(look.node, starts[key], min(look.at, revoked_at(job, look.job)), look.job) for look in looks if look.word == "end"
            and (key := (look.job, look.restarts, look.node)) in starts]


def revoked_at(job: Submission, number: str) -> float:
    """When Slurm took the nodes of a salloc that gave way to a higher job: its command goes on, on the login node."""
    ends = [record.get("EndTime", "Unknown") for record in job.records if record["JobId"] == number]
    if not ends or ends[0] == "Unknown" or job.argv[0] != "salloc" or not job.outranked:
        return NEVER
    return datetime.fromisoformat(ends[0]).timestamp()


def wants_whole_nodes(job: Submission) -> bool:
    """Unless an operator has said otherwise."""
    return not job.shares and all(version.request.modes() is not None for version in job.versions)


class Oracle:
    def __init__(self, world: World):
        self.world = world
        self.more = Promises(world, self.lasts)
        self.since: dict[tuple, float] = {}
        self.done: set[int] = set()
        self.spans: list[tuple[Submission, tuple[str, float, float, str]]] = []

    @property
    def times(self):
        return self.world.site.times

    def lasts(self, seconds: float, holds: bool, *key) -> bool:
        """Has this been so at each look for that long?"""
        if not holds:
            self.since.pop(key, None)
            return False
        return time.time() - self.since.setdefault(key, time.time()) >= seconds

    def check(self) -> list[Violation]:
        found = [violation for node in self.world.site.nodes for violation in self._check_node(node)]
        for job in self.world.submissions.values():
            if job.number not in self.done:
                over = job.is_over()
                found += self._check_job(job)
                if over:
                    self.done.add(job.number)
                    found += self._check_end(job)
        return found

    # --- nodes ---------------------------------------------------------------------------------
    def _check_node(self, node: str) -> list[Violation]:
        state = self.world.state(node)
        if not state:
            return []
        return (self._check_drain(node, state) + self._check_out(node, state) + self._check_goal(node, state)
                + self._check_ending(node, state) + violations(self.more.check_node(node)))

    def _check_ending(self, node: str, state: str) -> list[Violation]:
        """The next job waits for what the last one has left there."""
        ends = "COMPLETING" in state and not self.world.is_disturbed(node)
        if self.lasts(self.times.ending, ends, "ends", node):
            return [Violation("late", f"{node} is {state} for {self.times.ending} s")]
        return []

    def _check_drain(self, node: str, state: str) -> list[Violation]:
        lost = node in self.world.drained and "DRAIN" not in state
        if self.lasts(self.times.drain, lost, "undrained", node):
            return [Violation("undrained", f"{node} is {state}, nobody lifted the administrator's drain")]
        return []

    def _check_out(self, node: str, state: str) -> list[Violation]:
        world = self.world
        ours = node in world.drained or node in world.broken or node in world.rebooting
        reason = world.nodes[node].get("Reason", "")
        boots = reason.startswith("Reboot ASAP")
        misread = world.site.gives_back_misread and reason.startswith("Low RealMemory")
        words = re.findall("[A-Z_]+", state)
        drains = "DRAIN" in words and not ours and not world.is_going_off(node)
        down = ("DOWN" in words or "FAIL" in state) and not ours
        if drains and not misread and time.time() < world.disturbed_until.get(node, 0) and world.repairs.get(node, 0) < IN_VAIN:
            world.broken.add(node)      # what a power cut or a killed slurmd may cost: an administrator looks
            return []
        if (self.lasts(self.times.misread, drains and misread, "misread", node)
                or self.lasts(self.times.drain, drains and not boots and not misread, "drained", node)
                or self.lasts(self.times.down, drains and boots or down, "down", node)):
            return [Violation("drained", f"{node} is {state} ({reason}), without a fault or an administrator")]
        return []

    def _check_goal(self, node: str, state: str) -> list[Violation]:
        world = self.world
        busy = any(word in state for word in ("ALLOC", "MIXED", "COMPLETING", "REBOOT", "POWER"))
        waits = not busy and node not in world.broken and bool(world.site.goals(node))
        if self.lasts(self.times.goal, waits, "goal", node):
            return [Violation("goal left", f"{node} is {state}, and a goal waits in {', '.join(world.site.goals(node))}")]
        return []

    # --- jobs ----------------------------------------------------------------------------------
    def _check_job(self, job: Submission) -> list[Violation]:
        looks = looks_of(job, self.world.site.mode_of)
        found = wrong_looks(job, looks) + violations(told(job) + self.more.check_job(job))
        for record in job.pending():
            found += self._check_pending(job, record)
        for record in job.records:
            found += self._check_begun(job, record, looks)
        return found

    def _check_begun(self, job: Submission, record: dict, looks: list[Look]) -> list[Violation]:
        """Its nodes are up, Slurm has started it, and their prologs take too long."""
        begun = any(look.job == record["JobId"] for look in looks)
        waits = record["JobState"] == "RUNNING" and not begun and not job.disturbed and not job.cancelled
        if self.lasts(self.times.begin, waits, "begins", job.number, record["JobId"]):
            return [Violation("late", f"{job}, job {record['JobId']}, is started on {record['NodeList']} "
                                      f"({record.get('Reason')}), and has not begun")]
        return []

    def _check_pending(self, job: Submission, record: dict) -> list[Violation]:
        world, reason = self.world, record.get("Reason", "")
        if self.more.may_wait(job, record):
            return []
        servable = not job.held and job.can_be_served(world.in_service())
        text = f"{job} is pending: {reason}, priority {record.get('Priority')}"
        held = servable and record.get("Priority") == "0" and "Dependency" not in reason
        if self.lasts(self.times.held, held, "held", job.number, record["JobId"]):
            return [Violation("held", text)]
        idle = {node for node in world.up() if world.state(node) in ("IDLE", "IDLE+POWERED_DOWN")}
        waits = (not job.held and "Dependency" not in reason and "JobArrayTaskLimit" not in reason
                 and job.can_be_served(idle))
        if self.lasts(self.times.idle, waits, "waits", job.number, record["JobId"]):
            return [Violation("stuck", f"{text}, while {', '.join(sorted(idle))} idle")]
        return []

    def _check_end(self, job: Submission) -> list[Violation]:
        if job.cancelled:
            return []
        if job.status and not any(nodes_of(record) for record in job.records):
            return self._check_refusal(job)
        if job.is_batch and job.status == 0 and not job.records:
            return [Violation("lost", f"{job}: Slurm does not know it any more, and it has not ended")]
        looks = looks_of(job, self.world.site.mode_of)
        found = []
        for record in job.records:
            found += self._check_completed(job, record, looks)
        modes = {(look.job, look.node): look.mode for look in looks}
        return (found + self._check_shared(job, looks)
                + violations(self.more.check_memory(job, spans_of(job, looks), modes)))

    def _check_shared(self, job: Submission, looks: list[Look]) -> list[Violation]:
        found = []
        for node, start, end, number in spans_of(job, looks):
            for other, (its_node, its_start, its_end, its_number) in self.spans:
                meets = its_node == node and its_number != number and its_start < end and start < its_end
                if meets and not (job.stood or other.stood) and (wants_whole_nodes(job) or wants_whole_nodes(other)):
                    found.append(Violation("shared", f"{job} and {other} ran on {node} at the same time"))
            self.spans.append((job, (node, start, end, number)))
        return found

    def _check_refusal(self, job: Submission) -> list[Violation]:
        words = job.words.read_text(errors="replace").strip() if job.words.exists() else ""
        if job.status == 0 or job.request.is_odd() or not job.could_be_served or self.more.is_limited(job):
            return []
        return [Violation("refused", f"{job}: {words.splitlines()[0] if words else job.status}")]

    def _check_completed(self, job: Submission, record: dict, looks: list[Look]) -> list[Violation]:
        state, number = record["JobState"], record["JobId"]
        text = f"{job}, job {number}, is {state} ({record.get('Reason')})"
        mine = [look for look in looks if look.job == number]
        if state == "COMPLETED":
            ends = {look.node for look in mine if look.word == "end"}
            missing = set(nodes_of(record)) - ends
            return [Violation("lost", f"{text}, and has not run on {', '.join(sorted(missing))}")] if missing else []
        if job.disturbed or self.more.may_be_lost(job) or "Dependency" in record.get("Reason", ""):
            return []
        return [Violation("lost", text)]


# --- at rest -----------------------------------------------------------------------------------
def unfinished(world: World) -> list[Violation]:
    """Of a cluster that had everything and all the time it needs."""
    return [Violation("stuck", f"{job} is {record['JobState']}: {record.get('Reason')}, "
                               f"priority {record.get('Priority')}, {record.get('NodeList')}; all nodes are in service")
            for job in world.live() for record in job.live()]
