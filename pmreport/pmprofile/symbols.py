"""Names of call sites, as far as files know them: by eu-addr2line(1) of elfutils, then by addr2line(1) of binutils.

That of binutils names the innermost call after the symbol that it is inlined into, where C++ gave its function no symbol. That
of elfutils names nothing in a file without debug information.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Iterable, Mapping

from pmprofile.records import Frame

TOOLS = ("eu-addr2line", "addr2line")

# Functions that only pass an allocation on: of the C++ library, by name or header, and the allocation functions themselves.
LIBRARY = re.compile(r"(std|__gnu_cxx|__gnu_debug)::|operator new|(malloc|calloc|realloc|aligned_alloc|posix_memalign)$")
HEADERS = re.compile(r"/include/(c\+\+|g\+\+|boost)/")
# The functions that call main(), and those that threads begin with.
STARTS = re.compile(r"__libc_start|(_start|start_thread|(__)?clone3?)$")

BRIEF = 56              # letters of a short name, about


@dataclass(frozen=True)
class Call:
    """A function in which an allocation was made or asked for, perhaps inlined into the next one."""
    function: str           # without arguments and template arguments
    file: str = ""          # without directories; "" without line numbers
    line: str = ""
    is_library: bool = False

    def __str__(self) -> str:
        return f"{self.function}, {self.file}:{self.line}" if self.file else self.function


Calls = tuple[Call, ...]    # of a frame, innermost first


def plain(frame: Frame) -> Calls:
    return (Call(f"{os.path.basename(frame.file)}+0x{frame.offset:x}"),)


def without_brackets(name: str, opening: str, closing: str) -> str:
    """The name without what stands between such brackets, nested ones too."""
    depth, kept = 0, []
    for letter in name:
        depth += letter == opening
        if not depth:
            kept.append(letter)
        depth -= letter == closing and depth > 0
    return "".join(kept)


def short(name: str) -> str:
    """"double* Allocate<double>(unsigned long)" is "Allocate"; operators and pointers to functions stay as they are."""
    if "operator" in name or re.search(r"\([*&]", name.replace("(anonymous namespace)", "")):
        return name
    bare = without_brackets(without_brackets(name.replace("(anonymous namespace)", "{anonymous}"), "<", ">"), "(", ")")
    return re.sub(r"( const|\[[^]]*\])+$", "", bare).split(" ")[-1].lstrip("*&") or name


def call(function: str, place: str) -> Call:
    """From two lines: "f(int)" or "f inlined at FILE:7:2 in g"; "FILE:7", "FILE:7:2", "FILE:7 (discriminator 3)" or "??:0"."""
    name = function.partition(" inlined at ")[0]
    is_library = bool(LIBRARY.match(name) or HEADERS.search(place))
    found = re.fullmatch(r"(?:.*/)?([^/]+?):([1-9]\d*)(?::\d+)?(?: \(.*\))?", place)
    return Call(short(name), *found.groups(), is_library) if found else Call(short(name), is_library=is_library)


def ask(tool: str, file: str, frames: list[Frame]) -> dict[Frame, Calls]:
    """Calls, with those that are inlined. A frame is a return address: the call is before it."""
    run = subprocess.run([tool, "-a", "-i", "-f", "-C", "-e", file], input="".join(f"0x{f.offset - 1:x}\n" for f in frames),
                         capture_output=True, text=True, timeout=120, check=False)
    parts = [part.splitlines()[1:] for part in re.split(r"(?m)^(?=0x[0-9a-f]+$)", run.stdout) if part]
    # The status of elfutils' is that of the last address alone: 1 if it has no line.
    if len(parts) != len(frames):
        return {}
    found = {frame: tuple(call(name, place) for name, place in zip(lines[::2], lines[1::2]) if name != "??")
             for frame, lines in zip(frames, parts)}
    return {frame: calls for frame, calls in found.items() if calls}


def names(frames: Iterable[Frame]) -> dict[Frame, Calls]:
    """The calls of each frame: file and offset if nothing better is known."""
    files: dict[str, list[Frame]] = defaultdict(list)
    found = {frame: plain(frame) for frame in frames}
    for frame in found:
        files[frame.file].append(frame)
    for file, its_frames in files.items():
        for tool in filter(shutil.which, TOOLS if os.access(file, os.R_OK) else ()):
            named = ask(tool, file, its_frames) if its_frames else {}
            found |= named
            its_frames = [frame for frame in its_frames if frame not in named]
    return found


def users_calls(frames: Iterable[Frame], known: Mapping[Frame, Calls]) -> Calls:
    """The program's own calls, innermost first: without the callers of main() and threads, and the library's; all if none is its own."""
    calls = tuple(one for frame in frames for one in known[frame] if not STARTS.match(one.function))
    return tuple(one for one in calls if not one.is_library) or calls


def where(frames: Iterable[Frame], known: Mapping[Frame, Calls]) -> str:
    """A call site for people: "Allocate stl.cpp:12 < forces:35 < main:57", a file once."""
    words, file = [], ""
    for one in users_calls(frames, known):
        shown = f"{'' if one.file == file else ' ' + one.file}:{one.line}" if one.file else ""
        words.append(one.function + shown)
        file = one.file or file
    return " < ".join(words) or "unknown"


def function_of(frames: Iterable[Frame], known: Mapping[Frame, Calls]) -> str:
    """The chain of functions alone, for call sites that are to be counted together."""
    return " < ".join(one.function for one in users_calls(frames, known)) or "unknown"


def without_namespaces(place: str) -> str:
    """"a::b::Field::grow b.cc:7" is "Field::grow b.cc:7"."""
    function, blank, rest = place.partition(" ")
    bare = "::".join(function.split("::")[-2:]) if re.fullmatch(r"[\w{}~:]+", function) else function
    return bare + blank + rest


def brief(text: str, room: int = BRIEF) -> str:
    """A call site's innermost functions without namespaces: as many as there is room for, one at least."""
    first, *callers = (without_namespaces(place) for place in text.split(" < "))
    for caller in callers:
        if len(first) + len(caller) + 3 > room:
            break
        first += f" < {caller}"
    return first


def briefs(texts: Iterable[str]) -> dict[str, str]:
    """The same of several, which stay different."""
    found = {text: brief(text) for text in texts}
    often = Counter(found.values())
    return {text: short_one if often[short_one] == 1 else brief(text, len(text)) for text, short_one in found.items()}


def offsets(frames: tuple[Frame, ...], alike: list[tuple[Frame, ...]]) -> str:
    """Of sites with the same lines: the offsets of the frames, innermost first, that tell this one from the others; else nothing."""
    found, others = "", [other for other in alike if other != frames]
    for i, frame in enumerate(frames):
        same = [other for other in others if other[i:i + 1] == (frame,)]
        if len(same) < len(others):
            found += f" +0x{frame.offset:x}"
        others = same
    return found


class Names:
    """The call sites of a report, for people."""

    def __init__(self, sites: Iterable[tuple[Frame, ...]], known: Mapping[Frame, Calls], by_function: bool = False):
        self.known, self.by_function = known, by_function
        texts = {frames: (function_of if by_function else where)(frames, known) for frames in sites}
        alike = defaultdict(list)
        for frames, text in texts.items():
            alike[text].append(frames)
        self.texts = {frames: text + offsets(frames, alike[text]) for frames, text in texts.items()}

    def __getitem__(self, frames: tuple[Frame, ...]) -> str:
        return self.texts[frames]

    def of(self, frames: tuple[Frame, ...]) -> str:
        """That of any site of the profiles, also of one that is counted together with others."""
        return function_of(frames, self.known) if self.by_function else self.texts.get(frames, "unknown")

    def calls(self, frames: Iterable[Frame]) -> list[str]:
        return [str(one) for frame in frames for one in self.known[frame]]

    def are_without_lines(self, program: str) -> bool:
        """The program has calls here, and no line number: it was built without -g."""
        own = [calls for frame, calls in self.known.items() if os.path.basename(frame.file) == os.path.basename(program)]
        return bool(own) and not any(one.file for calls in own for one in calls)
