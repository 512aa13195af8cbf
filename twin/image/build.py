"""Builds an image with mmdebstrap, as root or as an ordinary user, and keeps it in the cache."""
from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Iterator

from cluster import paths
from cluster.errors import TwinError
from cluster.progress import Progress
from image import recipe, site, sources

# The hooks are the only shell here; "$1" is the new root. The file system is packed from a tree of hard links
# that leaves out mounted directories: a mount of our own would fail where / is not a mount point, as in a chroot.
DOWNLOAD = """set -e
mkdir "$1/debs"; cd "$1/debs"; export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
kernel=$(apt-cache show linux-image-amd64 | sed -n 's/^Depends: \\(linux-image-[^ ,]*\\).*/\\1/p' | head -n 1)
apt-get -qq download "$kernel" {packages}"""
OFFER = """set -e
mkdir -p "$1/srv/mirror/partial"; export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
apt-get -qq --yes --no-install-recommends --download-only -o Dir::Cache::archives="$1/srv/mirror" install {packages}
cd "$1/srv/mirror"; rm -rf partial lock"""
PACK = """set -e
view="$1.view"; image="$1.image"
mv "$1/out" "$1.out"; mkdir -m 755 "$view"
for entry in "$1"/*; do
	case "$entry" in
	*/dev|*/proc|*/sys) mkdir -m 755 "$view/${{entry##*/}}" ;;
	*) cp -al "$entry" "$view" ;;
	esac
done
truncate -s {size} "$image"
mke2fs -q -F -t ext4 -O ^has_journal -m 0 -L twin -d "$view" "$image"
resize2fs -M "$image" 2>/dev/null
rm -rf "$view"; mv "$1.out" "$1/out"; mv "$image" "$1/out/base.ext4"; chmod 644 "$1/out/base.ext4"
"""
ASKED = "asked.json"   # the arguments of recipe.suite, beside the release
PROGRAMS = "programs"    # the digest of the sources that its packages were made of
OUTPUT = ("base.ext4", "vmlinux", "busybox", "modules.tar", "passwd", "slurm.conf")
IMAGE_SIZE = "6G"     # for the time of packing, sparse
PHASES = (
    (r"I: running apt-get update", "reading the package lists"),
    (r"I: downloading packages", "downloading packages"),
    (r"I: extracting archives", "unpacking"),
    (r"I: installing essential", "installing essential packages"),
    (r"I: installing remaining", "installing the packages"),
    (r"PLAY \[", "installing Slurm and slurm-pmem by Ansible"),
    (r"view=", "packing the file system"),
    (r"I: running special hook: (download|copy-out)|.*cp -R --sparse", "copying the image out"),
    (r"I: running --customize-hook|I: running special hook: upload", "adding kernel and users"),
)


class Image:
    """A built image in the cache."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.digest = directory.name
        self.base = directory / "base.ext4"
        self.vmlinux = directory / "vmlinux"
        self.busybox = directory / "busybox"
        self.modules = directory / "modules.tar"
        self.sdk = directory / "sdk"
        self.slurm_conf = directory / "slurm.conf"

    def is_of(self, programs: str) -> bool:
        """Whether its packages were made of the sources with this digest."""
        return (self.directory / PROGRAMS).read_text(encoding="ascii").strip() == programs

    def user(self, name: str) -> tuple[int, int]:
        """uid and gid of a user in the image."""
        for line in (self.directory / "passwd").read_text(encoding="utf-8").splitlines():
            fields = line.split(":")
            if fields[0] == name:
                return int(fields[2]), int(fields[3])
        raise TwinError(f"no user '{name}' in {self.directory}/passwd")


def find(which: recipe.Suite) -> Image | None:
    directory = paths.images() / f"{which.name}-{recipe.digest(which)}"
    return Image(directory) if directory.is_dir() else None


def ensure(which: recipe.Suite, progress: Progress) -> Image:
    """The image for this recipe, built if it is not there yet. Two builders take turns."""
    found = find(which)
    if found:
        return found
    paths.images().mkdir(parents=True, exist_ok=True)
    with lock(paths.images() / f"{which.name}.lock", progress):
        return find(which) or build(which, progress)


@contextmanager
def lock(path: Path, progress: Progress) -> Iterator[None]:
    with open(path, "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.step(f"image: another build holds '{path}', waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build(which: recipe.Suite, progress: Progress) -> Image:
    final = paths.images() / f"{which.name}-{recipe.digest(which)}"
    check_host()
    scratch = Path(tempfile.mkdtemp(prefix=f".{which.name}-", dir=paths.images()))
    try:
        with site.kit(which, progress) if which.site else nullcontext() as kit:
            (scratch / PROGRAMS).write_text(sources.digest(sources.PROGRAMS) + "\n", encoding="ascii")
            mmdebstrap(which, kit, scratch, progress)
        (scratch / ASKED).write_text(json.dumps(recipe.asked(which)) + "\n", encoding="utf-8")
        os.rename(scratch, final)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return Image(final)


def mmdebstrap(which: recipe.Suite, kit: Path | None, out: Path, progress: Progress) -> None:
    """Runs mmdebstrap with its messages in OUT.log beside the image."""
    log = out.parent / f"{which.name}.log"
    # In the new root everybody is root, also the user who builds: Ansible goes by the name, and would look for a home of theirs.
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "LOGNAME": "root", "USER": "root"}
    progress.step(f"image: {which.name}: starting mmdebstrap")
    with open(log, "w", encoding="utf-8") as file, subprocess.Popen(
            command(which, kit, out), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", env=environment) as process:
        try:
            for line in process.stdout:
                file.write(line)
                phase = next((text for pattern, text in PHASES if re.match(pattern, line)), None)
                if phase:
                    progress.step(f"image: {which.name}: {phase}")
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.returncode:
        raise TwinError(f"mmdebstrap of {which.name} failed ({last_error(log)}), its messages are in '{log}'")
    sparse(out)


def pinning(which: recipe.Suite) -> list[str]:
    """Arguments for mmdebstrap that say which suite a package comes from, if there are several suites."""
    return [] if not which.preferences else [
        "--setup-hook=mkdir -p \"$1/etc/apt/preferences.d\"; printf '%s' '" + which.preferences +
        "' > \"$1/etc/apt/preferences.d/twin\""]


def database(which: recipe.Suite) -> list[str]:
    """Arguments that bring MariaDB's settings before MariaDB."""
    folder = "/etc/mysql/mariadb.conf.d"
    return [] if not which.accounting else [
        f"--setup-hook=mkdir -p \"$1{folder}\"", f"--setup-hook=upload '{recipe.MARIADB}' {folder}/90-twin.cnf"]


def command(which: recipe.Suite, kit: Path | None, out: Path) -> list[str]:
    mode = "root" if os.geteuid() == 0 else "unshare"
    return [
        "mmdebstrap", f"--mode={mode}", "--variant=minbase", "--format=null", "--architectures=amd64",
        "--aptopt=Acquire::Languages \"none\"", "--dpkgopt=force-unsafe-io",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in recipe.LEFT_OUT),
        *pinning(which), *database(which), f"--include={','.join(which.packages)}",
        "--customize-hook=" + DOWNLOAD.format(packages=" ".join(which.sdk)),
        *(["--customize-hook=" + OFFER.format(packages=" ".join(which.offered))] if which.offered else []),
        *(["--customize-hook=" + site.HOOK.format(kit=kit)] if kit else []),
        f"--customize-hook=upload '{recipe.CUSTOMIZE}' /customize.py",
        "--customize-hook=chroot \"$1\" python3 -ES /customize.py " + " ".join(which.sdk),
        "--customize-hook=rm \"$1/customize.py\"",
        "--customize-hook=" + PACK.format(size=IMAGE_SIZE),
        *copy_hooks(mode, out),
        which.name, "/dev/null", *recipe.apt_sources(which)]


def copy_hooks(mode: str, out: Path) -> list[str]:
    """Root can copy; in a user's namespace the files must go through mmdebstrap's slower channel to the outside."""
    if mode == "root":
        return [f"--customize-hook=cp -R --sparse=always \"$1/out/.\" '{out}/'"]
    return [*(f"--customize-hook=download /out/{name} '{out}/{name}'" for name in OUTPUT),
            f"--customize-hook=copy-out /out/sdk '{out}'"]


def sparse(out: Path) -> None:
    """Makes holes again of the zeros that the copy out of the build has written."""
    subprocess.run(["fallocate", "--dig-holes", str(out / "base.ext4")], check=False, stderr=subprocess.DEVNULL)
    for name in OUTPUT:
        os.chmod(out / name, 0o644)


def check_host() -> None:
    """Checks the programs and ID ranges that a build needs, so that it does not fail half way."""
    if not shutil.which("mmdebstrap"):
        raise TwinError("'mmdebstrap' is not installed; install the package mmdebstrap")
    if os.geteuid() == 0:
        return
    if not shutil.which("newuidmap"):
        raise TwinError("an image build without root needs 'newuidmap'; install the package uidmap")
    for name in ("/etc/subuid", "/etc/subgid"):
        if not has_subids(Path(name)):
            raise TwinError(f"an image build without root needs a range for this user in '{name}'; "
                            "as root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER")


def has_subids(path: Path) -> bool:
    import pwd
    try:
        names = {pwd.getpwuid(os.getuid()).pw_name}
    except KeyError:
        names = set()
    names.add(str(os.getuid()))
    try:
        return any(line.split(":")[0] in names for line in path.read_text(encoding="utf-8").splitlines())
    except OSError:
        return False


def last_error(log: Path) -> str:
    errors = [line for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("E:")]
    return errors[0][2:].strip()[:200] if errors else "no message"
