"""The recipe of an image; its digest names the cached result, so a change of a recipe means a new image."""
from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Sequence

from cluster.errors import UsageError
from image import sources

MIRROR = "http://deb.debian.org/debian"
CUSTOMIZE = Path(__file__).with_name("customize.py")
# In place before mariadb-server is installed, which makes its files by it.
MARIADB = Path(__file__).with_name("mariadb.cnf")

# Packages that a site's machine has beyond the release's required ones, before anything is installed on it, and packages
# that turn the machine into an image.
PLAIN_PACKAGES = (
    "adduser busybox-static dbus e2fsprogs iproute2 kmod procps python3 python3-apt sensible-utils systemd systemd-sysv udev zstd"
).split()
# Tools that show a machine's memory, tools that pmctl uses if they are installed, and for users fusermount and man.
TOOLS = "fuse3 hwloc-nox man-db numactl quota xfsprogs".split()
# Slurm's accounting: what the head node runs for `up --accounting`. These make the image another one.
ACCOUNTING = ("mariadb-server", "slurmdbd")
# Packages that a site's playbooks and our packages ask for: plain guests find them in a repository.
OFFERED = (
    "daxctl ipmctl libhwloc15 libjson-c5 libxml2 munge ndctl slurm-client slurm-wlm-basic-plugins slurmctld slurmd"
).split()
SDK_PACKAGES = "libc6-dev libhwloc-dev libjson-c-dev libmunge-dev libnuma-dev libslurm-dev libxml2-dev linux-libc-dev".split()
PLAIN_SDK_PACKAGES = "libc6-dev linux-libc-dev".split()
# Of manual pages only the translations (de, pt_BR) are left out.
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/??/*", "/usr/share/man/??_*",
            "/usr/share/lintian/*")

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

    `packages` are in the guests, beside the packages of mmdebstrap's variant minbase and, with `site`, the packages that the
    collection installs. The guests have a repository of their own with the packages in `offered` and all that these need.
    Our programs are compiled and linked with the packages in `sdk`.
    """

    name: str
    extra: tuple[str, ...] = ()
    preferences: str = ""
    packages: tuple[str, ...] = (*PLAIN_PACKAGES, *TOOLS)
    sdk: tuple[str, ...] = tuple(SDK_PACKAGES)
    offered: tuple[str, ...] = ()
    libslurm: str = "libslurm42"

    @property
    def site(self) -> bool:
        return not self.offered

    @property
    def accounting(self) -> bool:
        return {*ACCOUNTING} <= {*self.packages}


SUITES = {s.name: s for s in (
    Suite("trixie", ("bookworm",), PIN_IPMCTL),
    Suite("bookworm", sdk=(*SDK_PACKAGES, "libicu-dev"), libslurm="libslurm38"))}
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
    return replace(usual, packages=tuple(PLAIN_PACKAGES), sdk=tuple(PLAIN_SDK_PACKAGES), offered=(*OFFERED, usual.libslurm, *TOOLS))


def asked(which: Suite) -> dict[str, Any]:
    """The arguments from which `suite` makes this recipe, beside the release's name."""
    usual = suite(which.name, (), not which.site).packages
    return {"packages": [package for package in which.packages if package not in usual], "plain": not which.site}


def package_names(text: str) -> tuple[str, ...]:
    """Names out of "gcc,mpich", in order of the alphabet, so that the same ones are the same image."""
    names = sorted({name for name in text.split(",") if name})
    for name in names:
        if not PACKAGE_NAME.fullmatch(name):
            raise UsageError(f"no name of a Debian package: '{name}'; write --packages gcc,mpich")
    return tuple(names)


def with_accounting(packages: Sequence[str], accounting: bool) -> tuple[str, ...]:
    """Names of packages, with those of Slurm's accounting if it is wanted, in order of the alphabet."""
    return tuple(sorted({*packages, *ACCOUNTING})) if accounting else tuple(packages)


def mirror() -> str:
    return os.environ.get("PMTWIN_MIRROR", MIRROR)


def apt_sources(which: Suite) -> list[str]:
    return [f"deb {mirror()} {name} main" for name in (which.name, *which.extra)]


def digest(which: Suite) -> str:
    """16 hex digits over everything that decides what is in the image; the mirror is not part of it."""
    parts = [repr(which), repr(LEFT_OUT), CUSTOMIZE.read_text(encoding="utf-8"),
             sources.digest(sources.PARTS) if which.site else "",
             *([MARIADB.read_text(encoding="utf-8")] if which.accounting else [])]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
