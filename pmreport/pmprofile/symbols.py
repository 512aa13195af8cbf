"""Names of call sites, as far as files and addr2line(1) know them."""
from __future__ import annotations

import os
import shutil
import subprocess
from collections import defaultdict
from typing import Iterable, Mapping

from pmprofile.records import Frame


def plain(frame: Frame) -> str:
    return f"{os.path.basename(frame.file)}+0x{frame.offset:x}"


def ask(tool: str, file: str, frames: list[Frame]) -> dict[Frame, str]:
    """Names from addr2line. A frame is a return address: the call is before it."""
    run = subprocess.run([tool, "-f", "-C", "-s", "-e", file], input="".join(f"0x{f.offset - 1:x}\n" for f in frames),
                         capture_output=True, text=True, timeout=120, check=False)
    lines = run.stdout.splitlines()
    if run.returncode or len(lines) != 2 * len(frames):
        return {}
    return {frame: name if place.startswith("??") else f"{name}, {place.split(' ')[0]}"
            for frame, name, place in zip(frames, lines[::2], lines[1::2]) if name != "??"}


def where(frames: Iterable[Frame], known: Mapping[Frame, str]) -> str:
    """A call site for people, innermost frame first, without the caller of main()."""
    words = [known[frame] for frame in frames]
    return " < ".join(word for word in words if not word.startswith("__libc_start")) or "unknown"


def names(frames: Iterable[Frame]) -> dict[Frame, str]:
    """A name for each frame: file and offset if nothing better is known."""
    files: dict[str, list[Frame]] = defaultdict(list)
    found = {frame: plain(frame) for frame in frames}
    tool = shutil.which("addr2line")
    for frame in found:
        files[frame.file].append(frame)
    for file, its_frames in files.items():
        if tool and os.access(file, os.R_OK):
            found |= ask(tool, file, its_frames)
    return found
