"""What goes into an image; its digest names the cached result, so a change here means a new image."""
from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Sequence

from cluster.errors import UsageError

MIRROR = "http://deb.debian.org/debian"
CUSTOMIZE = Path(__file__).with_name("customize.py")

PACKAGES = (
    "busybox-static daxctl dbus e2fsprogs hwloc-nox iproute2 ipmctl kmod libjson-c5 libxml2 munge ndctl numactl "
    "procps python3 quota slurm-client slurm-wlm-basic-plugins slurmctld slurmd systemd systemd-sysv xfsprogs zstd"
).split()
# What a machine of a site has beyond the release's required packages before anything is installed on it, and what makes the
# image of it. What the usual guests have besides these find in a repository.
PLAIN_PACKAGES = (
    "adduser busybox-static dbus e2fsprogs iproute2 kmod procps python3 python3-apt sensible-utils systemd systemd-sysv udev zstd"
).split()
SDK_PACKAGES = "libc6-dev libhwloc-dev libjemalloc-dev libjson-c-dev libnuma-dev libslurm-dev libxml2-dev linux-libc-dev".split()
PLAIN_SDK_PACKAGES = "libc6-dev linux-libc-dev".split()
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

    `variant` is mmdebstrap's name for the packages that it begins with. `packages` are in the guests, `offered` with all that
    they need in a repository of the guests' own; `sdk` is what our programs are compiled and linked with.
    """

    name: str
    extra: tuple[str, ...] = ()
    preferences: str = ""
    variant: str = "essential"
    packages: tuple[str, ...] = tuple(PACKAGES)
    sdk: tuple[str, ...] = tuple(SDK_PACKAGES)
    offered: tuple[str, ...] = ()


SUITES = {s.name: s for s in (
    Suite("trixie", ("bookworm",), PIN_IPMCTL),
    Suite("bookworm", sdk=(*SDK_PACKAGES, "libicu-dev")))}
DEFAULT_SUITE = "trixie"

# Debian policy 5.6.1; apt would take a "-" at the end as "remove", and "=", "/", "?" as more than a name.
PACKAGE_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]*[a-z0-9+.]")


def suite(name: str, packages: Sequence[str] = (), plain: bool = False) -> Suite:
    """The recipe of a release, with further packages in the guests, or for plain ones; these make it another image."""
    if name not in SUITES:
        raise UsageError(f"no suite '{name}', there are: {', '.join(SUITES)}")
    known = plain_suite(SUITES[name]) if plain else SUITES[name]
    more = tuple(package for package in packages if package not in known.packages)
    return replace(known, packages=known.packages + more)


def plain_suite(usual: Suite) -> Suite:
    return replace(usual, variant="minbase", packages=tuple(PLAIN_PACKAGES), sdk=tuple(PLAIN_SDK_PACKAGES),
                   offered=usual.packages)


def asked(which: Suite) -> dict[str, Any]:
    """What `suite` makes this of, with the release's name."""
    plain = bool(which.offered)
    usual = suite(which.name, (), plain).packages
    return {"packages": [package for package in which.packages if package not in usual], "plain": plain}


def package_names(text: str) -> tuple[str, ...]:
    """Names out of "gcc,mpich", in order of the alphabet, so that the same ones are the same image."""
    names = sorted({name for name in text.split(",") if name})
    for name in names:
        if not PACKAGE_NAME.fullmatch(name):
            raise UsageError(f"no name of a Debian package: '{name}'; write --packages gcc,mpich")
    return tuple(names)


def mirror() -> str:
    return os.environ.get("PMTWIN_MIRROR", MIRROR)


def apt_sources(which: Suite) -> list[str]:
    return [f"deb {mirror()} {name} main" for name in (which.name, *which.extra)]


def digest(which: Suite) -> str:
    """16 hex digits over everything that decides what is in the image; the mirror is not part of it."""
    parts = [repr(which), repr(LEFT_OUT), CUSTOMIZE.read_text(encoding="utf-8")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
