"""One guest's life: POST, QEMU, and again after a reset, until it powers off."""
from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from cluster import frames, qemu
from cluster.events import EventLog
from cluster.hardware import Hardware, NoBoot, NodeError
from cluster.link import Link
from cluster.members import Member
from cluster.switch import Switch

OFF, POST, ON, DARK = "off", "post", "on", "dark"
DISK_SIZE = "2G"
SHORT_LIFE_S = 3.0
SHORT_LIVES_MAX = 4
REASON_WAIT_S = 2.0
# QEMU 7.2 under TCG may abort while the guest's kernel looks for its devices: msix.c, "Assertion failed".
ABORTS_MAX = 2


class Guest:
    """State machine of one guest; `run` is its task, the rest is called from the control socket."""

    def __init__(self, member: Member, hardware: Hardware, files: qemu.Files, runtime: Path, switch: Switch,
                 events: EventLog) -> None:
        self.member, self.hardware, self.files = member, hardware, files
        self.sockets = qemu.Sockets(runtime / f"{member.name}.agent", runtime / f"{member.name}.qmp")
        self.switch, self.events = switch, events
        self.power, self.ready, self.boots = OFF, False, 0
        self.since = time.time()
        self.fault: str | None = None
        self.fault_once = False
        self.reason = ""
        self.link: Link | None = None
        self.monitor: asyncio.StreamWriter | None = None
        self.process: asyncio.subprocess.Process | None = None
        self.wanted, self.changed = asyncio.Event(), asyncio.Event()
        self.cold = True
        self.stopping = False
        self.ran, self.aborts = False, 0    # whether the agent ran in this boot; QEMU's aborts since it ran last

    # queries

    @property
    def agent_up(self) -> bool:
        return bool(self.link and self.link.up)

    def status(self) -> dict[str, Any]:
        return {"name": self.member.name, "role": self.member.role, "address": self.member.address,
                "power": self.power, "agent": self.agent_up, "ready": self.ready, "boots": self.boots,
                "since": round(self.since, 3), "fault": self.fault, "fault_once": self.fault_once,
                "pid": self.process.pid if self.process else None}

    def unreachable(self) -> str:
        """Why no command can be run in the guest now; "" when one can."""
        name = self.member.name
        if self.agent_up:
            return ""
        if self.power == DARK:
            return (f"node {name} is dark: it stopped in POST; clear the fault with `pmtwin inject {name} none`, "
                    f"then `pmtwin power-cycle {name}`")
        if self.power == OFF:
            return f"node {name} is powered off; `pmtwin power-cycle {name}` starts it"
        return f"node {name} is {'rebooting' if self.boots > 1 or self.power == POST else 'booting'}"

    def say(self, event: str, text: str) -> None:
        self.events.add(self.member.name, event, text)

    def turn(self, power: str) -> None:
        self.power, self.since = power, time.time()
        self.ready = False
        self._notify()

    def _notify(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    # life

    async def run(self) -> None:
        """Returns when `stopping` is set and QEMU has ended."""
        await self._listen()
        short_lives = 0
        while not self.stopping:
            await self.wanted.wait()
            if self.stopping or not await self._post():
                continue
            begun = time.monotonic()
            await self._run_qemu()
            short_lives = short_lives + 1 if time.monotonic() - begun < SHORT_LIFE_S else 0
            self._after(short_lives)
        self.turn(OFF)

    async def _listen(self) -> None:
        for path, handler in ((self.sockets.agent, self._agent_connected), (self.sockets.qmp, self._qmp_connected)):
            await asyncio.start_unix_server(handler, path)

    async def _post(self) -> bool:
        """Power-on self-test; False when the machine does not get past it."""
        self.turn(POST)
        fault, cold = self.fault, self.cold
        if self.fault_once:
            self.fault, self.fault_once = None, False
        with_fault = f" with fault {fault}" if fault else ""
        if self.member.role == "compute":
            self.say("post", ("power on" if cold else "restart") + with_fault)
        try:
            lines = await asyncio.to_thread(self.hardware.power_on, fault, cold)
        except (NoBoot, NodeError, OSError) as error:
            self.say("dark", f"{error}; the node stays dark")
            self.wanted.clear()
            self.turn(DARK)
            return False
        for line in lines:
            self.say("firmware", line)
        return True

    async def _run_qemu(self) -> None:
        await asyncio.to_thread(self._make_disk)
        self.reason, self.ran = "", False
        argv = qemu.command(self.member, self.hardware, self.files, self.sockets, self.switch.plug(self.member.name))
        log = self.files.console.with_name("qemu.log")
        with open(log, "wb") as file:
            self.process = await asyncio.create_subprocess_exec(*argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        self.boots += 1
        self.turn(ON)
        self.say("boot", f"boot {self.boots}, QEMU process {self.process.pid}")
        code = await self.process.wait()
        self.process = None
        await self._qmp_ended()
        if code and not self.reason:
            words = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or ["no message"]
            self.reason = f"QEMU failed with code {code}: {words[0]}"
            self.aborts += code == -signal.SIGABRT

    def _make_disk(self) -> None:
        """The guest's own disk: sparse, made empty once."""
        if self.files.disk.exists():
            return
        temporary = self.files.disk.with_suffix(".new")
        temporary.unlink(missing_ok=True)
        subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-J", "size=8", "-m", "0", "-L", "own",
                        "-E", "lazy_itable_init=1,lazy_journal_init=1", str(temporary), DISK_SIZE], check=True, stdout=subprocess.DEVNULL)
        os.rename(temporary, self.files.disk)

    def _after(self, short_lives: int) -> None:
        """Decides by the reason of QEMU's end what comes next."""
        self.cold = False
        if self.stopping or self.reason == "power-cycle":
            self.cold = True
        elif self.reason == "guest-reset" and short_lives < SHORT_LIVES_MAX:
            self.say("reset", "guest restarted itself")
        elif self.reason == "guest-reset":
            self.say("off", f"restarted {short_lives} times within seconds, left off; see `pmtwin logs {self.member.name}`")
            self._leave_off()
        elif self._lost_nothing():
            self.cold = True
            self.say("power", f"{self.reason}; the power is cut and given back")
        else:
            self.say("off", "guest powered off" if self.reason == "guest-shutdown" else self.reason or "QEMU ended")
            self._leave_off()

    def _lost_nothing(self) -> bool:
        """True: QEMU failed before anything ran in the guest, and has not aborted too often."""
        return self.reason.startswith("QEMU failed") and 0 < self.aborts <= ABORTS_MAX and not self.ran

    def _leave_off(self) -> None:
        self.cold = True
        self.wanted.clear()
        self.turn(OFF)

    # connections from QEMU

    async def _agent_connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.link = Link(reader, writer, self._agent_is_up, self._note)
        await self.link.run()
        self.ready = False
        self._notify()

    def _agent_is_up(self) -> None:
        self.ran, self.aborts = True, 0
        self.say("agent", f"guest runs commands, {time.time() - self.since:.1f} s after power on")
        self._notify()

    def _note(self, text: str) -> None:
        """A line from the guest: "ready" once its services run."""
        if text == "ready":
            self.ready = True
            text = f"services run, {time.time() - self.since:.1f} s after power on"
            self.say("ready", text)
        else:
            self.say("note", text)
        self._notify()

    async def _qmp_connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.monitor = writer
        writer.write(b'{"execute":"qmp_capabilities"}\n')
        try:
            while line := await reader.readline():
                message = json.loads(line)
                if message.get("event") == "SHUTDOWN" and not self.reason:
                    self.reason = message["data"]["reason"]
        except (OSError, ValueError):
            pass
        finally:
            self.monitor = None
            writer.close()

    async def _qmp_ended(self) -> None:
        """QEMU has ended; waits until its last messages are read."""
        end = time.monotonic() + REASON_WAIT_S
        while self.monitor and time.monotonic() < end:
            await asyncio.sleep(0.02)

    # orders

    def power_on(self) -> None:
        self.wanted.set()

    async def power_cycle(self) -> None:
        """Cuts the power and gives it back; returns when the machine is past POST, or dark."""
        self.say("power", "power cycle")
        boots = self.boots
        if self.process:
            self.reason = "power-cycle"
            self.process.kill()
        self.cold = True
        if self.power == DARK:
            self.turn(OFF)
        self.wanted.set()
        while self.power != DARK and self.boots == boots:
            await self.changed.wait()

    async def stop(self, grace_s: float) -> None:
        """Powers the guest off, and kills QEMU if that takes longer than `grace_s`; ends `run`."""
        self.stopping = True
        if self.process and self.agent_up:
            self.link.open(frames.open_words("root", False, ["systemctl", "poweroff"]), lambda _: None)
            end = time.monotonic() + grace_s
            while self.process and time.monotonic() < end:
                await asyncio.sleep(0.05)
        if self.process:
            self.say("off", "did not power off in time, unplugged" if self.agent_up else "unplugged while booting")
            self.process.kill()
        self.wanted.set()
