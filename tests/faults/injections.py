"""The kinds of injections on a bench, each a class: what its cases are, how it is armed, what it
does while the job is on its way, and how one sees that it took place."""

import random
import subprocess
import time
import zlib
from dataclasses import dataclass, field

from benchsite import NODE, Job, Site, wait_for
from firmware import DIMMS, GOALS, HANGS
from foreign import Foreign

HELD_S = 15


@dataclass(frozen=True)
class Recording:
    """What a change without faults did, step by step."""

    steps: list[str]        # labels of preload.c
    calls: list[str]        # labels of tool


@dataclass
class Injection:
    kind: str
    origin: str
    target: str
    detail: str
    extra: dict = field(default_factory=dict)       # for the results
    data: Foreign | None = None

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.origin}-{self.target}:{self.detail}"

    def chance(self) -> random.Random:
        """The same for this injection at each run."""
        return random.Random(zlib.crc32(self.id.encode()))


class Kind:
    """Arms by files in the node's directory, unless a kind says otherwise."""

    name = help = ""
    origins: tuple[str, ...] = ()       # modes that it needs the node to be in; all
    job_seconds = 0.2

    def cases(self, recording: Recording, chance: random.Random) -> list[str]:
        raise NotImplementedError

    def arm(self, site: Site, injection: Injection) -> None:
        pass

    def during(self, site: Site, injection: Injection, job: Job) -> None:
        pass

    def fired(self, site: Site, injection: Injection) -> bool:
        return (site.node / "fired").exists()

    def violations(self, site: Site, injection: Injection) -> list[str]:
        """What only this kind can see."""
        return []


def plan(site: Site, text: str) -> None:
    (site.node / "trace").touch()
    (site.node / "plan").write_text(text)


def is_bulk(label: str) -> bool:
    return ":pwrite:memory.img#" in label


def sampled(labels: list[str], chance: random.Random, count: int) -> list[str]:
    return sorted(chance.sample(labels, min(count, len(labels))))


class Power(Kind):
    name = "power"
    help = "all processes of the node end before or after one step of the change, then it boots"

    def cases(self, recording, chance):
        bulk = [label for label in recording.steps if is_bulk(label)]
        steps = [label for label in recording.steps
                 if not is_bulk(label) and ".lock#" not in label and ":start:" not in label]
        between_tools = [s for s in recording.steps if ":open:ipmctl.lock#" in s]
        return [f"before {label}" for label in between_tools] + [
            f"{when} {label}" for label in steps + sampled(bulk, chance, 6)
            for when in ("before", "after")]

    def arm(self, site, injection):
        plan(site, f"power {injection.detail}\n")


class Tool(Kind):
    def __init__(self, tool: str):
        self.tool, self.name = tool, tool
        self.help = f"one call of {tool} fails, hangs, lies, or prints garbage or half of its answer"

    def cases(self, recording, chance):
        kinds = ("fail", "hang", "garbage", "truncated", "silent", "lies")
        return [f"{kind} {label}" for label in recording.calls if f"/{self.tool}:" in label
                for kind in kinds]

    def arm(self, site, injection):
        kind, label = injection.detail.split(" ", 1)
        (site.node / "calls").touch()
        (site.node / "spoil").write_text(f"{kind} {zlib.crc32(injection.id.encode())} {label}\n")

    def fired(self, site, injection):
        return (site.node / "spoiled").exists()


class Goal(Kind):
    name = "goal"
    help = "the firmware refuses, ignores or half applies the goal, or wants a power cycle"

    def cases(self, recording, chance):
        return [*GOALS, *HANGS]

    def arm(self, site, injection):
        (site.node / "fault").write_text(injection.detail)

    def fired(self, site, injection):
        return not (site.node / "fault").exists()


class Dimm(Kind):
    name = "dimm"
    help = "a DIMM is missing, locked or unhealthy, from before the change on or from its boot on"

    def cases(self, recording, chance):
        return [f"{fault} {since}" for fault in DIMMS for since in ("before", "boot")]

    def arm(self, site, injection):
        fault, since = injection.detail.split()
        (site.node / "fault").write_text(fault)
        if since == "before":
            site.boot()
            (site.node / "fault").write_text(fault)

    def fired(self, site, injection):
        return injection.detail.endswith("before") or not (site.node / "fault").exists()


class Disk(Kind):
    name = "disk"
    help = "StateDir or RunDir is full (28) or read-only (30) from one step of the change on"

    def cases(self, recording, chance):
        found = []
        for folder, file in (("state", "journal.json"), ("run", "mode.json")):
            labels = [s for s in recording.steps if f":make:{file}" in s]
            found += [f"{code} {folder} {label}" for label in ["*", *labels] for code in (28, 30)]
        return found

    def arm(self, site, injection):
        code, folder, label = injection.detail.split(" ", 2)
        plan(site, f"errno={code} from {label}\t{site.node}/{folder}\n")


class Slurmd(Kind):
    name = "slurmd"
    help = "slurmd is killed and started anew while a program of ours runs, as in the prolog"

    def cases(self, recording, chance):
        return [f"before {label}" for label in recording.steps if ":start:" in label
                and not label.startswith(("show", "create", "delete", "version"))]

    def arm(self, site, injection):
        plan(site, f"restart {injection.detail}\n")


class Epilog(Kind):
    name = "epilog"
    help = "the node's processes end while the job runs, with or without a boot: no epilog runs"
    job_seconds = 4

    def cases(self, recording, chance):
        return ["reboot", "crash"]

    def during(self, site, injection, job):
        """Slurm misses a batch job only BatchStartTimeout after its start."""
        injection.extra["fired"] = wait_for(30, job.runs)
        time.sleep(2)
        site.order(injection.detail)

    def fired(self, site, injection):
        return injection.extra["fired"]


class Held(Kind):
    """Stops the change at a step, does something there, and lets it go on."""

    def arm(self, site, injection):
        plan(site, f"hold {self.label(injection)}\n")

    def label(self, injection: Injection) -> str:
        return injection.detail.split(" ", 1)[1]

    def during(self, site, injection, job):
        if not wait_for(HELD_S, (site.node / "held").exists):
            return
        self.act(site, injection)
        (site.node / "held").unlink(missing_ok=True)

    def act(self, site: Site, injection: Injection) -> None:
        raise NotImplementedError


class Agents(Held):
    name = "agents"
    help = "an administrator's pmctl runs while the change is held at one step"

    def cases(self, recording, chance):
        labels = [s for s in recording.steps if not is_bulk(s) and s.startswith("helper:")]
        return [f"{verb} before {label}" for verb in ("set", "verify", "health")
                for label in sampled(labels, chance, 4)]

    def command(self, injection: Injection) -> list[str]:
        verb = injection.detail.split(" ", 1)[0]
        return {"set": ["set", injection.origin], "verify": ["verify"],
                "health": ["health", "--clear"]}[verb]

    def act(self, site, injection):
        environment = site.bench.environment() | {"SLURMD_NODENAME": NODE}
        other = subprocess.Popen([f"{site.home}/bin/pmctl", *self.command(injection)],
                                 env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True)
        try:
            other.wait(1)
        except subprocess.TimeoutExpired:
            pass
        (site.node / "held").unlink(missing_ok=True)
        injection.extra["other"] = f"{other.communicate(timeout=60)[0]}[{other.returncode}]"


CORRUPT = {
    "empty": lambda text, chance: b"",
    "truncated": lambda text, chance: text[:chance.randrange(max(1, len(text)))],
    "garbage": lambda text, chance: chance.randbytes(300),
    "version": lambda text, chance: text.replace(b'"version": 1', b'"version": 99'),
    "zeros": lambda text, chance: bytes(len(text)),
}


class Journal(Held):
    name = "journal"
    help = "the journal is destroyed before the change, between its steps, or before the boot's check"

    def cases(self, recording, chance):
        labels = [s for s in recording.steps if s.endswith(("helper:rename:journal.json#2",
                                                            "reboot:start:#1", "verify:start:#1"))]
        return [f"{how} {at}" for how in CORRUPT
                for at in ("at-rest", *(f"{'before' if ':start:' in label else 'after'} {label}"
                                        for label in labels))]

    def spoil(self, site: Site, injection: Injection) -> None:
        path = site.node / "state/journal.json"
        text = path.read_bytes() if path.exists() else b""
        how = injection.detail.split(" ", 1)[0]
        path.write_bytes(CORRUPT[how](text, injection.chance()))
        injection.extra["fired"] = True

    def arm(self, site, injection):
        if injection.detail.endswith("at-rest"):
            self.spoil(site, injection)
        else:
            super().arm(site, injection)

    def during(self, site, injection, job):
        if not injection.detail.endswith("at-rest"):
            super().during(site, injection, job)

    def act(self, site, injection):
        self.spoil(site, injection)

    def fired(self, site, injection):
        return injection.extra.get("fired", False)


class ForeignData(Kind):
    name = "foreign"
    help = "somebody's namespace is on the node, and ndctl tells of it, or not, or nonsense"
    origins = ("appdirect", "mixed")
    def cases(self, recording, chance):
        label = next((call for call in recording.calls if "/ndctl:list" in call), "")
        return ["listed", "hidden"] + [
            f"{way} {label}" for way in ("garbage", "fail", "silent", "truncated") if label]

    def arm(self, site, injection):
        way, _, label = injection.detail.partition(" ")
        injection.data = Foreign(site.node / "machine")
        injection.data.plant(injection.chance())
        if way != "hidden":
            (site.node / "ndctl.list").write_text(injection.data.listing())
        if label:
            (site.node / "calls").touch()
            (site.node / "spoil").write_text(f"{way} 1 {label}\n")

    def fired(self, site, injection):
        return " " not in injection.detail or (site.node / "spoiled").exists()

    def violations(self, site, injection):
        changed = injection.data.changed()
        injection.data.remove()
        return [f"foreign bytes changed: {what}" for what in changed]


KINDS: tuple[Kind, ...] = (Power(), Tool("ipmctl"), Tool("ndctl"), Goal(), Dimm(), Disk(), Slurmd(), Epilog(),
                           Agents(), Journal(), ForeignData())
