"""The playbooks on machines that are folders, with the packages of 'make deb'. Needs root and a mirror.

PM_RELEASES says which releases of Debian they are of.
"""
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import BUILD
from folders import HOSTS, Run, Site, differences

RELEASES = os.environ.get("PM_RELEASES", "bookworm").split()
# For what does not differ between releases.
FIRST_RELEASE = pytest.mark.parametrize("made", RELEASES[:1], indirect=True)
# What check mode cannot know to come and go with packages, or to be done by then.
WITH_PACKAGES = re.compile(r" : (Make (Slurm's folder|slurmctld's folders)|Have it start at boot|Take away what is left: /(etc|var)/"
                           r"|Take our lines out: /etc/slurm/plugstack.conf)")


@dataclass
class Made:
    """A site that was made of fresh machines by the playbook site, and how that went."""

    site: Site
    fresh: dict[str, str]
    predicted: Run
    checked: dict[str, str]
    done: Run
    installed: dict[str, str]


def packages(release: str) -> Path:
    path = BUILD / "deb" / release
    if not path.exists():
        pytest.fail(f"{path} is not there: run 'make deb SUITE={release}'")
    return path


@pytest.fixture(scope="module", params=RELEASES)
def made(request, tmp_path_factory):
    if os.geteuid():
        pytest.skip("chroots need root")
    directory = tmp_path_factory.mktemp("site")
    site = Site(directory, request.param, packages(request.param))
    fresh = site.look()
    predicted = site.play("site", "--check", "--diff")
    checked = site.look()
    done = site.play("site")
    site.save("installed")
    yield Made(site, fresh, predicted, checked, done, site.look())
    shutil.rmtree(directory)


@pytest.fixture
def site(made):
    """Fresh machines."""
    made.site.restore("fresh")
    return made.site


@pytest.fixture
def installed(made):
    made.site.restore("installed")
    return made.site


def bump(source: Path, target: Path) -> Path:
    """The same packages with a version that is newer."""
    target.mkdir()
    for package in sorted(source.glob("*.deb")):
        tree = target / "tree"
        subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"^(Version: |(?:Pre-)?Depends: .*\(= )([^\s+)]+)", r"\1\2.1", control.read_text(), flags=re.M))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, target], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(tree)
    return target


def unforeseen(predicted: Run, done: Run) -> dict[str, set[str]]:
    """What check mode and the run told differently, but for what it cannot know."""
    found = {host: (done.changed.get(host, set()) - predicted.changed.get(host, set()))
             | {task for task in predicted.changed.get(host, set()) - done.changed.get(host, set()) if not WITH_PACKAGES.search(task)}
             for host in HOSTS}
    return {host: tasks for host, tasks in found.items() if tasks}


def versions(site: Site) -> set[str]:
    return {site.run(host, "dpkg-query", "-f", "${Version}", "-W", "slurm-pmem-common") for host in HOSTS}


def test_a_check_of_fresh_machines_changes_nothing_and_predicts_what_the_run_does(made):
    assert differences(made.fresh, made.checked) == {}
    assert unforeseen(made.predicted, made.done) == {}


def test_a_second_run_changes_nothing_and_its_check_says_so(made, installed):
    assert installed.play("site").changed == {}
    assert installed.play("site", "--check", "--diff").changed == {}
    assert differences(made.installed, installed.look()) == {}


def test_what_is_installed_works(installed):
    assert "--pm-mode=MODE" in installed.run("head", "sbatch", "--help")
    shown = json.loads(installed.run("n1", "pmctl", "show-config", "--json"))
    assert shown["keys"]["ImplyMode"]["value"] == "yes"
    wanted = installed.directory / "n1/etc/systemd/system/slurmd.service.wants/pmctl-verify.service"
    assert wanted.is_symlink() or (installed.directory / "n1/etc/systemd/system/multi-user.target.wants/pmctl-verify.service").is_symlink()


@FIRST_RELEASE
def test_upgrade_and_rollback(made, installed, tmp_path):
    old = versions(installed)
    newer = ("--extra-vars", f"pmem_packages_dir={bump(packages(installed.release), tmp_path / 'newer')}")
    predicted = installed.play("upgrade", "--check", "--diff", *newer)
    assert differences(made.installed, installed.look()) == {}
    assert installed.play("upgrade", *newer).changed == predicted.changed
    assert versions(installed) == {f"{version}.1" for version in old}
    assert installed.play("upgrade", *newer).changed == {}
    predicted = installed.play("rollback", "--check", "--diff")
    assert versions(installed) == {f"{version}.1" for version in old}
    assert installed.play("rollback").changed == predicted.changed
    assert differences(made.installed, installed.look()) == {}
    assert installed.play("rollback").changed == {}


def test_uninstall_leaves_the_machines_as_they_were(made, installed):
    predicted = installed.play("uninstall", "--check", "--diff")
    assert differences(made.installed, installed.look()) == {}
    assert unforeseen(predicted, installed.play("uninstall")) == {}
    assert differences(made.fresh, installed.look()) == {}
    assert installed.play("uninstall").changed == {}


@FIRST_RELEASE
def test_what_a_site_has_is_not_overwritten(site):
    """slurm.conf with a key of ours, and a job_submit.lua that does not load pmem.lua."""
    folder = site.directory / "head/etc/slurm"
    folder.mkdir()
    own = ("--check", "--diff", "--tags", "controller", "--extra-vars", "slurm_manage=false")
    (folder / "slurm.conf").write_text("ClusterName=x\nreturntoservice=1\n")
    assert "slurm.conf sets ReturnToService, and so would slurm-pmem.conf" in site.refused("site", *own)
    (folder / "slurm.conf").write_text("ClusterName=x\n")
    (folder / "job_submit.lua").write_text("return slurm.SUCCESS\n")
    assert "job_submit.lua is the site's and does not load pmem.lua" in site.refused("site", *own)
    assert "slurm.conf is the site's" in site.refused("site", "--check", "--tags", "controller")
