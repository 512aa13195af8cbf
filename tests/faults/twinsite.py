"""One compute node of a twin, a real guest: commands on it, its power, and what it shows."""

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PMTWIN = TOP / "twin/pmtwin"
BOOT_S, COMMAND_S = 600, 300
LOST_STATUS = 124       # from here on the command has not ended, its guest has
# Not in a home, which the unit that verifies a boot does not see. PLANS is lost with the boot, as it should.
FOLDER, PLANS = "/opt/faults", "/run/faults"
PRELOAD = f"PMFAULT={PLANS} LD_PRELOAD={FOLDER}/pmfault.so"
TOOLS = {"ndctl": "/usr/bin/ndctl", "daxctl": "/usr/bin/daxctl", "mkfs": "/usr/sbin/mkfs.ext4",
         "ipmctl": "/usr/bin/ipmctl"}

# What a node gets: impatient tools, each with tests/faults/tool in front, and folders for plans. The
# program that Slurm calls for a change is preloaded while somebody wants its steps.
INSTALL = f"""\
set -e
mkdir -p {FOLDER}/bin {PLANS}
for pair in {" ".join(f"{name}={program}" for name, program in TOOLS.items())}; do
	name=${{pair%%=*}} program=${{pair#*=}}
	printf '%s\\n' '#!/bin/sh' "[ -e {FOLDER}/calls ] || exec $program \\"\\$@\\"" \\
		"exec /usr/bin/python3 -ESs {FOLDER}/tool {FOLDER} $program \\"\\$@\\"" >{FOLDER}/bin/$name
	chmod 755 {FOLDER}/bin/$name
done
grep -q {FOLDER} /etc/slurm/pmem.conf || cat >>/etc/slurm/pmem.conf <<-END
	NdctlPath={FOLDER}/bin/ndctl
	DaxctlPath={FOLDER}/bin/daxctl
	MkfsExt4Path={FOLDER}/bin/mkfs
	IpmctlPath={FOLDER}/bin/ipmctl
	ToolTimeout=60
	OfflineTimeout=10
END
helper=/usr/libexec/slurm-pmem/pm-helper
grep -q {FOLDER} $helper || sed -i '1a [ ! -e {PLANS}/trace ] || export {PRELOAD}' $helper
"""


class Stuck(Exception):
    """The node did not come to what a case needs before it begins."""


@dataclass
class Done:
    status: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""


def pmtwin(*words: str, timeout: float = COMMAND_S) -> Done:
    try:
        done = subprocess.run([PMTWIN, *words], capture_output=True, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, errors="replace")
    except subprocess.TimeoutExpired:
        return Done(LOST_STATUS, "", "no answer in time")
    return Done(done.returncode, done.stdout, done.stderr)


def compute_nodes() -> list[str]:
    done = pmtwin("status", "--json")
    if done.status:
        raise SystemExit(f"twin: {done.sentence or 'it is down, `pmtwin up` starts it'}")
    return [node["name"] for node in json.loads(done.out)["nodes"] if node["name"] != "head"]


def wait_for(seconds: float, condition, step: float = 2) -> bool:
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            return False
        time.sleep(step)
    return bool(found)


class Twin:
    def __init__(self, node: str):
        self.node = node
        self.sh(f"mkdir -p {FOLDER}")
        for name in ("build/tests/pmfault.so", "tests/faults/tool", "tests/faults/pin_pages.py"):
            pmtwin("copy", str(TOP / name), f"{node}:{FOLDER}/{Path(name).name}")
        done = self.sh(INSTALL)
        if done.status:
            raise SystemExit(f"twin: {done.err}")

    def sh(self, script: str, timeout: float = COMMAND_S) -> Done:
        return pmtwin("exec", self.node, "--", "bash", "-c", script, timeout=timeout)

    def inject(self, fault: str, *options: str) -> None:
        pmtwin("inject", *options, self.node, fault)

    def boot_id(self) -> str:
        return self.sh("cat /proc/sys/kernel/random/boot_id", timeout=30).out.strip()

    def wait_boot(self, before: str) -> bool:
        """Until it has booted anew, as far as the unit that verifies it."""
        if not wait_for(BOOT_S, lambda: self.boot_id() not in ("", before)):
            return False
        return self.sh(f"mkdir -p {PLANS}; until systemctl is-active slurmd >/dev/null; do sleep 0.5; done",
                       timeout=120).status == 0

    def power_cycle(self) -> bool:
        before = self.boot_id()
        pmtwin("power-cycle", self.node)
        return self.wait_boot(before)

    def reboot(self) -> bool:
        before = self.boot_id()
        self.sh("pmctl reboot")
        return self.wait_boot(before)

    def arm(self, plan: str = "", spoil: str = "") -> None:
        """A step of PRELOAD that something happens at, or a tool's call that goes wrong."""
        if plan:
            self.sh(f"mkdir -p {PLANS} && cd {PLANS} && rm -f * && touch trace && echo '{plan}' >plan")
        else:
            self.sh(f"cd {FOLDER} && rm -f spoiled && touch calls && echo '{spoil}' >spoil && sync")

    def disarm(self) -> bool:
        """Was it met?"""
        return self.sh(f"cd {FOLDER} && found=$(ls spoiled {PLANS}/fired 2>/dev/null); "
                       f'rm -f calls spoil spoiled {PLANS}/*; [ -n "$found" ]').status == 0

    def resets(self) -> int:
        """How often preload.c has reset it: the kernel's last line on the console."""
        return pmtwin("logs", self.node).out.count("pmfault: reset")

    def record(self, command: str) -> tuple[list[str], list[str]]:
        """The labels of a change in which nothing goes wrong: its steps, and the tools' calls."""
        self.sh(f"rm -f {PLANS}/* {FOLDER}/calls; touch {PLANS}/trace {FOLDER}/calls")
        done = self.sh(f"{PRELOAD} {command}")
        if done.status:
            raise Stuck(f"'{command}' without a fault: {done.sentence}")
        found = [self.sh(f"cat {path}").out.splitlines() for path in (f"{PLANS}/trace", f"{FOLDER}/calls")]
        self.disarm()
        return found[0], found[1]
