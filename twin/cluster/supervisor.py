"""The process behind a running twin: owns the guests, their network and the control socket.

Control socket: one JSON line in, one JSON line back, {"ok": true, ...} or {"ok": false, "error", "usage"};
after `exec` the connection carries frames of that session.
"""
from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import Any

from cluster import frames, hardware, qemu
from cluster.errors import TwinError, UsageError
from cluster.events import EventLog
from cluster.guest import DARK, Guest
from cluster.members import Member, members
from cluster.shape import saved
from cluster.state import State, write_atomically
from cluster.switch import Switch
from image import cache
from image.build import Image

POWER_OFF_GRACE_S = 25.0
RELAYED = (frames.STDIN, frames.SIGNAL, frames.CREDIT)


class Supervisor:
    """All guests of one twin."""

    def __init__(self, state: State, image: Image) -> None:
        self.state, self.image, self.shape = state, image, saved(state)
        self.runtime = state.make_runtime()
        self.events = EventLog(state.events)
        self.switch = Switch(self.runtime)
        self.guests = {m.name: self._guest(m) for m in members(self.shape.nodes)}
        self.stopped = asyncio.Event()
        self._load_faults()

    def _guest(self, member: Member) -> Guest:
        own = self.state.node(member.name)
        machine = (hardware.HeadNode() if member.role == "head"
                   else hardware.ComputeNode(own / "machine", self.shape.cores, self.shape.kernel_options))
        files = qemu.Files(self.image.vmlinux, self.state.initrd, self.image.base, own / "disk.img",
                           self.state.home, own / "console.log")
        return Guest(member, machine, files, self.runtime, self.switch, self.events)

    async def run(self) -> None:
        """From power on to the last guest's end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self.stopped.set)
        self.state.home.mkdir(exist_ok=True)
        self.switch.start()
        self.events.add("-", "up", f"{len(self.guests)} guests")
        lives = [asyncio.create_task(g.run()) for g in self.guests.values()]
        for guest in self.guests.values():
            guest.power_on()
        server = await asyncio.start_unix_server(self._client, self.runtime / "control")
        await self.stopped.wait()
        await asyncio.gather(*(g.stop(POWER_OFF_GRACE_S) for g in self.guests.values()))
        await asyncio.gather(*lives)
        self.events.add("-", "down", "all guests are off")
        server.close()
        self.state.remove_runtime()

    # faults stay until they are cleared, over down and up

    def _load_faults(self) -> None:
        try:
            saved = json.loads(self.state.faults.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        for name, (fault, once) in saved.items():
            if name in self.guests:
                self.guests[name].fault, self.guests[name].fault_once = fault, once

    def save_faults(self) -> None:
        saved = {n: (g.fault, g.fault_once) for n, g in self.guests.items() if g.fault}
        write_atomically(self.state.faults, json.dumps(saved) + "\n")

    # the control socket

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = json.loads(await reader.readline())
            await self._serve(request, reader, writer)
        except TwinError as error:
            reply(writer, {"ok": False, "error": str(error), "usage": isinstance(error, UsageError)})
        except (OSError, ValueError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _serve(self, request: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers = {"status": self._status, "inject": self._inject, "power-cycle": self._power_cycle, "stop": self._stop,
                    "wait": self._wait}
        if request["do"] == "exec":
            return await Exec(self._named(request["node"]), reader, writer).run(request)
        reply(writer, {"ok": True, **(await handlers[request["do"]](request))})

    def _named(self, name: str) -> Guest:
        if name not in self.guests:
            raise UsageError(f"no node '{name}', there are: {', '.join(self.guests)}")
        return self.guests[name]

    async def _status(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"nodes": [g.status() for g in self.guests.values()], "pid": os.getpid()}

    async def _inject(self, request: dict[str, Any]) -> dict[str, Any]:
        guest, fault = self._named(request["node"]), request["fault"]
        if guest.member.role != "compute":
            raise UsageError("the head node has no PMem and takes no faults")
        known = hardware.faults()
        if fault != "none" and fault not in known:
            raise UsageError(f"no fault '{fault}', there are: none, {', '.join(known)}")
        guest.fault = None if fault == "none" else fault
        guest.fault_once = bool(guest.fault and request["once"])
        guest.say("inject", fault if not guest.fault_once else f"{fault}, for the next POST only")
        self.save_faults()
        return {}

    async def _power_cycle(self, request: dict[str, Any]) -> dict[str, Any]:
        guest = self._named(request["node"])
        await guest.power_cycle()
        if guest.power == DARK:
            raise TwinError(guest.unreachable())
        return {}

    async def _wait(self, request: dict[str, Any]) -> dict[str, Any]:
        """Until the guest's agent answers, or its services run; at most `seconds`."""
        guest = self._named(request["node"])
        try:
            async with asyncio.timeout(request["seconds"]):
                while not (guest.ready if request["ready"] else guest.agent_up):
                    await guest.changed.wait()
        except TimeoutError:
            raise TwinError(guest.unreachable() or f"node {guest.member.name} has not started its services") from None
        return {}

    async def _stop(self, _: dict[str, Any]) -> dict[str, Any]:
        self.stopped.set()
        return {}


class Exec:
    """A client's command: frames between its connection and the guest's link."""

    def __init__(self, guest: Guest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.guest, self.reader, self.writer = guest, reader, writer

    async def run(self, request: dict[str, Any]) -> None:
        why = self.guest.unreachable()
        if why:
            raise TwinError(why)
        link = self.guest.link
        reply(self.writer, {"ok": True})
        words = frames.open_words(request["user"], request["login"], request["argv"])
        number = link.open(words, self._to_client)
        try:
            await self._from_client(link, number)
        finally:
            link.close(number)

    def _to_client(self, message: tuple[int, bytes] | None) -> None:
        """A guest that goes away ends the connection without an EXIT."""
        if message is None:
            self.writer.close()
        elif not self.writer.is_closing():
            self.writer.write(frames.frame(message[0], 0, message[1]))

    async def _from_client(self, link: Any, number: int) -> None:
        cutter = frames.Reader(synced=True)
        while data := await self.reader.read(65536):
            for kind, _, payload in cutter.feed(data):
                if kind in RELAYED:
                    link.send(kind, number, payload)


def reply(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    writer.write(json.dumps(message).encode() + b"\n")


def main(state: State, image: Image) -> None:
    """The supervisor process; returns when the twin is down."""
    with state.acquire(), cache.held(image.directory) as there:
        if not there:
            raise TwinError(f"the image '{image.directory}' is gone; `pmtwin up` builds it again")
        try:
            asyncio.run(Supervisor(state, image).run())
        except Exception:
            state.remove_runtime()
            raise
    sys.exit(0)
