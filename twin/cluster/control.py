"""The client's side of the supervisor's control socket."""
from __future__ import annotations

import json
import os
import select
import signal
import socket
from typing import Any

from cluster import frames
from cluster.errors import TwinError, UsageError
from cluster.state import State


class Control:
    """One request to the supervisor of a running twin."""

    def __init__(self, state: State) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(str(state.control()))
        except OSError as error:
            raise TwinError(f"the twin's supervisor does not answer ({error.strerror}); see '{state.log}'") from error

    def request(self, what: str, **arguments: Any) -> dict[str, Any]:
        """Sends the request; returns the reply, or raises the supervisor's error."""
        self.socket.sendall(json.dumps({"do": what, **arguments}).encode() + b"\n")
        answer = self._line()
        if not answer["ok"]:
            raise (UsageError if answer["usage"] else TwinError)(answer["error"])
        return answer

    def _line(self) -> dict[str, Any]:
        line = bytearray()
        while not line.endswith(b"\n"):
            byte = self.socket.recv(1)
            if not byte:
                raise TwinError("the twin's supervisor ended in the middle of the request")
            line += byte
        return json.loads(line)

    def close(self) -> None:
        self.socket.close()


def ask(state: State, what: str, **arguments: Any) -> dict[str, Any]:
    control = Control(state)
    try:
        return control.request(what, **arguments)
    finally:
        control.close()


class Streams:
    """Standard streams of a remote command: descriptors to read from and write to; `stdin` may be None."""

    def __init__(self, stdin: int | None = 0, stdout: int = 1, stderr: int = 2) -> None:
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr


def run(state: State, node: str, argv: list[str], user: str = "root", login: bool = False,
        streams: Streams | None = None) -> int:
    """Runs a command in a guest; returns its exit status, 128 + n when signal n ended it."""
    control = Control(state)
    control.request("exec", node=node, user=user, login=login, argv=argv)
    session = _Session(control.socket, streams or Streams())
    previous = {n: signal.signal(n, session.forward) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        status = session.run()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        control.close()
    if status is None:
        raise TwinError(f"node {node} went away while the command ran")
    return status


class _Session:
    """Copies between local descriptors and frames."""

    def __init__(self, connection: socket.socket, streams: Streams) -> None:
        self.connection, self.streams = connection, streams
        self.cutter = frames.Reader(synced=True)
        self.credit = frames.WINDOW
        self.reading = streams.stdin
        self.status: int | None = None
        if streams.stdin is None:
            self.send(frames.STDIN)

    def send(self, kind: int, payload: bytes = b"") -> None:
        self.connection.sendall(frames.frame(kind, 0, payload))

    def forward(self, number: int, _: Any) -> None:
        """Passes a signal that this process gets on to the remote command."""
        self.send(frames.SIGNAL, bytes([number]))

    def run(self) -> int | None:
        while self.status is None:
            wanted = [self.connection] if self.reading is None or not self.credit else [self.connection, self.reading]
            ready, _, _ = select.select(wanted, [], [])
            if self.reading in ready:
                self._input()
            if self.connection in ready and not self._frames():
                return None
        return self.status

    def _input(self) -> None:
        data = os.read(self.reading, min(frames.CHUNK, self.credit))
        self.credit -= len(data)
        if not data:
            self.reading = None
        self.send(frames.STDIN, data)

    def _frames(self) -> bool:
        try:
            data = self.connection.recv(65536)
        except ConnectionError:
            data = b""
        for kind, _, payload in self.cutter.feed(data):
            self._handle(kind, payload)
        return bool(data) or self.status is not None

    def _handle(self, kind: int, payload: bytes) -> None:
        if kind in (frames.STDOUT, frames.STDERR):
            error = kind == frames.STDERR
            write_all(self.streams.stderr if error else self.streams.stdout, payload)
            if payload:
                self.send(frames.CREDIT, bytes([error]) + len(payload).to_bytes(4, "big"))
        elif kind == frames.CREDIT:
            self.credit += int.from_bytes(payload[1:5], "big")
        elif kind == frames.EXIT:
            code = int.from_bytes(payload, "big", signed=True)
            self.status = code if code >= 0 else 128 - code


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data):]


class Capture:
    """Runs a command and keeps its output: for commands that pmtwin itself needs in a guest."""

    def __init__(self, state: State, node: str, argv: list[str], user: str = "root", data: bytes | None = None) -> None:
        import tempfile
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as source:
            source.write(data or b"")
            source.seek(0)
            self.status = run(state, node, argv, user=user, streams=Streams(source.fileno(), out.fileno(), err.fileno()))
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read(), err.read()
