"""The playbooks site and uninstall on two root file systems, with the packages of 'make deb'; needs root and a mirror.

Without services: what slurmctld and slurmd make of it is tested elsewhere.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, TOP

SUITE = "bookworm"
DEBS = BUILD / "deb" / SUITE
BASE = BUILD / f"ansible-{SUITE}.tar"
MIRROR = os.environ.get("PM_MIRROR", "http://deb.debian.org/debian")
HOSTS = ("head", "n1")
# What each run of apt, dpkg or adduser leaves behind; what Debian never removes (e2fsprogs is protected).
NOT_COMPARED = re.compile(r"^(dev|proc|run|var/(cache|log)|var/lib/(apt|dpkg|systemd|ucf))/|^etc/(ld\.so\.cache|.*-)$"
                          r"|e2scrub|/e2fsprogs|mke2fs|bin/(ls|ch)attr$|lib(e2p|ext2fs|ss)\.so")


def make_base() -> None:
    subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", "--dpkgopt=force-unsafe-io", "--include=python3-apt,systemd",
                    "--aptopt=Acquire::Languages \"none\"", "--dpkgopt=path-exclude=/usr/share/doc/*", SUITE, str(BASE),
                    f"deb {MIRROR} {SUITE} main"], check=True)


def bump(source: Path, target: Path) -> None:
    """The same packages with a version that is newer."""
    for package in sorted(source.glob("*.deb")):
        tree = target / "tree"
        subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"^(Version: |(?:Pre-)?Depends: .*\(= )([^\s+)]+)", r"\1\2.1", control.read_text(), flags=re.M))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, target], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(tree)


class Site:
    """Two machines as folders, and playbooks that are run on them."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.environment = os.environ | {
            "DIRECTORIES": str(directory), "DEBS": str(DEBS), "ANSIBLE_HOME": str(BUILD / "ansible-home"),
            "ANSIBLE_COLLECTIONS_PATH": str(BUILD / "collections"), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_CONNECTION_PLUGINS": str(TOP / "tests/ansible/connection")}
        for host in HOSTS:
            root = directory / host
            root.mkdir()
            subprocess.run(["tar", "-xf", BASE, "-C", root], check=True)
            shutil.copy("/etc/resolv.conf", root / "etc")
            (root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
            (root / "usr/sbin/policy-rc.d").chmod(0o755)

    def start(self, playbook: str, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(BUILD / "ansible-venv/bin/ansible-playbook"), "-i", str(TOP / "tests/ansible/directories.yml"),
                               f"slurm_pmem.cluster.{playbook}", *options], env=self.environment, capture_output=True, text=True)

    def refused(self, playbook: str, *options: str) -> str:
        done = self.start(playbook, *options)
        assert done.returncode, done.stdout[-3000:]
        return done.stdout + done.stderr

    def play(self, playbook: str, *options: str) -> dict[str, int]:
        """How much each host has changed."""
        done = self.start(playbook, *options)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr
        return {host: int(changed) for host, changed in re.findall(r"^(\w+) +: .*changed=(\d+)", done.stdout, re.M)}

    def files(self) -> dict[str, str]:
        paths = (path for path in self.directory.rglob("*") if path.is_file() and not path.is_symlink())
        names = {str(path.relative_to(self.directory)): path for path in paths}
        return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in names.items()
                if not NOT_COMPARED.search(name.split("/", 1)[1])}

    def run(self, host: str, *command: str) -> str:
        return subprocess.run(["chroot", self.directory / host, *command], capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if os.geteuid():
        pytest.skip("chroots need root")
    if not DEBS.exists():
        pytest.fail(f"{DEBS} is not there: run 'make deb SUITE={SUITE}'")
    if not BASE.exists():
        make_base()
    directory = tmp_path_factory.mktemp("site")
    yield Site(directory)
    shutil.rmtree(directory)


def versions(site: Site) -> set[str]:
    return {site.run(host, "dpkg-query", "-f", "${Version}", "-W", "slurm-pmem-common") for host in HOSTS}


def upgrade_and_roll_back(site: Site, newer: Path) -> None:
    old = versions(site)
    bump(DEBS, newer)
    site.play("upgrade", "--extra-vars", f"pmem_packages_dir={newer}")
    assert versions(site) == {f"{version}.1" for version in old}
    site.play("upgrade", "--extra-vars", f"pmem_packages_dir={newer}")
    site.play("rollback")
    assert versions(site) == old


def test_site_from_nothing_and_back(site, tmp_path):
    before = site.files()
    predicted = site.play("site", "--check", "--diff")
    assert site.files() == before and min(predicted.values()) > 0
    assert min(site.play("site").values()) > 0
    installed = site.files()
    assert site.play("site") == {"head": 0, "n1": 0}
    assert site.play("site", "--check", "--diff") == {"head": 0, "n1": 0}
    assert site.files() == installed
    assert "--pm-mode=MODE" in site.run("head", "sbatch", "--help")
    shown = json.loads(site.run("n1", "pmctl", "show-config", "--json"))
    assert shown["keys"]["ImplyMode"]["value"] == "yes"
    assert (site.directory / "n1/etc/systemd/system/multi-user.target.wants/pmctl-verify.service").is_symlink()
    upgrade_and_roll_back(site, tmp_path)
    assert site.files() == installed
    site.play("uninstall")
    after = site.files()
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} == set()
    assert site.play("uninstall") == {"head": 0, "n1": 0}


def test_what_a_site_has_is_not_overwritten(site):
    """slurm.conf with a key of ours, and a job_submit.lua that does not load pmem.lua."""
    folder = site.directory / "head/etc/slurm"
    folder.mkdir(exist_ok=True)
    own = ("--check", "--diff", "--tags", "controller", "--extra-vars", "slurm_manage=false")
    (folder / "slurm.conf").write_text("ClusterName=x\nreturntoservice=1\n")
    assert "slurm.conf sets ReturnToService, and so would slurm-pmem.conf" in site.refused("site", *own)
    (folder / "slurm.conf").write_text("ClusterName=x\n")
    (folder / "job_submit.lua").write_text("return slurm.SUCCESS\n")
    assert "job_submit.lua is the site's and does not load pmem.lua" in site.refused("site", *own)
    assert "slurm.conf is the site's" in site.refused("site", "--check", "--tags", "controller")
