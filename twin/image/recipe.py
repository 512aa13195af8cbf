"""What goes into an image; its digest names the cached result, so a change here means a new image."""
from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from cluster.errors import UsageError

MIRROR = "http://deb.debian.org/debian"
CUSTOMIZE = Path(__file__).with_name("customize.py")

PACKAGES = (
    "busybox-static daxctl dbus e2fsprogs hwloc-nox iproute2 ipmctl kmod libjson-c5 libxml2 munge ndctl numactl "
    "procps python3 quota slurm-client slurm-wlm-basic-plugins slurmctld slurmd systemd systemd-sysv xfsprogs zstd"
).split()
SDK_PACKAGES = "libc6-dev libhwloc-dev libjson-c-dev libnuma-dev libslurm-dev libxml2-dev linux-libc-dev".split()
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*", "/usr/share/lintian/*")

# ipmctl left Debian after 12; its packages install unchanged on 13.
PIN_IPMCTL = """\
Package: *
Pin: release n=bookworm
Pin-Priority: -1

Package: ipmctl libipmctl5 libipmctl-common
Pin: release n=bookworm
Pin-Priority: 990
"""


@dataclass(frozen=True)
class Suite:
    """A Debian release that guests can run: `extra` are further suites for apt, `preferences` its pinning.

    `packages` are in the guests, `sdk` is what our programs are compiled and linked with.
    """

    name: str
    extra: tuple[str, ...] = ()
    preferences: str = ""
    packages: tuple[str, ...] = tuple(PACKAGES)
    sdk: tuple[str, ...] = tuple(SDK_PACKAGES)


SUITES = {s.name: s for s in (
    Suite("trixie", ("bookworm",), PIN_IPMCTL),
    Suite("bookworm", sdk=(*SDK_PACKAGES, "libicu-dev")))}
DEFAULT_SUITE = "trixie"


def suite(name: str) -> Suite:
    if name not in SUITES:
        raise UsageError(f"no suite '{name}', there are: {', '.join(SUITES)}")
    return SUITES[name]


def mirror() -> str:
    return os.environ.get("PMTWIN_MIRROR", MIRROR)


def apt_sources(which: Suite) -> list[str]:
    return [f"deb {mirror()} {name} main" for name in (which.name, *which.extra)]


def digest(which: Suite) -> str:
    """16 hex digits over everything that decides what is in the image; the mirror is not part of it."""
    parts = [repr(which), repr(LEFT_OUT), CUSTOMIZE.read_text(encoding="utf-8")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
