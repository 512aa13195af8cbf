"""The supervisor's end of a guest's serial port: many sessions over one connection."""
from __future__ import annotations

import asyncio
import itertools
from typing import Callable

from cluster import frames


class Link:
    """One QEMU's agent connection. Sessions get their frames through a callback; None means the guest is gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_up: Callable[[], None],
                 on_note: Callable[[str], None]) -> None:
        self.reader, self.writer = reader, writer
        self.on_up, self.on_note = on_up, on_note
        self.up = False
        self.token = b""
        self.sessions: dict[int, Callable[[tuple[int, bytes] | None], None]] = {}
        self.numbers = itertools.count(1)

    async def run(self) -> None:
        """Reads until QEMU closes the connection."""
        cutter = frames.Reader()
        try:
            while data := await self.reader.read(65536):
                for one in cutter.feed(data):
                    self._handle(*one)
        except OSError:
            pass
        finally:
            self.up = False
            self._drop_sessions()
            self.writer.close()

    def _handle(self, kind: int, number: int, payload: bytes) -> None:
        if kind == frames.HELLO:
            self._hello(payload)
        elif kind == frames.NOTE:
            self.on_note(payload.decode(errors="replace"))
        elif number in self.sessions:
            self.sessions[number]((kind, payload))

    def _hello(self, token: bytes) -> None:
        """An agent started, or waits for our answer; the sessions of an earlier agent are lost."""
        if token != self.token:
            self._drop_sessions()
            self.token = token
        self.writer.write(frames.hello(token))
        if not self.up:
            self.up = True
            self.on_up()

    def _drop_sessions(self) -> None:
        sessions, self.sessions = self.sessions, {}
        for tell in sessions.values():
            tell(None)

    def open(self, words: bytes, tell: Callable[[tuple[int, bytes] | None], None]) -> int:
        """Starts a command (frames.open_words); returns its session number."""
        number = next(self.numbers)
        self.sessions[number] = tell
        self.send(frames.OPEN, number, words)
        return number

    def send(self, kind: int, number: int, payload: bytes = b"") -> None:
        if not self.writer.is_closing():
            self.writer.write(frames.frame(kind, number, payload))

    def close(self, number: int) -> None:
        """The session's client is gone."""
        if self.sessions.pop(number, None):
            self.send(frames.CLOSE, number)
