"""Makes a plain root file system a machine of a Slurm site, as a site does it: with the Ansible collection and our packages.

One root serves all guests; site/image.yml says how. The playbook runs in a hook of mmdebstrap's, in an ordinary user's
build in a namespace in which that user is a stranger: what it needs is copied to where everybody may read it.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from cluster import paths
from cluster.errors import TwinError
from cluster.progress import Progress
from image import recipe

SITE = paths.TWIN / "site"
COLLECTION = paths.PROJECT / "ansible"
# "$1" is the new root, which the inventory calls image.
HOOK = """set -e
mkdir "$1.site"; ln -s "$1" "$1.site/image"; cd {kit}
DIRECTORIES="$1.site" DEBS={kit}/debs HOME="$1.site" ANSIBLE_HOME="$1.site" ANSIBLE_NOCOLOR=1 ANSIBLE_PIPELINING=1 \\
	ANSIBLE_COLLECTIONS_PATH={kit}/collections ANSIBLE_CONNECTION_PLUGINS={kit}/site/connection \\
	{kit}/venv/bin/python -m ansible playbook -i site/cluster.yml -i site/image.yml slurm_pmem.cluster.site
rm -r "$1.site" "$1/root/.ansible\""""


@contextmanager
def kit(which: recipe.Suite, progress: Progress) -> Iterator[Path]:
    """A folder with Ansible, the collection, the inventory and our packages for the release."""
    with tempfile.TemporaryDirectory(prefix="pmtwin-site-") as name:
        directory = Path(name)
        shutil.copytree(COLLECTION, directory / "collections/ansible_collections/slurm_pmem/cluster")
        shutil.copytree(SITE, directory / "site")
        progress.step(f"image: {which.name}: installing Ansible from PyPI")
        install_ansible(directory / "venv", which)
        progress.step(f"image: {which.name}: building our packages")
        logged(which, [str(paths.PROJECT / "packaging/deb"), name, which.name], PM_MIRROR=recipe.mirror())
        os.rename(directory / which.name, directory / "debs")
        logged(which, ["chmod", "--recursive", "a+rX", name])
        yield directory


def install_ansible(directory: Path, which: recipe.Suite) -> None:
    logged(which, [sys.executable, "-m", "venv", str(directory)])
    logged(which, [str(directory / "bin/pip"), "install", "--quiet", "--disable-pip-version-check",
                   "--requirement", str(SITE / "requirements.txt")])


def logged(which: recipe.Suite, command: list[str], **environment: str) -> None:
    """Runs it with its messages in a file beside the images."""
    log = paths.images() / f"{which.name}.log"
    with open(log, "w", encoding="utf-8") as file:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False,
                              env=os.environ | environment)
    if done.returncode:
        raise TwinError(f"'{os.path.basename(command[0])}' failed, its messages are in '{log}'")
