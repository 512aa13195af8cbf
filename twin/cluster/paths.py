"""Where things are on the host: sources, caches, and a twin's own directory."""
from __future__ import annotations

import os
from pathlib import Path

TWIN = Path(__file__).resolve().parent.parent
PROJECT = TWIN.parent
PROGRAM = TWIN / "pmtwin"
GUEST = TWIN / "guest"


def _xdg(variable: str, fallback: str) -> Path:
    value = os.environ.get(variable, "")
    return Path(value) if value.startswith("/") else Path.home() / fallback


def cache() -> Path:
    return _xdg("XDG_CACHE_HOME", ".cache") / "slurm-pmem"


def images() -> Path:
    return cache() / "images"


def default_state(suite: str) -> Path:
    return _xdg("XDG_STATE_HOME", ".local/state") / "slurm-pmem" / f"twin-{suite}"


def runtime_base() -> Path:
    """A short directory for unix sockets: their paths may have 107 bytes."""
    own = Path(f"/run/user/{os.getuid()}")
    return own if os.access(own, os.W_OK) else Path("/tmp")
