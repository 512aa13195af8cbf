"""The packages of 'make deb' that playbooks install, and newer ones."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD


def packages(release: str) -> Path:
    path = BUILD / "deb" / release
    if not path.exists():
        pytest.fail(f"{path} is not there: run 'make deb SUITE={release}'")
    return path


def bump(source: Path, target: Path) -> Path:
    """The same packages with a version that is newer, 0.1.0-2~deb12 for 0.1.0-1~deb12."""
    target.mkdir()
    for package in sorted(source.glob("*.deb")):
        tree = target / "tree"
        subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"-1(?=~deb\d)", "-2", control.read_text()))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, target], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(tree)
    return target


def index(folder: Path) -> None:
    """Makes a folder of packages a repository for apt ("deb [trusted=yes] file:FOLDER ./")."""
    (folder / "Packages").write_bytes(subprocess.run(["dpkg-scanpackages", "--multiversion", "."], cwd=folder, capture_output=True,
                                                     check=True).stdout)
