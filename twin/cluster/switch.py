"""The guests' network: a learning switch over unix datagram sockets in a private directory.

Nothing else can reach the segment, nothing on it can leave, and no privilege is needed: QEMU's "dgram"
back end sends each Ethernet frame as one datagram.
"""
from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

FRAME_MAX = 70000


class Switch:
    """Forwards frames between ports; a port is a socket path that QEMU binds."""

    def __init__(self, directory: Path) -> None:
        self.path = str(directory / "switch")
        self.ports: list[str] = []
        self.known: dict[bytes, str] = {}
        self.inlet = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.inlet.bind(self.path)
        self.outlet = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.outlet.setblocking(False)

    def start(self) -> None:
        threading.Thread(target=self._run, name="switch", daemon=True).start()

    def plug(self, name: str) -> list[str]:
        """QEMU's -netdev arguments for the port called `name`; clears a socket that an earlier QEMU left."""
        port = os.path.join(os.path.dirname(self.path), f"{name}.net")
        if os.path.exists(port):
            os.unlink(port)
        if port not in self.ports:
            self.ports.append(port)
        return ["-netdev", f"dgram,id=net,local.type=unix,local.path={port},remote.type=unix,remote.path={self.path}"]

    def targets(self, frame: bytes, source: str) -> list[str]:
        """The ports that get a frame, learning where its sender is."""
        self.known[frame[6:12]] = source
        learned = self.known.get(frame[:6])
        return [port for port in ([learned] if learned else self.ports) if port != source]

    def _run(self) -> None:
        while True:
            frame, source = self.inlet.recvfrom(FRAME_MAX)
            for port in self.targets(frame, source):
                try:
                    self.outlet.sendto(frame, port)
                except OSError:
                    pass        # guest off or its queue full: dropped, as on a wire
