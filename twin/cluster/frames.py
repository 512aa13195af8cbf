"""Frames on the wire between host and guest agent: many sessions, each a command with its streams, over one serial port.

The guest's end is guest/agent/. A frame is kind (1 byte), session (4), length (4), big endian, and its payload:

    OPEN    host to guest   words, each ended by a NUL: user, "login" or "", then the command's argv
    STDIN   host to guest   bytes; empty at the end of input
    SIGNAL  host to guest   1 byte: signal number for the command's process group
    CLOSE   host to guest   the client is gone: hang the command up
    STDOUT, STDERR          bytes; empty at the end of that stream
    CREDIT  both ways       5 bytes: 1 for STDERR, else 0; then the number of bytes that were read, so that as many may follow
    EXIT    guest to host   4 bytes, signed: exit status, or minus the signal that ended the command
    NOTE    guest to host   a line of text for the event log (session 0)

A stream may have WINDOW bytes on the way that are not read yet, so a slow reader holds up its own session
only. After a port starts, or starts again, both sides find the first frame by a MAGIC that is not a valid
frame, followed by 8 bytes that identify the agent's run.
"""
import os
import struct

OPEN, STDIN, SIGNAL, CLOSE, STDOUT, STDERR, CREDIT, EXIT, NOTE = range(1, 10)
HELLO = 0xFF

HEADER = struct.Struct(">BII")
MAGIC = b"\xff\xfepmtwin agent\r\n"
TOKEN_BYTES = 8
MAX_PAYLOAD = 1 << 20
CHUNK = 32768
WINDOW = 8 * CHUNK


def frame(kind, session, payload=b""):
    """The bytes of one frame."""
    return HEADER.pack(kind, session, len(payload)) + payload


def open_words(user, login, argv):
    """Payload of OPEN."""
    return b"".join(os.fsencode(word) + b"\0" for word in (user, "login" if login else "", *argv))


def hello(token):
    """A side sends this until the other has answered; `token` is TOKEN_BYTES long."""
    return MAGIC + token


class Reader:
    """Cuts a byte stream into frames. Until MAGIC has passed, and after garbage, everything up to MAGIC is dropped."""

    def __init__(self, synced=False):
        self.buffer = bytearray()
        self.synced = synced

    def feed(self, data):
        """Adds `data`; returns the frames that are complete, as (kind, session, payload); HELLO's payload is the token."""
        self.buffer += data
        found = []
        while True:
            one = self._frame() if self.synced else self._hello()
            if one is None:
                return found
            if one:
                found.append(one)

    def _hello(self):
        at = self.buffer.find(MAGIC)
        if at < 0:
            del self.buffer[:max(0, len(self.buffer) - len(MAGIC) + 1)]
            return None
        end = at + len(MAGIC) + TOKEN_BYTES
        if len(self.buffer) < end:
            return None
        token = bytes(self.buffer[at + len(MAGIC):end])
        del self.buffer[:end]
        self.synced = True
        return (HELLO, 0, token)

    def _frame(self):
        if len(self.buffer) < HEADER.size:
            return None
        kind, session, length = HEADER.unpack_from(self.buffer)
        if not OPEN <= kind <= NOTE or length > MAX_PAYLOAD:
            self.synced = False
            return ()
        end = HEADER.size + length
        if len(self.buffer) < end:
            return None
        payload = bytes(self.buffer[HEADER.size:end])
        del self.buffer[:end]
        return (kind, session, payload)
