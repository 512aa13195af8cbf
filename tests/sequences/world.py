"""The model: what was asked of a cluster so far, by users and by administrators, and when."""

import re
import subprocess
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from meddling import Meddling
from request import Request

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY", "DEADLINE",
         "PREEMPTED")
# Of partitions, where a site has several: jobs of a higher one preempt those of a lower one.
TIERS = {"cheap": 1, "main": 5, "urgent": 10}
NEVER = float("inf")
AFTER_ARRAY = re.compile(r"\bafter:(\d+)_\*\(unfulfilled\)")


def nodes_of(record: dict) -> list[str]:
    """The nodes of a job: "n[1-2,4]" and "n1" are all the forms that a few nodes come in."""
    found = re.fullmatch(r"([a-z]+)\[([0-9,-]+)\]", record.get("NodeList", ""))
    if not found:
        return [name for name in record.get("NodeList", "").split(",") if name not in ("", "(null)")]
    spans = (span.partition("-") for span in found[2].split(","))
    return [f"{found[1]}{n}" for first, _, last in spans for n in range(int(first), int(last or first) + 1)]


@dataclass
class Version:
    """What a job asked for from some moment between `asked_at` and `known_at` on; NEVER: perhaps."""

    request: Request
    asked_at: float
    known_at: float


@dataclass
class Submission:
    """One command of a user: a job, or an array of them. Slurm knows it as sNUMBER."""

    number: int
    argv: list[str]
    env: dict[str, str]
    versions: list[Version]
    log: Path
    words: Path
    updates: list[str] = field(default_factory=list)
    client: subprocess.Popen | None = None
    status: int | None = None       # of the command, once it has ended
    could_be_served: bool = True    # when it was submitted
    held: bool = False              # by a user or an admin
    cancelled: bool = False
    stays_cancelled: bool = False   # Slurm took it, and nobody requeued the job since
    shares: bool = False            # its nodes, as an operator said
    outranked: bool = False         # a job of a higher partition was there beside it
    disturbed: bool = False         # by a fault or an admin, while it was there
    resumed_at: float = 0           # by an operator
    stood: bool = False             # it was suspended, at some time: jobs of its mode may have come to be beside it
    seen: bool = False              # by Slurm, as a job
    clock_s: float = 0              # clocks of the nodes and ours may differ by this
    records: list[dict] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"s{self.number}"

    def __str__(self) -> str:
        """As its user typed it, and what was updated since."""
        words = [*(f"{name}={value}" for name, value in self.env.items()), *self.argv]
        return f"{self.name} ({' '.join([*words, *(f'+{update}' for update in self.updates)])})"

    @property
    def request(self) -> Request:
        return [version for version in self.versions if version.known_at < NEVER][-1].request

    def can_be_served(self, nodes: set) -> bool:
        """All of it, also the tasks of an array that alone took an update."""
        perhaps = [version.request for version in self.versions if version.known_at == NEVER]
        return all(request.can_be_served(nodes) for request in (self.request, *perhaps))

    @property
    def tier(self) -> int:
        return TIERS[self.request.extra.get("--partition", "main")]

    def busy_nodes(self) -> list[str]:
        """Those that have it, or boot for it."""
        return [node for record in self.records if record["JobState"] in ("RUNNING", "CONFIGURING") for node in nodes_of(record)]

    @property
    def is_batch(self) -> bool:
        return self.argv[0] == "sbatch"

    def asked_at(self, at: float) -> list[Request]:
        """Every request that may have been in force at a time."""
        known = [v.known_at for v in self.versions if v.known_at <= at - self.clock_s]
        since = max(known, default=self.versions[0].known_at)
        return [v.request for v in self.versions if v.asked_at <= at + self.clock_s and v.known_at >= since] or [
            self.versions[0].request]

    def live(self) -> list[dict]:
        return [record for record in self.records if record["JobState"] not in ENDED]

    def pending(self) -> list[dict]:
        return [record for record in self.records if record["JobState"] == "PENDING"]

    def is_suspended(self) -> bool:
        return any(record["JobState"] == "SUSPENDED" for record in self.records)

    def is_over(self) -> bool:
        return (self.status is not None and not self.live()) if self.client or self.seen else (
            self.status is not None)

    def job_id(self) -> str | None:
        """What scontrol calls all of it."""
        if not self.records:
            return None
        return self.records[0].get("ArrayJobId", self.records[0]["JobId"])


@dataclass
class World:
    site: object
    submissions: dict[int, Submission] = field(default_factory=dict)
    drained: dict[str, float] = field(default_factory=dict)         # by the administrator, since
    broken: set[str] = field(default_factory=set)                   # by a fault, until it is repaired
    disturbed_until: dict[str, float] = field(default_factory=dict)
    repairs: dict[str, int] = field(default_factory=dict)           # since anything else was done to the node
    rebooting: dict[str, tuple[str, float]] = field(default_factory=dict)   # by scontrol reboot: boot id, since
    reserved: dict[str, str] = field(default_factory=dict)          # reservation and its node
    nodes: dict[str, dict] = field(default_factory=dict)            # as Slurm shows them
    without: frozenset = frozenset()                                # actions and options that are left out
    messes: tuple = ()                                              # that jobs may make on guests, all if empty
    said: list[str] = field(default_factory=list)                   # commands and their answers
    more: Meddling = field(default_factory=Meddling)

    # --- looking -------------------------------------------------------------------------------
    def observe(self) -> None:
        shown, nodes = self.site.shown()
        if not nodes:       # no controller has answered
            return
        self.nodes = nodes
        by_name: dict[str, list[dict]] = {}
        for record in shown:
            by_name.setdefault(record["JobName"], []).append(record)
        for job in self.submissions.values():
            job.records = by_name.get(job.name, [])
            job.seen = job.seen or bool(job.records)
            if job.client and job.status is None:
                job.status = job.client.poll()
        self.more.note({job.number for job in self.live()})
        self.more.stood_on |= self.standing()
        self._note_disturbed()

    def add(self, job: Submission) -> None:
        """Those that are there now may give way to it, and it to them."""
        for other in self.live():
            other.outranked = other.outranked or other.tier < job.tier
            job.outranked = job.outranked or job.tier < other.tier
        self.submissions[job.number] = job

    def _note_disturbed(self) -> None:
        for node, (boot, _) in list(self.rebooting.items()):
            if self.site.boot_id(node) in ("", boot) or "REBOOT" in self.state(node):
                continue
            if self.site.is_marked(node, "end-reboots"):    # another reboot, that of a change
                self.rebooting[node] = (self.site.boot_id(node), time.time())
                continue
            del self.rebooting[node]
            self.more.own_reboots.discard(node)
            self.disturb(node)
        for job in self.submissions.values():
            for record in job.records:
                self._note_job(job, record)

    def _note_job(self, job: Submission, record: dict) -> None:
        """A job that waits for a disturbed node to boot meets what became of it later, at Slurm's next pass."""
        disturbed = [node for node in nodes_of(record) if self.is_disturbed(node)]
        job.disturbed = job.disturbed or bool(disturbed)
        if record["JobState"] == "CONFIGURING":
            for node in disturbed:
                self.disturbed_until[node] = max(self.disturbed_until.get(node, 0), time.time() + self.site.times.later)

    def state(self, node: str) -> str:
        return self.nodes.get(node, {}).get("State", "")

    def live(self) -> list[Submission]:
        return [job for job in self.submissions.values() if not job.is_over()]

    def is_disturbed(self, node: str) -> bool:
        return (node in self.broken or node in self.rebooting or node in self.reserved.values()
                or time.time() < self.disturbed_until.get(node, 0))

    def on_duty(self) -> set[str]:
        """Nodes to which Slurm may give jobs, though perhaps not at this moment."""
        return set(self.site.nodes) - set(self.drained) - self.broken - set(self.reserved.values())

    def in_service(self) -> set[str]:
        """Those that may serve them. One on which a job stands still changes no mode for others."""
        return self.on_duty() - self.more.turning - self.standing()

    def standing(self) -> set[str]:
        """Nodes with suspended jobs."""
        return {node for job in self.submissions.values() for record in job.records
                if record["JobState"] == "SUSPENDED" for node in nodes_of(record)}

    def up(self) -> set[str]:
        """Nodes that nothing of ours keeps from serving jobs."""
        return {node for node in self.in_service() if not self.is_disturbed(node)}

    def waits_for_ever(self, job: Submission) -> bool:
        """For a job that failed, or was cancelled. Slurm 22.05 says so of all but one: 'after' an array that was cancelled
        before any task of it began."""
        waits = [record for record in job.records if record["JobState"] == "PENDING"]
        arrays = {found[1] for record in waits if (found := AFTER_ARRAY.search(record.get("Dependency", "")))}
        return (any("DependencyNever" in record.get("Reason", "") for record in waits)
                or any(other.job_id() in arrays and {record["JobState"] for record in other.records} == {"CANCELLED"}
                       for other in self.submissions.values()))

    # --- noting --------------------------------------------------------------------------------
    def disturb(self, *nodes: str) -> None:
        """What runs there now may be lost for a reason of ours."""
        for node in nodes:
            self.disturbed_until[node] = time.time() + self.site.times.disturbed
            self.repairs.pop(node, None)

    def note_repair(self, node: str) -> None:
        repairs = self.repairs.get(node, 0)
        self.disturb(node)
        self.repairs[node] = repairs + 1

    def before_reconfigure(self) -> None:
        """At 'scontrol reconfigure' slurmctld 22.05 forgets that nodes boot for jobs, and starts these; later ones have each
        slurmd begin anew, also one that runs a job's prolog."""
        self.observe()
        self.disturb(*(self.site.nodes if self.site.restarts_at_reconfigure else self.booting()))

    def is_going_off(self, node: str) -> bool:
        """It is to be turned off, behind its jobs or now, or it is off."""
        return any(word in self.state(node) for word in ("POWER_DOWN", "POWER_DRAIN", "POWERING_DOWN", "POWERED_DOWN"))

    def is_off(self, node: str) -> bool:
        return "POWERED_DOWN" in self.state(node)

    def booting(self) -> list[str]:
        """For jobs, as Slurm has it."""
        return [node for node in self.site.nodes if "POWERING_UP" in self.state(node)]

    def has_registered(self, node: str) -> bool:
        """Since its boot: its slurmd is younger, as Slurm has it to the second."""
        try:
            since = datetime.fromisoformat(self.nodes[node]["SlurmdStartTime"]).timestamp()
        except (KeyError, ValueError):
            return False
        return since + 1 + self.site.times.clock >= time.time() - self.site.uptime(node)

    def note(self, done: subprocess.CompletedProcess) -> bool:
        words = (done.stderr or "").strip() or (done.stdout or "").strip()
        self.said.append(f"{' '.join(map(str, done.args))} -> {done.returncode} {words}")
        return done.returncode == 0

    def admin(self, *argv: str) -> bool:
        return self.note(self.site.admin(*argv))

    def user(self, *argv: str) -> bool:
        return self.note(self.site.user(list(argv), {}))
