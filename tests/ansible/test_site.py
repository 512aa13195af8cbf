"""The playbooks on machines that are folders, with the packages of 'make deb'. Needs root and a mirror.

PM_RELEASES says which releases of Debian they are of.
"""
import json
import os
import re
import shutil
import socket
import time
from dataclasses import dataclass

import pytest
from conftest import TOP
from debs import bump, index, packages
from folders import HOST_NAME, HOSTS, Run, Site, differences

RELEASES = os.environ.get("PM_RELEASES", "bookworm").split()
# For what does not differ between releases.
FIRST_RELEASE = pytest.mark.parametrize("made", RELEASES[:1], indirect=True)
# What check mode cannot know to come and go with packages, or to be done by then.
WITH_PACKAGES = re.compile(r" : (Make (Slurm's folder|slurmctld's folders)|Have it start at boot|Take away what is left: /(etc|var)/"
                           r"|Take our lines out: /etc/slurm/plugstack.conf)")
UNREACHABLE = 4  # ansible-playbook's status
ALL = (("node", "n1"), ("controller", "head"), ("login", "head"))


@dataclass
class Made:
    """A site that was made of fresh machines by the playbook site, and how that went."""

    site: Site
    fresh: dict[str, str]
    predicted: Run
    checked: dict[str, str]
    done: Run
    installed: dict[str, str]


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


@pytest.fixture
def newer(made, tmp_path):
    """Options with which there are newer packages."""
    return "--extra-vars", f"pmem_packages_dir={bump(packages(made.site.release), tmp_path / 'newer')}"


@pytest.fixture
def down(installed, tmp_path):
    """Options with which the site has another node, n2. It is down until it boots."""
    inventory = tmp_path / "n2.ini"
    inventory.write_text("[slurm_nodes]\nn2\n")
    yield "-i", str(inventory)
    shutil.rmtree(installed.directory / "n2", ignore_errors=True)


def unforeseen(predicted: Run, done: Run) -> dict[str, set[str]]:
    """What check mode and the run told differently, but for what it cannot know."""
    found = {host: (done.changed.get(host, set()) - predicted.changed.get(host, set()))
             | {task for task in predicted.changed.get(host, set()) - done.changed.get(host, set()) if not WITH_PACKAGES.search(task)}
             for host in HOSTS}
    return {host: tasks for host, tasks in found.items() if tasks}


def by_tags(site: Site, playbook: str, tags: tuple[str, ...], *options: str) -> dict[str, set[str]]:
    """What a playbook changes, a part after the other."""
    changed = [site.play(playbook, "--tags", tag, *options).changed for tag in tags]
    return {host: set().union(*(part[host] for part in changed if host in part)) for host in set().union(*changed)}


def parts(tasks: set[str]) -> set[str]:
    """The roles of tasks such as "slurm_pmem.cluster.pmem_login : Write pmem.conf"."""
    return {task.partition(" : ")[0].rpartition(".")[2] for task in tasks}


def whoever_asked(found: dict[str, str]) -> dict[str, str]:
    """What comes along with one role was asked for by another that came first."""
    return {name: state.removesuffix(", asked for") for name, state in found.items()}


def version(site: Site, host: str) -> str:
    return site.run(host, "dpkg-query", "-f", "${Version}", "-W", "slurm-pmem-common")


def versions(site: Site) -> set[str]:
    return {version(site, host) for host in HOSTS}


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
def test_upgrade_and_rollback(made, installed, newer):
    old, = versions(installed)
    new = old.replace("-1~", "-2~")
    predicted = installed.play("upgrade", "--check", "--diff", *newer)
    assert differences(made.installed, installed.look()) == {}
    assert by_tags(installed, "upgrade", ("controller", "node", "login"), *newer) == predicted.changed
    assert versions(installed) == {new} != {old}
    assert installed.play("upgrade", *newer).changed == {}
    predicted = installed.play("rollback", "--check", "--diff")
    assert versions(installed) == {new}
    # A machine with two parts goes back as a whole with the first of them, where a check foresees both.
    assert {"pmem_login", "pmem_controller"} == parts(predicted.changed["head"])
    expected = {host: {task for task in tasks if parts({task}) != {"pmem_controller"}} for host, tasks in predicted.changed.items()}
    assert by_tags(installed, "rollback", ("login", "node", "controller")) == expected
    assert differences(made.installed, installed.look()) == {}
    assert installed.play("rollback").changed == {}


@FIRST_RELEASE
def test_a_node_that_was_down_gets_its_part_in_the_next_run(installed, newer, down):
    old, = versions(installed)
    run = installed.start("upgrade", *down, *newer)
    assert (run.status, run.unreachable, run.changed.keys()) == (UNREACHABLE, {"n2"}, set(HOSTS)), run.output
    installed.boot("n2", like="installed/n1")
    behind = f"n2 has slurm-pmem {old}, head has {version(installed, 'head')}; run the playbook upgrade on the older one"
    said = installed.refused("validate", "--tags", "node", *down)
    assert behind in said and "n1 has slurm-pmem" not in said
    assert installed.play("upgrade", "--limit", "n2", *down, *newer).changed.keys() == {"n2"}
    assert version(installed, "n2") == version(installed, "n1") != old
    assert installed.play("upgrade", *down, *newer).changed == {}


@FIRST_RELEASE
def test_a_node_that_was_down_while_the_configuration_changed_gets_it_in_the_next_run(installed, down):
    other = (*down, "--extra-vars", '{"pmem_conf": {"ImplyMode": false}}')
    run = installed.start("site", *other)
    assert (run.status, run.unreachable, run.changed.keys()) == (UNREACHABLE, {"n2"}, set(HOSTS)), run.output
    installed.boot("n2", like="installed/n1")
    assert installed.play("site", "--limit", "n2", *other).changed.keys() == {"n2"}
    assert installed.play("site", *other).changed == {}


@FIRST_RELEASE
def test_a_wrong_pmem_conf_does_not_get_in_place(made, installed):
    """Each value is a right one by itself, so the role's argument specification lets them pass. A remark is no error."""
    wrong = "--extra-vars", json.dumps({"pmem_conf": {"Modes": ["memory"], "DefaultMode": "flat"}})
    for tag in ("controller", "node"):
        said = installed.refused("site", "--tags", tag, *wrong)
        assert "Write pmem.conf" in said and "DefaultMode" in said and "is not one of Modes=memory" in said, said[-2000:]
        assert differences(made.installed, installed.look()) == {}
    odd = "--extra-vars", json.dumps({"pmem_conf": {"RebootUsers": ["nobody-knows-me"]}})
    assert "pmem.conf" in str(installed.play("site", *odd).changed)
    assert "RebootUsers=nobody-knows-me" in (installed.directory / "n1/etc/slurm/pmem.conf").read_text()


@FIRST_RELEASE
def test_an_upgrade_from_a_repository_loads_its_lists_once(installed, tmp_path):
    old, root = version(installed, "n1"), installed.directory / "n1"
    folder = bump(packages(installed.release), root / "srv/newer")
    index(folder)
    (root / "etc/apt/apt.conf.d/count").write_text('APT::Update::Pre-Invoke {"echo loaded >>/var/log/lists";};\n')
    repository = {"pmem_packages_dir": "", "pmem_packages_repository": "deb [trusted=yes] file:/srv/newer ./"}
    installed.play("upgrade", "--tags", "node", "--extra-vars", json.dumps(repository))
    assert version(installed, "n1") == old.replace("-1~", "-2~") != old
    assert (root / "var/log/lists").read_text() == "loaded\n"


def test_uninstall_leaves_the_machines_as_they_were(made, installed):
    predicted = installed.play("uninstall", "--check", "--diff")
    assert differences(made.installed, installed.look()) == {}
    assert unforeseen(predicted, installed.play("uninstall")) == {}
    assert differences(made.fresh, installed.look()) == {}
    assert installed.play("uninstall").changed == {}


@FIRST_RELEASE
def test_each_role_alone_by_its_tag(made, site):
    for tag, host in ALL:
        assert site.play("site", "--tags", tag).changed.keys() == {host}
    assert differences(*map(whoever_asked, (made.installed, site.look()))) == {}
    for tag, host in reversed(ALL):
        assert site.play("uninstall", "--tags", tag).changed.keys() == {host}
    assert differences(made.fresh, site.look()) == {}


@FIRST_RELEASE
def test_what_a_site_has_is_not_overwritten(site):
    """No slurm.conf, one with a key of ours, and a job_submit.lua that does not load pmem.lua."""
    folder = site.directory / "head/etc/slurm"
    own = ("--check", "--diff", "--tags", "controller", "--extra-vars", "slurm_manage=false")
    assert "there is no /etc/slurm/slurm.conf to include slurm-pmem.conf. Install Slurm first" in site.refused("site", *own)
    folder.mkdir()
    (folder / "slurm.conf").write_text("ClusterName=x\nreturntoservice=1\n")
    assert "slurm.conf sets ReturnToService, and so would slurm-pmem.conf" in site.refused("site", *own)
    (folder / "slurm.conf").write_text("ClusterName=x\n")
    (folder / "job_submit.lua").write_text("return slurm.SUCCESS\n")
    assert "job_submit.lua is the site's and does not load pmem.lua" in site.refused("site", *own)
    assert "slurm.conf is the site's" in site.refused("site", "--check", "--tags", "controller")


@FIRST_RELEASE
def test_the_state_of_two_controllers_is_in_a_shared_folder(made, installed):
    """By a drop-in, which goes when the variable does; one of the site's own stays."""
    head = installed.directory / "head"
    given = ("--tags", "controller", "--extra-vars", "pmem_controller_state_dir=/shared/slurm-pmem-controller")
    assert "there is no /shared; mount the shared file system first" in installed.refused("site", *given)
    assert differences(made.installed, installed.look()) == {}
    (head / "shared").mkdir()
    assert installed.play("site", *given).changed.keys() == {"head"}
    assert (head / "shared/slurm-pmem-controller").stat().st_mode & 0o777 == 0o700
    assert installed.play("site", *given).changed == {}
    unit = installed.run("head", "systemd-analyze", "cat-config", "systemd/system/pm-controller.service")
    assert "--state-dir=/shared/slurm-pmem-controller" in unit
    installed.play("site", "--tags", "controller")
    drop_ins = head / "etc/systemd/system/pm-controller.service.d"
    assert list(drop_ins.iterdir()) == []
    (drop_ins / "override.conf").write_text("[Service]\nRestartSec=5\n")
    installed.play("site", *given)
    installed.play("uninstall", *given)
    assert [path.name for path in drop_ins.iterdir()] == ["override.conf"]
    assert (head / "shared/slurm-pmem-controller").is_dir()


@FIRST_RELEASE
def test_site_profiles_come_and_go(made, installed, tmp_path):
    """Of two classes; one that the site has put there itself stays. Not in Slurm's folder: Debian's Slurm takes that along."""
    profile = json.loads((TOP / "tests/fixtures/site-profiles/round.json").read_text())
    files = []
    for name in ("optane-100", "optane-200"):
        files.append(tmp_path / f"measured-on-{name}.json")
        files[-1].write_text(json.dumps(profile | {"class": name}))
    given = ("--tags", "node", "--extra-vars", json.dumps({"pmem_node_site_profiles": [str(file) for file in files],
                                                           "pmem_conf": {"SiteProfile": "optane-200", "SiteProfileDir": "/etc/profiles"}}))
    folder = installed.directory / "n1/etc/profiles"
    assert set(installed.play("site", "--check", *given).changed) == {"n1"}
    assert not folder.exists()
    installed.play("site", *given)
    assert sorted(path.name for path in folder.iterdir()) == ["optane-100.json", "optane-200.json"]
    assert installed.run("n1", "pmctl", "model", "--site-profile=/etc/profiles/optane-200.json", "in=1M", "out=1M", "compute=1",
                         "traffic=0").startswith("literal: ")
    assert "SiteProfile=optane-200" in (installed.directory / "n1/etc/slurm/pmem.conf").read_text()
    assert installed.play("site", *given).changed == {}
    files[0].write_text(json.dumps(profile | {"machine": "virtual"}))
    assert "was measured under a hypervisor" in installed.refused("site", *given)
    (folder / "own.json").write_text(json.dumps(profile | {"class": "own"}))
    installed.play("uninstall", *given)
    assert [path.name for path in folder.iterdir()] == ["own.json"]
    shutil.rmtree(folder)
    installed.play("uninstall")
    assert differences(made.fresh, installed.look()) == {}


OWN_FILES = {
    "slurm.conf": f"ClusterName=x\nSlurmctldHost={HOST_NAME}\nNodeName=n1\nPartitionName=p Nodes=ALL\n",
    "helpers.conf": "Feature=gpu Helper=/usr/local/bin/gpu\n",
    "job_submit.lua": 'pm = dofile("/usr/share/slurm-pmem/pmem.lua")\nreturn slurm.SUCCESS\n',
}


@FIRST_RELEASE
def test_a_sites_own_slurm_stays_as_it_was(site):
    for host, package in zip(HOSTS, ("slurmctld", "slurmd")):
        site.run(host, "apt-get", "-qq", "update")
        site.run(host, "apt-get", "-qq", "-y", "--no-install-recommends", "install", package, "slurm-client", "slurm-wlm-basic-plugins")
        for name, text in OWN_FILES.items():
            (site.directory / host / "etc/slurm" / name).write_text(text)
    before = site.look()
    own = ("--extra-vars", "slurm_manage=false")
    site.play("site", *own)
    folder = site.directory / "n1/etc/slurm"
    assert (folder / "slurm.conf").read_text().endswith(OWN_FILES["slurm.conf"])
    assert (folder / "helpers.conf").read_text().startswith(OWN_FILES["helpers.conf"])
    assert site.play("site", *own).changed == {}
    assert "job_submit.lua is the site's and loads pmem.lua" in site.refused("uninstall", "--tags", "controller", *own)
    for host in HOSTS:
        (site.directory / host / "etc/slurm/job_submit.lua").write_text("return slurm.SUCCESS\n")
    site.play("uninstall", *own)
    assert differences(before, site.look()).keys() == {f"{host}/etc/slurm/job_submit.lua" for host in HOSTS}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def configless() -> dict:
    """Variables of a site with no files of Slurm's on the nodes; slurmctld and slurmd can run side by side on one machine."""
    return {"slurm_configless": True, "pmem_configless": True,
            "slurm_conf": {"SlurmctldHost": f"{HOST_NAME}(127.0.0.1)", "SlurmctldPort": free_port(), "SlurmUser": "root",
                           "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "SlurmdParameters": "config_overrides"},
            "slurm_cgroup_conf": {"CgroupPlugin": "cgroup/v1", "ConstrainCores": None, "ConstrainRAMSpace": None},
            "slurm_nodes": [{"NodeName": "n1", "NodeHostname": HOST_NAME, "NodeAddr": "127.0.0.1", "Port": free_port(), "CPUs": 1}]}


def test_a_node_of_a_configless_site_gets_its_files_from_the_controller(made, site):
    """Real slurmctld and slurmd, started as the units of Debian start them."""
    variables = ("--extra-vars", json.dumps(configless()))
    site.play("site", *variables)
    assert site.play("site", *variables).changed == {}
    head, node = (site.directory / host for host in HOSTS)
    assert not [name for name in ("slurm.conf", "slurm-pmem.conf", "helpers.conf", "cgroup.conf") if (node / "etc/slurm" / name).exists()]
    assert "spank_pmem" not in (node / "etc/slurm/plugstack.conf").read_text()
    given = node / "var/spool/slurmd/conf-cache"
    slurmd = ". /etc/default/slurmd; exec slurmd -D -N n1 $SLURMD_OPTIONS"
    with site.runs("head", "slurmctld -D"), site.runs("n1", f"sh -c '{slurmd}'"):
        end_at = time.monotonic() + 60
        while not (given / "plugstack.conf").exists() or "pm-mode" not in site.run("n1", "sbatch", "--help"):
            assert time.monotonic() < end_at, (site.directory / "n1.log").read_text()
            time.sleep(0.2)
        for name in ("slurm.conf", "slurm-pmem.conf", "helpers.conf", "plugstack.conf"):
            assert (given / name).read_text() == (head / "etc/slurm" / name).read_text()
    site.play("uninstall", *variables)
    assert differences(made.fresh, site.look()) == {}
