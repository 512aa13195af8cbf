"""copy: files and directories between host and guests, as a tar stream through the agent."""
from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from cluster.choose import check_node, running_state
from cluster.control import Capture, Streams, run
from cluster.errors import TwinError, UsageError
from cluster.state import State

NODE_PATH = re.compile(r"(?P<node>[A-Za-z][A-Za-z0-9-]*):(?P<path>.*)", re.DOTALL)
HOME = re.compile(r"/home/(user[12])(/|$)")


def copy(arguments: argparse.Namespace) -> int:
    """Like cp -r: into DST when that is a directory, else to that name."""
    state = running_state(arguments)
    source, target = split(state, arguments.source), split(state, arguments.target)
    if not source[0] and not target[0]:
        raise UsageError("copy needs a NODE:PATH on one side")
    with tempfile.TemporaryDirectory(prefix="pmtwin-copy-") as scratch:
        local = Path(source[1])
        if source[0]:
            local = fetch(state, source[0], source[1], Path(scratch))
        if not target[0]:
            place(local, Path(target[1]))
        else:
            send(state, local, target[0], target[1], arguments.user)
    return 0


def split(state: State, text: str) -> tuple[str, str]:
    """("n1", "/path") of n1:/path, ("", path) of a path on the host, with ./ in front if it looks like the first."""
    found = NODE_PATH.fullmatch(text)
    if not found:
        return "", text
    check_node(state, found["node"])
    if not found["path"].startswith("/"):
        raise UsageError(f"'{text}': a path in a guest begins with /")
    return found["node"], found["path"]


def fetch(state: State, node: str, path: str, scratch: Path) -> Path:
    """Copies from a guest to a new name below `scratch`; the owner becomes ours."""
    clean = PurePosixPath(path)
    with open(scratch / ".tar", "w+b") as file, tempfile.TemporaryFile() as errors:
        argv = ["tar", "-C", str(clean.parent), "-cf", "-", "--", clean.name or "."]
        if run(state, node, argv, streams=Streams(None, file.fileno(), errors.fileno())):
            errors.seek(0)
            raise TwinError(f"copy from {node}: {errors.read().decode(errors='replace').strip().splitlines()[0]}")
        file.seek(0)
        with tarfile.open(fileobj=file) as tar:
            wanted = [safe(m, clean.name) for m in tar if m.isreg() or m.isdir() or m.issym()]
            # Links last, so that nothing is written through one.
            tar.extractall(scratch, members=sorted(wanted, key=tarfile.TarInfo.issym))
    return scratch / clean.name


def safe(member: tarfile.TarInfo, top: str) -> tarfile.TarInfo:
    """The member with our user and group; a path outside of `top` is refused."""
    parts = PurePosixPath(member.name).parts
    if ".." in parts or not parts or parts[0] != top:
        raise TwinError(f"copy: refusing the path '{member.name}' that the guest sent")
    member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
    member.mode = (member.mode & 0o777) | 0o200
    return member


def place(local: Path, target: Path) -> None:
    final = target / local.name if target.is_dir() else target
    try:
        if local.is_dir():
            shutil.copytree(local, final, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy(local, final, follow_symlinks=False)
    except OSError as error:
        raise TwinError(f"copy to '{final}': {error.strerror or error}") from error


def send(state: State, local: Path, node: str, path: str, user: str | None) -> None:
    """Unpacks in the guest as the user that will own it."""
    owner = user or (found[1] if (found := HOME.match(path)) else "root")
    if not os.path.lexists(local):
        raise TwinError(f"copy: '{local}': No such file or directory")
    inside = Capture(state, node, ["test", "-d", path], user=owner).status == 0
    target = PurePosixPath(path) / local.absolute().name if inside else PurePosixPath(path)
    data = archive(local, target.name)
    argv = ["tar", "--no-same-owner", "-C", str(target.parent), "-xf", "-"]
    answer = Capture(state, node, argv, user=owner, data=data)
    if answer.status:
        raise TwinError(f"copy to {node}: {answer.err.decode(errors='replace').strip().splitlines()[0]}")


def archive(local: Path, name: str) -> bytes:
    buffer = io.BytesIO()
    try:
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            tar.add(local, arcname=name)
    except OSError as error:
        raise TwinError(f"copy of '{local}': {error.strerror or error}") from error
    return buffer.getvalue()
