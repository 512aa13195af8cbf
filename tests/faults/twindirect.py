"""Faults of sub-states: what prolog and epilog call, `pmctl job begin` and `job end`, on one node that
Slurm leaves alone; and what is there then, by mountinfo, sysfs and the devices."""

import random

from twincases import Case, Lane, Notes
from twinsite import FOLDER, LOST_STATUS, PRELOAD, Twin, pmtwin

JOB, PROBE, UID = 900, 901, 1001
IDS = f"--uid={UID} --gid={UID}"
BEGIN = {"fsdax": "--expect=appdirect", "devdax": "--expect=appdirect --namespace=devdax",
         "flat": "--expect=flat"}
# What must be true when `job begin` has said that it is done.
SHOWS = {
    "fsdax": "for s in 0 1; do d=/mnt/slurm-pmem/socket$s; findmnt -no OPTIONS $d | grep -q dax=always && "
             f"[ $(stat -c %u:%a $d/job_{{job}}) = {UID}:700 ] || exit 1; done",
    "devdax": "for d in 0 1; do [ $(stat -c %u /dev/dax$d.0) = "
              f"{UID} ] && daxctl list -d dax$d.0 | grep -q '\"mode\":\"devdax\"' || exit 1; done",
    "flat": "[ $(numactl -H | grep -cE 'node [23] size: [1-9]') = 2 ]",
}
# A goal on all modules, or none at all unless the sentence says that it could not be deleted.
GOALS, NO_GOAL = "[ $(ipmctl show -goal | grep -c '0x.*|') = 4 ]", "! ipmctl show -goal | grep -q '0x.*|'"
GONE = "! ls -d /mnt/slurm-pmem/socket*/job_{job} /run/slurm-pmem/jobs/{job} 2>/dev/null | grep -q ."
WAYS = ("fail", "hang", "garbage", "truncated", "silent", "lies")
CHANGES = {"begin-fsdax": ("fsdax", False), "begin-flat": ("flat", False), "end-flat": ("flat", True),
           "end-devdax": ("devdax", True)}


def begin(state: str, job: int = JOB) -> str:
    return f"pmctl job begin --job={job} {IDS} {BEGIN[state]}"


def end(job: int = JOB) -> str:
    return f"pmctl job end --job={job}"


def seeded(spoil: str) -> str:
    """As tests/faults/tool reads it: way, seed, label."""
    return spoil.replace(" ", " 1 ", 1)


class Direct(Lane):
    """Slurm has the node drained meanwhile."""

    def __init__(self, twin: Twin, seed: int, powers: int, changes: list[str], repeat: list[str]):
        self.twin, self.powers, self.changes, self.repeat = twin, powers, changes, repeat
        self.chance = random.Random(seed)

    def open(self) -> None:
        pmtwin("exec", "head", "--", "scontrol", "update", f"nodename={self.twin.node}", "state=drain",
               "reason=campaign")

    def close(self) -> None:
        self.prepare()
        pmtwin("exec", "head", "--", "scontrol", "update", f"nodename={self.twin.node}", "state=resume",
               "reason=")

    # --- around each injection -----------------------------------------------------------------
    def prepare(self) -> None:
        self.twin.disarm()
        self.twin.sh(f"{end()}; {end(PROBE)}; pmctl recover; pmctl health --clear; pmctl provision empty")

    def conclude(self, result: dict) -> list[str]:
        """Does the node serve the next job? Else it must say in a sentence why not."""
        result["fired"] = self.twin.disarm() or result["extra"].get("fired", False)
        ended = self.twin.sh(f"{end()} && pmctl recover")
        served = self.twin.sh(f"{begin('fsdax', PROBE)} && {SHOWS['fsdax'].format(job=PROBE)} && "
                              f"setpriv --reuid {UID} --regid {UID} --clear-groups "
                              f"dd if=/dev/zero of=/mnt/slurm-pmem/socket0/job_{PROBE}/f bs=1M count=4 "
                              f"conv=fsync status=none && {end(PROBE)} && {GONE.format(job=PROBE)}")
        if served.status == 0:
            return []
        result |= {"node": "out", "reason": served.sentence or ended.sentence}
        return [] if result["reason"] else ["node does not serve and says nothing"]

    # --- one change with something going wrong ---------------------------------------------------
    def change(self, notes: Notes, state: str, ending: bool) -> list[str]:
        """Runs it; when it says that all is well, all must be."""
        command = end() if ending else begin(state)
        done = self.twin.sh(command)
        notes |= {"status": done.status, "said": done.sentence}
        shows = GONE if ending else SHOWS[state]
        if done.status == 0 and self.twin.sh(shows.format(job=JOB)).status:
            return [f"ran in a wrong mode: '{command}' said that it is done"]
        return [] if done.status == 0 or done.sentence else [f"status {done.status} without a sentence"]

    def spoiled(self, notes: Notes, state: str, ending: bool, spoil: str) -> list[str]:
        if ending:
            self.twin.sh(begin(state))
        self.twin.arm(spoil=seeded(spoil))
        return self.change(notes, state, ending)

    def power(self, notes: Notes, state: str, ending: bool, step: str) -> list[str]:
        before, resets = self.twin.boot_id(), self.twin.resets()
        if ending:
            self.twin.sh(begin(state))
        self.twin.arm(plan=f"reset {step}")
        if self.twin.sh(f"{PRELOAD} {end() if ending else begin(state)}", timeout=90).status < LOST_STATUS:
            return []
        booted = self.twin.wait_boot(before)
        notes["fired"] = self.twin.resets() > resets
        left = self.twin.sh("pmctl recover; " + GONE.format(job=JOB))
        return ([] if booted else ["node did not boot"]) + (
            [] if left.status == 0 else ["what a dead job was given is still there"])

    def case(self, kind: str, name: str, what: str) -> Case:
        """Of a change that was recorded, now or earlier."""
        if name == "set-memory":
            return Case(kind, f"{name}:{what}", lambda n: self.goal(n, what))
        run, change = self.power if kind == "power" else self.spoiled, CHANGES[name]
        return Case(kind, f"{name}:{what}", lambda n: run(n, *change, what))

    def repeated(self, idents: list[str]) -> list[Case]:
        """What needs no recording any more."""
        parts = [ident.split(":", 2) for ident in idents]
        return [self.case(*part) for part in parts if len(part) == 3 and part[1] in (*CHANGES, "set-memory")]

    def tools_and_power(self, name: str) -> list[Case]:
        """Of each way of each tool one call, and some steps, of a change that is recorded here."""
        state, ending = CHANGES[name]
        self.prepare()
        if ending:
            self.twin.sh(begin(state))
        steps, calls = self.twin.record(end() if ending else begin(state))
        cases = []
        for tool in ("ndctl", "daxctl", "mkfs"):
            mine = [call for call in calls if f"/{tool}" in call]
            for way in self.chance.sample(WAYS, len(WAYS)) if mine else []:
                label = self.chance.choice(mine)
                cases.append(self.case(tool, name, f"{way} {label}"))
        steps = [s for s in steps if ":start:" not in s and ".lock#" not in s]
        for number, step in enumerate(self.chance.sample(steps, min(self.powers, len(steps)))):
            at = f"{('before', 'after')[number % 2]} {step}"
            cases.append(self.case("power", name, at))
        return cases

    def goal(self, notes: Notes, spoil: str) -> list[str]:
        """`pmctl set memory` with a tool that goes wrong: staged on all modules, or not at all."""
        self.twin.arm(spoil=seeded(spoil))
        done = self.twin.sh("pmctl set memory")
        notes |= {"status": done.status, "said": done.sentence, "fired": self.twin.disarm()}
        right = self.twin.sh(GOALS if done.status == 0 else NO_GOAL).status == 0
        self.twin.sh("pmctl set appdirect; ipmctl delete -goal")
        if done.status and not done.sentence:
            return [f"status {done.status} without a sentence"]
        return [] if right or "could not be deleted" in done.sentence else [
            f"ran in a wrong mode: goals are not what status {done.status} says"]

    def goals(self) -> list[Case]:
        self.prepare()
        _, calls = self.twin.record("pmctl set memory")
        self.twin.sh("pmctl set appdirect")
        spoils = [f"{way} {self.chance.choice([c for c in calls if '/ipmctl:' in c])}" for way in WAYS]
        return [self.case("ipmctl", "set-memory", spoil) for spoil in spoils]

    # --- kinds of their own ----------------------------------------------------------------------
    def offline(self, notes: Notes) -> list[str]:
        """Flat memory that will not go offline: the epilog must ask for a reboot, not for patience."""
        self.twin.sh(begin("flat"))
        held = self.twin.sh(f"cd {FOLDER}; setsid -f python3 pin_pages.py 2 >held 2>&1; "
                            "for i in $(seq 100); do sleep 0.2; grep held held && break; done")
        done = self.twin.sh(end())
        notes |= {"fired": "held" in held.out, "status": done.status, "said": done.sentence}
        wrong = [] if done.status == 5 and done.sentence else [f"job end: status {done.status}, 5 expected"]
        self.twin.sh("pkill -f pin_pages.py; sleep 1")
        again = self.twin.sh(end())
        return wrong + ([] if again.status == 0 else [f"job end, once it can: {again.sentence}"])

    def disk(self, notes: Notes, how: str) -> list[str]:
        cover = {"full": "mount -t tmpfs -o size=64k none /var/lib/slurm-pmem && "
                         f"cp -a {FOLDER}/state/. /var/lib/slurm-pmem/ && "
                         "! dd if=/dev/zero of=/var/lib/slurm-pmem/fill 2>/dev/null",
                 "readonly": "mount --bind /var/lib/slurm-pmem /var/lib/slurm-pmem && "
                             "mount -o remount,ro,bind /var/lib/slurm-pmem"}[how]
        self.twin.sh(f"rm -rf {FOLDER}/state; cp -a /var/lib/slurm-pmem {FOLDER}/state")
        notes["fired"] = self.twin.sh(cover).status == 0
        wrong = self.change(notes, "fsdax", ending=False)
        if notes["status"] == 0:
            wrong.append("job begin is done although nothing could be recorded")
        self.twin.sh("umount /var/lib/slurm-pmem")
        return wrong

    def foreign(self, notes: Notes, way: str) -> list[str]:
        """Somebody's namespace, and pmctl asked for everything that would destroy it."""
        made = self.twin.sh("ndctl create-namespace -m fsdax -r region1 -n results && "
                            "head -c 8M /dev/urandom >/dev/pmem1 && sync && blockdev --flushbufs /dev/pmem1; "
                            "head -c 64M /dev/pmem1 | sha256sum")
        notes["fired"] = made.status == 0
        if way != "plain":
            self.twin.arm(spoil=f"{'silent' if way == 'hidden' else way} 1 set-memory/ndctl:list-v#1")
        for command in ("pmctl set memory", begin("flat"), begin("devdax"), "pmctl recover"):
            done = self.twin.sh(command)
            notes[command] = [done.status, done.sentence]
        sums = self.twin.sh("head -c 64M /dev/pmem1 | sha256sum; ndctl list -N")
        same = made.out.strip() and made.out.splitlines()[-1] in sums.out and "results" in sums.out
        if way != "plain":
            notes["fired"] = self.twin.disarm()
        self.twin.sh("ipmctl delete -goal; ndctl destroy-namespace -f namespace1.0")
        return [] if same else ["foreign bytes changed"]

    def pinned(self, notes: Notes) -> list[str]:
        file = f"/mnt/slurm-pmem/socket0/job_{JOB}/kept"
        self.twin.sh(f"{begin('fsdax')}; head -c 8M /dev/urandom >{file}; sync; pmctl pin namespace0.0")
        first = self.twin.sh(f"sha256sum <{file}").out
        for command in ("pmctl set memory", begin("flat", PROBE), begin("devdax", PROBE)):
            done = self.twin.sh(command)
            notes[command] = [done.status, done.sentence]
        second = self.twin.sh(f"sha256sum <{file}").out
        notes["fired"] = bool(first)
        self.twin.sh("pmctl unpin namespace0.0")
        return [] if first == second and first else ["foreign bytes changed: pinned file"]

    def agents(self, notes: Notes) -> list[str]:
        both = self.twin.sh(f"pmctl set memory >/dev/null & {begin('fsdax')} >/dev/null; b=$?; "
                            "wait %1; echo $? $b")
        one, two = (both.out.split() + ["", ""])[:2]
        # A job may begin when a goal is staged. The other order is wrong; both write the time under the lock.
        staged = self.twin.sh("pmctl journal --json | grep -B2 'state.*staged' | grep -o '[0-9-]*T[0-9:.]*Z' | tail -n 1").out
        began = self.twin.sh(f"grep -o '[0-9-]*T[0-9:.]*Z' /var/lib/slurm-pmem/jobs/{JOB}.json").out
        notes |= {"fired": True, "set": one, "begin": two, "staged": staged, "began": began}
        self.twin.sh(f"{end()}; ipmctl delete -goal; pmctl set appdirect")
        return ["ran in a wrong mode: a goal was stored below a job"] if one == two == "0" and not staged < began else []

    def journal(self, notes: Notes, file: str) -> list[str]:
        path = f"/var/lib/slurm-pmem/{file}"
        self.twin.sh(f"head -c 300 /dev/urandom >{path}")
        notes["fired"] = True
        wrong = self.change(notes, "fsdax", ending=False)
        self.twin.sh(f"rm -f {path}")
        return wrong

    def cases(self) -> list[Case]:
        if self.repeat:
            return self.repeated(self.repeat) + self.own_cases()
        found = self.goals() if "set-memory" in self.changes else []
        for name in CHANGES:
            found += self.tools_and_power(name) if name in self.changes else []
        self.chance.shuffle(found)
        return found + self.own_cases()

    def own_cases(self) -> list[Case]:
        found = [Case("disk", f"begin-fsdax:{how}", lambda n, h=how: self.disk(n, h))
                  for how in ("readonly", "full")]
        found += [Case("journal", f"begin-fsdax:{file}", lambda n, f=file: self.journal(n, f))
                  for file in ("substate.json", "journal.json")]
        found += [Case("foreign", way, lambda n, w=way: self.foreign(n, w))
                  for way in ("plain", "hidden", "garbage")]
        return found + [Case("offline", "end-flat", self.offline),
                        Case("pinned", "set, flat, devdax", self.pinned),
                        Case("agents", "set and job begin", self.agents)]
