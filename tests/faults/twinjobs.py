"""Faults under Slurm on real guests: a user's job needs a change of mode, or is given persistent memory,
and one thing goes wrong on its way. One node is broken, another one, in memory mode already, is kept back
until the job needs it."""

import random
import time

from firmware import DIMMS, GOALS
from twincases import Case, Lane, Notes
from twinsite import Stuck, Twin, pmtwin, wait_for

HOME_MODE = "appdirect"
LATE_S, LOST_S, SETTLE_S, CHANGE_S = 200, 420, 240, 300
POLL_S = 2
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL")
SETTLED = ("idle", "drained", "down", "drained*", "down*")

# What the kernel shows: number of App Direct regions, MiB of main memory.
LOOK = """\
look() {
	echo "$1 ${SLURM_RESTART_COUNT:-0} ${SLURMD_NODENAME:--}" \\
		"$(ls -d /sys/bus/nd/devices/region* 2>/dev/null | wc -l)" \\
		"$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)"
}
"""
JOB = f"""\
#!/bin/bash
{LOOK}
look start
if [ -n "$PM_DIR" ]; then
	[ -z "$(ls -A "$PM_DIR")" ] || echo "left behind: $(ls -A "$PM_DIR")"
	echo secret >"$PM_DIR/secret"
	sync
fi
sleep $1
look end
"""
WAYS = ("fail", "hang", "garbage", "silent", "lies", "truncated")
AT_BOOT = ("verify/ipmctl:show-memoryresources#1", "verify/ipmctl:show-dimm#1", "verify/ipmctl:show-goal#1")


def mode_of(regions: str, mib: str) -> str:
    """Of a node of the twin: 2 sockets, each with 1 GiB of DRAM and 4 GiB of persistent memory."""
    small, large = int(mib) < 2200, int(mib) > 7000
    known = {("2", True, False): "appdirect", ("0", False, True): "memory"}
    return known.get((regions, small, large), f"{regions} regions, {mib} MiB")


def head(*words: str) -> str:
    return pmtwin("exec", "head", "--", *words).out


def state_of(node: str) -> tuple[str, str, str]:
    """State, reason, active features."""
    line = (head("sinfo", "-hN", "-n", node, "-o", "%T|%E|%b").splitlines() or ["unknown||"])[0]
    return tuple(line.split("|", 2))


def update(node: str, *words: str) -> None:
    head("scontrol", "update", f"nodename={node}", *words)


class Job:
    """A batch job of user1."""

    def __init__(self, mode: str, seconds: float, *options: str):
        submit = ('printf "%s" "$1" >faults.job; shift; seconds=$1; shift; '
                  'exec sbatch --parsable --requeue --open-mode=append "$@" faults.job "$seconds"')
        done = pmtwin("run", "--", "sh", "-c", submit, "sh", JOB, str(seconds), f"--pm-mode={mode}",
                      "--output=faults.%j.out", *options)
        self.mode, self.number = mode, done.out.strip()
        if not self.number.isdigit():
            raise Stuck(f"sbatch: {done.sentence}")

    def fields(self) -> dict[str, str]:
        words = head("scontrol", "-o", "show", "job", self.number).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def lines(self) -> list[list[str]]:
        out = pmtwin("run", "--", "cat", f"faults.{self.number}.out").out
        return [line.split() for line in out.splitlines()]

    def runs(self) -> list[list[str]]:
        """start or end, restarts, node, mode of the machine"""
        return [[*words[:3], mode_of(*words[3:])] for words in self.lines()
                if len(words) == 5 and words[0] in ("start", "end")]

    def violations(self) -> list[str]:
        fields, runs = self.fields(), self.runs()
        wrong = [f"ran in a wrong mode: {' '.join(run)}" for run in runs if run[3] != self.mode]
        left = [f"foreign bytes seen: {' '.join(words)}" for words in self.lines() if words[:1] == ["left"]]
        completed = fields.get("JobState") == "COMPLETED" and any(run[0] == "end" for run in runs)
        return wrong + left + ([] if completed else [
            f"job lost: {fields.get('JobState')} ({fields.get('Reason')}), it printed {runs}"])


class Jobs(Lane):
    def __init__(self, twin: Twin, spare: str, seed: int):
        self.twin, self.node, self.spare = twin, twin.node, spare
        self.chance = random.Random(seed)
        self.broken_dimm = False        # since the last boot

    def ready_spare(self) -> None:
        """In memory mode once and for all."""
        if state_of(self.spare)[2] != "pm_memory":
            update(self.spare, "state=resume", "reason=")
            self.run_well(Job("memory", 0, "-w", self.spare))
        update(self.spare, "state=drain", "reason=campaign")

    def close(self) -> None:
        self.prepare()
        update(self.spare, "state=resume", "reason=")

    def run_well(self, job: Job) -> None:
        wait_for(CHANGE_S, lambda: job.fields().get("JobState") in ENDED, POLL_S)
        if job.violations():
            raise Stuck("; ".join(job.violations()))

    # --- the node ------------------------------------------------------------------------------
    def machine_mode(self) -> str:
        words = self.twin.sh(f"{LOOK}look -", timeout=60).out.split()
        return mode_of(*words[3:]) if len(words) == 5 else "off"

    def is_fit(self) -> bool:
        state, _, active = state_of(self.node)
        return (state == "idle" and active == f"pm_{HOME_MODE}" and self.machine_mode() == HOME_MODE
                and self.twin.sh("pmctl health").status == 0)

    def heal(self) -> None:
        """What an administrator does: DIMMs and firmware whole again, clear, back to the mode, resume."""
        if self.twin.sh("true", timeout=30).status or self.broken_dimm:
            self.twin.sh("sync", timeout=30)
            self.twin.power_cycle()
        self.twin.sh("pmctl verify; pmctl recover; "
                     "pmctl health --clear || { ipmctl delete -goal; pmctl verify; pmctl health --clear; }")
        if self.machine_mode() != HOME_MODE:
            self.twin.sh(f"pmctl set {HOME_MODE} || {{ ipmctl delete -goal; pmctl set {HOME_MODE}; }}")
            self.twin.reboot()
            self.twin.sh("pmctl health --clear")
        update(self.node, "state=resume")

    def prepare(self) -> None:
        """Idle in App Direct, its regions empty; the other one kept back."""
        update(self.spare, "state=drain", "reason=campaign")
        head("scancel", "-u", "user1")
        self.twin.inject("none")
        self.twin.disarm()
        for _ in range(2):
            if self.broken_dimm or not wait_for(5, self.is_fit, POLL_S):
                self.heal()
                self.broken_dimm = False
            if wait_for(60, self.is_fit, POLL_S):
                break
        else:
            raise Stuck(f"{self.node} is {state_of(self.node)}, {self.machine_mode()}")
        self.twin.sh("pmctl provision empty")

    # --- a job and what became of it -------------------------------------------------------------
    def is_needed(self, job: Job, fields: dict[str, str], late: bool) -> bool:
        """The other node, by this job: its own one is out of service, or has failed it."""
        state = state_of(self.node)[0]
        return late or fields.get("Restarts", "0") != "0" or any(w in state for w in ("drain", "down", "inval"))

    def follow(self, job: Job) -> None:
        """Until it has ended. What died with a slurmd is missed when the node registers again, but not by a
        controller that was reconfigured since: each job that it reads back counts as seen just then."""
        began, asked, released = time.monotonic(), False, False
        while time.monotonic() < began + LOST_S:
            fields, late = job.fields(), time.monotonic() > began + LATE_S
            if fields.get("JobState") in ENDED:
                return
            if late and not asked:
                asked = True
                self.twin.sh("systemctl restart slurmd")
            if not released and self.is_needed(job, fields, late):
                released = True
                update(self.spare, "state=resume", "reason=")
            time.sleep(POLL_S)

    def node_violations(self, result: dict) -> list[str]:
        """Idle in the mode that Slurm believes it to be in, or out of service with a reason."""
        wait_for(SETTLE_S, lambda: state_of(self.node)[0] in SETTLED, POLL_S)
        state, reason, active = state_of(self.node)
        result |= {"node": state, "reason": reason, "active": active, "machine": self.machine_mode()}
        if state == "idle":
            right = active == f"pm_{result['machine']}"
            return [] if right else [f"idle in {result['machine']}, Slurm believes {active}"]
        if state.rstrip("*") in ("drained", "down"):
            return [] if reason not in ("", "none") else [f"{state} without a reason"]
        return [f"still {state} ({reason})"]

    def conclude(self, result: dict) -> list[str]:
        met = self.twin.disarm()
        result["fired"] = result["extra"].get("fired", met)
        result["runs"] = self.job.runs()
        return self.job.violations() + self.node_violations(result)

    def change(self, notes: Notes) -> list[str]:
        self.ready_spare()
        self.job = Job("memory", 0)
        self.follow(self.job)
        return []

    # --- kinds ---------------------------------------------------------------------------------
    def power(self, notes: Notes, at: str) -> list[str]:
        resets = self.twin.resets()
        self.twin.arm(plan=f"reset {at}")
        self.change(notes)
        notes["fired"] = self.twin.resets() > resets
        return []

    def ipmctl(self, notes: Notes, spoil: str) -> list[str]:
        self.twin.arm(spoil=spoil)
        return self.change(notes)

    def firmware(self, notes: Notes, fault: str) -> list[str]:
        """At the boot that the job asks for, and at none later."""
        before = self.twin.boot_id()
        self.broken_dimm = fault in DIMMS
        self.twin.inject(fault, "--once")
        self.change(notes)
        notes["fired"] = self.twin.boot_id() != before
        return []

    def slurmd(self, notes: Notes, label: str) -> list[str]:
        """Killed and started anew while its prolog's pmctl waits for a tool."""
        self.twin.arm(spoil=f"restart 1 {label}")
        self.job = Job(HOME_MODE, 0)
        self.follow(self.job)
        return []

    def epilog(self, notes: Notes) -> list[str]:
        """The power is lost below a running job, which starts anew: nothing of its first run is there."""
        self.job = Job(HOME_MODE, 15)
        notes["fired"] = wait_for(120, self.job.runs, POLL_S) and self.twin.power_cycle()
        self.follow(self.job)
        gone = f"! ls -d /mnt/slurm-pmem/socket*/job_{self.job.number} 2>/dev/null | grep -q ."
        return [] if self.twin.sh(gone).status == 0 else ["what a dead job was given is still there"]

    def recorded(self) -> tuple[list[str], list[str]]:
        """What Slurm has pmctl do before the reboot; taken back again."""
        self.prepare()
        found = self.twin.record("pmctl helper pm_memory")
        self.twin.sh(f"pmctl set {HOME_MODE}")
        return found

    def cases(self) -> list[Case]:
        steps, calls = self.recorded()
        steps = [s for s in steps if ":start:" not in s and ".lock#" not in s]
        calls = [c for c in calls if "/ipmctl:" in c] + list(AT_BOOT)
        found = [Case("goal", fault, lambda n, f=fault: self.firmware(n, f)) for fault in GOALS]
        found += [Case("dimm", fault, lambda n, f=fault: self.firmware(n, f)) for fault in DIMMS]
        found += [Case("slurmd", f"begin-fsdax:{label}", lambda n, c=label: self.slurmd(n, c))
                  for label in ("job-begin/ndctl:list-v#1", "job-begin/mkfs.ext4:-q-U#2")]
        found.append(Case("epilog", "power lost while the job runs", self.epilog))
        for way in WAYS:
            spoil = f"{way} 1 {self.chance.choice(calls)}"
            found.append(Case("ipmctl", f"appdirect-memory:{spoil}", lambda n, p=spoil: self.ipmctl(n, p)))
        for number, step in enumerate(self.chance.sample(steps, min(6, len(steps)))):
            at = f"{('before', 'after')[number % 2]} {step}"
            found.append(Case("power", f"appdirect-memory:{at}", lambda n, a=at: self.power(n, a)))
        return found
