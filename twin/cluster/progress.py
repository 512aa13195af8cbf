"""Progress of long steps on stderr, with seconds: one line that counts on a terminal, a line a step elsewhere."""
from __future__ import annotations

import sys
import threading
import time
from typing import TextIO


class Progress:
    """`step(text)` starts a step and ends the one before it; use as a context manager."""

    TICK_S = 0.5

    def __init__(self, out: TextIO | None = None, quiet: bool = False) -> None:
        self.out = out or sys.stderr
        self.live = self.out.isatty() and not quiet
        self.quiet = quiet
        self.text = ""
        self.begun = self.started = time.monotonic()
        self.lock = threading.Lock()
        self.stopped = threading.Event()

    def __enter__(self) -> "Progress":
        if self.live:
            threading.Thread(target=self._count, daemon=True).start()
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        self.stopped.set()
        self._end("" if kind is None else " (stopped)")

    def step(self, text: str) -> None:
        """From now on the program does `text`; the same text again changes nothing."""
        if text == self.text:
            return
        self._end("")
        with self.lock:
            self.text, self.started = text, time.monotonic()
        self._show()

    def elapsed(self) -> float:
        """Seconds since the first step."""
        return time.monotonic() - self.begun

    def _end(self, remark: str) -> None:
        with self.lock:
            text, self.text = self.text, ""
            if text and not self.quiet:
                line = f"{text}{remark} {time.monotonic() - self.started:.1f} s"
                self.out.write(f"\r\033[K{line}\n" if self.live else f"{line}\n")
                self.out.flush()

    def _show(self) -> None:
        with self.lock:
            if self.live and self.text:
                self.out.write(f"\r\033[K{self.text} ... {time.monotonic() - self.started:.0f} s")
                self.out.flush()

    def _count(self) -> None:
        while not self.stopped.wait(self.TICK_S):
            self._show()
