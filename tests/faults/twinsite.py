"""One compute node of a twin, a real guest: commands on it, its power, and what it shows."""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PMTWIN = TOP / "twin/pmtwin"
NODE = "n1"
BOOT_S, COMMAND_S = 240, 300
TOOLS = {"ndctl": "/usr/bin/ndctl", "daxctl": "/usr/bin/daxctl", "mkfs": "/usr/sbin/mkfs.ext4",
         "ipmctl": "/usr/bin/ipmctl"}

# What a node gets: impatient tools, each with tests/faults/tool in front, and a folder for plans.
INSTALL = """\
set -e
mkdir -p /root/bin /root/fault
for pair in {tools}; do
	name=${{pair%%=*}} program=${{pair#*=}}
	printf '%s\\n' '#!/bin/sh' "[ -e /root/fault/calls ] || exec $program \\"\\$@\\"" \\
		"exec /usr/bin/python3 -ESs /root/tool /root/fault $program \\"\\$@\\"" >/root/bin/$name
	chmod 755 /root/bin/$name
done
grep -q /root/bin /etc/slurm/pmem.conf || cat >>/etc/slurm/pmem.conf <<-END
	NdctlPath=/root/bin/ndctl
	DaxctlPath=/root/bin/daxctl
	MkfsExt4Path=/root/bin/mkfs
	IpmctlPath=/root/bin/ipmctl
	ToolTimeout=30
	OfflineTimeout=10
END
"""


@dataclass
class Done:
    status: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""


class Twin:
    def __init__(self):
        for name in ("build/tests/pmfault.so", "tests/faults/tool", "tests/faults/pin_pages.py"):
            self.pmtwin("copy", str(TOP / name), f"{NODE}:/root/{Path(name).name}")
        tools = " ".join(f"{name}={program}" for name, program in TOOLS.items())
        done = self.sh(INSTALL.format(tools=tools))
        if done.status:
            raise SystemExit(f"twin: {done.err}")

    def pmtwin(self, *words: str, timeout: float = COMMAND_S) -> Done:
        try:
            done = subprocess.run([PMTWIN, *words], capture_output=True, text=True, timeout=timeout,
                                  stdin=subprocess.DEVNULL, errors="replace")
        except subprocess.TimeoutExpired:
            return Done(124, "", "no answer in time")
        return Done(done.returncode, done.stdout, done.stderr)

    def sh(self, script: str, node: str = NODE) -> Done:
        return self.pmtwin("exec", node, "--", "bash", "-c", script)

    def user(self, script: str) -> Done:
        return self.pmtwin("run", "--", "bash", "-c", script)

    def boot_id(self) -> str:
        return self.sh("cat /proc/sys/kernel/random/boot_id").out.strip()

    def wait_boot(self, before: str) -> bool:
        """Until it has booted anew, as far as the unit that verifies it."""
        end = time.monotonic() + BOOT_S
        while time.monotonic() < end:
            now = self.boot_id()
            if now and now != before:
                return self.sh("until systemctl is-active slurmd >/dev/null; do sleep 0.5; done").status == 0
            time.sleep(2)
        return False

    def power_cycle(self) -> bool:
        before = self.boot_id()
        self.pmtwin("power-cycle", NODE)
        return self.wait_boot(before)

    def reboot(self) -> bool:
        before = self.boot_id()
        self.sh("pmctl reboot")
        return self.wait_boot(before)

    def arm(self, plan: str = "", spoil: str = "") -> None:
        self.sh(f"cd /root/fault && rm -f * && touch {'trace' if plan else 'calls'} && "
                f"printf '%s\\n' '{plan or spoil}' >{'plan' if plan else 'spoil'} && sync")

    def disarm(self) -> bool:
        """Was it met?"""
        return self.sh("cd /root/fault && found=$(ls fired spoiled 2>/dev/null); rm -f *; "
                       '[ -n "$found" ]').status == 0

    def record(self, command: str) -> tuple[list[str], list[str]]:
        """The labels of a change in which nothing goes wrong: its steps, and the tools' calls."""
        self.sh("cd /root/fault && rm -f * && touch trace calls")
        done = self.sh(f"PMFAULT=/root/fault LD_PRELOAD=/root/pmfault.so {command}")
        if done.status:
            raise SystemExit(f"twin: '{command}' without a fault: {done.sentence}")
        found = [self.sh(f"cat /root/fault/{name}").out.splitlines() for name in ("trace", "calls")]
        self.disarm()
        return found[0], found[1]
