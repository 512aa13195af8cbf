"""The nodes' states in the twin's Slurm."""
from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass

from cluster.control import Capture, ask
from cluster.errors import TwinError
from cluster.progress import Progress
from cluster.shape import saved
from cluster.state import State

POLL_S = 0.3
SINFO = ["sinfo", "-hN", "-o", "%N|%T|%b|%E"]
NO_REASON = "none"
ACCOUNTING = "pmtwin-accounting.service"


@dataclass
class NodeState:
    """A line of sinfo: long state with its flag, active features, reason."""

    name: str
    state: str
    features: str
    reason: str

    @property
    def settled(self) -> bool:
        """True: the state does not change by waiting. The node answers, does not boot or wait for a boot, and does not
        wait for pm-reregister because slurmctld misread node_reg_mem_percent."""
        return self.state.isalpha() and self.state not in ("unknown", "down", "inval") and not self.misread

    @property
    def misread(self) -> bool:
        return self.reason.startswith("Low RealMemory") and not self.fit

    @property
    def fit(self) -> bool:
        return self.state in ("idle", "mixed", "allocated", "completing")


def nodes(state: State) -> dict[str, NodeState]:
    """The nodes as slurmctld sees them; empty while it does not answer."""
    try:
        answer = Capture(state, "head", SINFO)
    except TwinError:
        return {}
    if answer.status:
        return {}
    rows = (line.split("|", 3) for line in answer.out.decode(errors="replace").splitlines() if line)
    return {row[0]: NodeState(*row) for row in rows if len(row) == 4}


def wait_ready(state: State, progress: Progress, limit_s: float, supervisor: subprocess.Popen | None) -> list[str]:
    """Waits until each compute node is idle in Slurm, or has booted in a plain twin; returns a remark for each node that is
    drained or dark instead."""
    shape = saved(state)
    end = time.monotonic() + limit_s
    while True:
        check_supervisor(state, supervisor)
        guests = status(state)
        waiting, remarks = judge_boot(guests)
        if guests and not waiting and not shape.plain:
            waiting, remarks = judge_slurm(nodes(state), guests, remarks)
        if guests and not waiting:
            return remarks + (judge_accounting(state) if shape.accounting else [])
        if time.monotonic() > end:
            raise TwinError(f"not ready within {limit_s:.0f} s: {'; '.join(waiting) or 'no answer'}; see `pmtwin events`")
        progress.step(f"guests: waiting for {summary(guests)}")
        time.sleep(POLL_S)


def judge_accounting(state: State) -> list[str]:
    """A remark if the head node's accounting is not as its service has to leave it."""
    found = Capture(state, "head", ["systemctl", "is-active", ACCOUNTING]).out.decode(errors="replace").strip()
    return [] if found == "active" else [f"accounting does not work: {ACCOUNTING} is {found}, see `pmtwin logs head`"]


def check_supervisor(state: State, supervisor: subprocess.Popen | None) -> None:
    if supervisor and supervisor.poll() is not None:
        lines = state.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        raise TwinError(f"the supervisor ended ({''.join(lines) or 'no message'}); see '{state.log}'")


def status(state: State) -> list[dict]:
    try:
        return ask(state, "status")["nodes"]
    except TwinError:
        return []


def summary(guests: list[dict]) -> str:
    missing = [g["name"] for g in guests if not g["ready"] and g["power"] not in ("dark", "off")]
    return f"{', '.join(missing)} to boot" if missing else "Slurm" if guests else "the supervisor"


def judge_boot(guests: list[dict]) -> tuple[list[str], list[str]]:
    """Sentences about nodes that are worth waiting for, and about nodes that are not."""
    waiting, remarks = [], []
    for guest in guests:
        if guest["power"] == "off" and guest["role"] == "head":
            raise TwinError("the head node is off; see `pmtwin events` and `pmtwin logs head`")
        if guest["power"] in ("dark", "off"):
            remarks.append(f"{guest['name']} is {guest['power']}, see `pmtwin events`")
        elif not guest["ready"]:
            waiting.append(f"{guest['name']} is still booting")
    return waiting, remarks


def judge_slurm(known: dict[str, NodeState], guests: list[dict], remarks: list[str]) -> tuple[list[str], list[str]]:
    """The same for guests that have booted, by their states in Slurm; `remarks` come first."""
    waiting, remarks = [], list(remarks)
    for guest in (g for g in guests if g["role"] == "compute" and g["power"] == "on"):
        row = known.get(guest["name"])
        if not row or not row.settled:
            waiting.append(f"{guest['name']} is {row.state if row else 'unknown'} in Slurm")
        elif not row.fit:
            remarks.append(f"{guest['name']} is {row.state} in Slurm: {row.reason}")
    return waiting, remarks
