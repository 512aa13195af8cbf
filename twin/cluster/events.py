"""The twin's log of actions of supervisor and firmware, one JSON object a line: time (s since 1970), node, event, text."""
from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Iterator


class EventLog:
    """Appends events; one writer, the supervisor."""

    def __init__(self, path: Path) -> None:
        self.file = open(path, "a", encoding="utf-8", buffering=1)

    def add(self, node: str, event: str, text: str) -> None:
        self.file.write(json.dumps({"time": round(time.time(), 3), "node": node, "event": event, "text": text}) + "\n")


def read(path: Path, follow: bool) -> Iterator[dict[str, Any]]:
    """The events so far and, with `follow`, those to come."""
    for line in lines(path, follow):
        try:
            yield json.loads(line)
        except ValueError:
            continue


def lines(path: Path, follow: bool, poll_s: float = 0.2) -> Iterator[str]:
    """A growing file's lines; with `follow`, an incomplete last line is kept back until it is complete."""
    try:
        file = open(path, encoding="utf-8", errors="replace", newline="\n")
    except FileNotFoundError:
        return
    with file:
        rest = ""
        while True:
            line = file.readline()
            if line.endswith("\n"):
                yield rest + line
                rest = ""
            elif not follow:
                if rest + line:
                    yield rest + line
                return
            else:
                rest += line
                time.sleep(poll_s)


def format_event(event: dict[str, Any]) -> str:
    when = time.strftime("%H:%M:%S", time.localtime(event["time"]))
    fraction = int(event["time"] * 1000) % 1000
    return f"{when}.{fraction:03d} {event['node']:<5} {event['event']:<9} {event['text']}"
