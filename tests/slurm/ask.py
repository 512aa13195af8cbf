#!/usr/bin/python3
"""Talks to pm-controller as docs/dev/controller.md says, and in ways that it must survive.

usage: ask.py SOCKET|HOST:PORT [--munge SOCKET] VERB [ARGUMENT]

A HOST:PORT is spoken to in munge's credentials. Each line that is printed is one answer, "closed"
stands for the end of the connection.
"""

import argparse
import json
import socket
import struct
import subprocess
import sys

PATIENCE_S = 30
FRAME_MAX = 65536


def connect(where: str) -> socket.socket:
    if "/" in where:
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(PATIENCE_S)
        peer.connect(where)
        return peer
    host, port = where.rsplit(":", 1)
    return socket.create_connection((host, int(port)), PATIENCE_S)


def frame(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


def read_exactly(peer: socket.socket, n: int) -> bytes:
    data = b""
    while len(data) < n:
        more = peer.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def read_frame(peer: socket.socket) -> bytes:
    return read_exactly(peer, *struct.unpack(">I", read_exactly(peer, 4)))


class Munge:
    def __init__(self, path: str | None):
        self.options = ["--socket", path] if path else []

    def seal(self, text: bytes) -> bytes:
        return subprocess.run(["munge", *self.options], input=text, capture_output=True,
                              check=True).stdout.strip()

    def open(self, credential: bytes) -> bytes:
        done = subprocess.run(["unmunge", *self.options, "--metadata=/dev/null"], input=credential,
                              capture_output=True, check=True)
        return done.stdout


def show(peer: socket.socket, munge: Munge | None, count: int) -> None:
    try:
        for _ in range(count):
            body = read_frame(peer)
            print((munge.open(body) if munge else body).decode(), flush=True)
    except (EOFError, ConnectionResetError, BrokenPipeError):
        print("closed", flush=True)


def question(args: argparse.Namespace) -> bytes:
    """The argument, with what every message has in front."""
    given = json.loads(args.argument or "{}")
    return json.dumps({"version": 1, "id": 7, **given}).encode()


def ask(args: argparse.Namespace) -> None:
    munge = Munge(args.munge) if "/" not in args.where else None
    text = question(args)
    with connect(args.where) as peer:
        peer.sendall(frame(munge.seal(text) if munge else text))
        show(peer, munge, args.answers)


def replay(args: argparse.Namespace) -> None:
    """The same credential twice, each on a connection of its own."""
    munge = Munge(args.munge)
    sealed = munge.seal(question(args))
    for _ in range(2):
        with connect(args.where) as peer:
            peer.sendall(frame(sealed))
            show(peer, munge, 1)


def bare(args: argparse.Namespace) -> None:
    """The argument as a frame of its own, whatever it is."""
    munge = Munge(args.munge) if "/" not in args.where else None
    with connect(args.where) as peer:
        peer.sendall(frame(args.argument.encode()))
        show(peer, munge, 1)


def oversized(args: argparse.Namespace) -> None:
    with connect(args.where) as peer:
        peer.sendall(struct.pack(">I", FRAME_MAX + 1))
        show(peer, None, 1)


def empty(args: argparse.Namespace) -> None:
    with connect(args.where) as peer:
        peer.sendall(struct.pack(">I", 0))
        show(peer, None, 1)


def slow(args: argparse.Namespace) -> None:
    """Half a frame, and then nothing."""
    with connect(args.where) as peer:
        peer.sendall(frame(question(args))[:-2])
        show(peer, None, 1)


def crowd(args: argparse.Namespace) -> None:
    """Many connections that say nothing; prints how many of them are turned away at once."""
    peers = [connect(args.where) for _ in range(int(args.argument))]
    closed = 0
    for peer in peers:
        peer.settimeout(0.3)
        try:
            closed += peer.recv(1) == b""
        except ConnectionResetError:
            closed += 1
        except TimeoutError:
            pass
    print(closed)


VERBS = {call.__name__: call for call in (ask, replay, bare, oversized, empty, slow, crowd)}


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("where")
    parser.add_argument("--munge")
    parser.add_argument("--answers", type=int, default=1)
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("argument", nargs="?")
    args = parser.parse_args()
    VERBS[args.verb](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
