"""Digests of the parts of the project that decide the contents of an image."""
from __future__ import annotations

import hashlib
from pathlib import Path

from cluster import paths

# Sources of the playbook and of the packages, except the sources of the packages' programs.
PARTS = ("ansible/playbooks", "ansible/plugins", "ansible/roles", "debian", "packaging", "twin/image/site.py", "twin/site")
# Sources of these programs, for `make install`.
PROGRAMS = ("Makefile", "agent", "base", "controller", "copy", "docs/man", "docs/rules.mk", "etc", "job_templates", "launcher",
            "measure", "model", "node", "packaging/jemalloc.sha256", "plan", "pmreport", "protocol", "runtime", "site", "spank_plugin")


def digest(names: tuple[str, ...]) -> str:
    """16 hex digits over files and folders of the project, their names and contents."""
    found = hashlib.sha256()
    for path in sorted(path for name in names for path in files(paths.PROJECT / name)):
        found.update(f"{path.relative_to(paths.PROJECT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


def files(top: Path) -> list[Path]:
    return [top] if top.is_file() else [path for path in top.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
