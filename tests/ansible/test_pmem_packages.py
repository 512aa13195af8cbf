"""pmem_packages with real apt and dpkg on a root file system in a folder, with small packages that are named as ours."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args
from ansible_collections.slurm_pmem.cluster.plugins.modules import pmem_packages
from debs import index

OURS = ("slurm-pmem-common", "slurm-pmem-node", "slurm-pmem-plugin")
WANTED = list(OURS[1:])
OLD, NEW = "0.1.0-1~deb12", "0.2.0-1~deb12"
FAILS = "#!/bin/sh\nexit 3\n"


class Root:
    """A machine without programs: what apt and dpkg know is below its folder, and a repository is beside it."""

    def __init__(self, directory: Path):
        self.root, self.repository, self.trees = (directory / name for name in ("root", "repository", "tree"))
        self.folder, self.etc = self.root / "var/lib/slurm-pmem-ansible", directory / "slurm"
        for path in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/trusted.gpg.d", "var/lib/dpkg/info",
                     "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/log/apt", "tmp"):
            (self.root / path).mkdir(parents=True)
        (self.root / "var/lib/dpkg/status").touch()
        for path in (self.repository, self.etc):
            path.mkdir()
        (self.root / "etc/apt/sources.list").write_text(f"deb [trusted=yes] file:{self.repository} ./\n")
        self.configuration = directory / "apt.conf"
        self.configuration.write_text(
            f'Dir "{self.root}/";\nDir::State::status "{self.root}/var/lib/dpkg/status";\nDir::Log "{self.root}/var/log/apt";\n'
            f'DPkg::Options {{"--root={self.root}"; "--force-script-chrootless"; "--log=/dev/null"; "--force-unsafe-io";}};\n'
            'APT::Architectures {"amd64";};\nAPT::Sandbox::User "root";\nAcquire::Languages "none";\n')

    def build(self, name: str, version: str, folder: Path | None = None, depends: str = "", **scripts: str) -> str:
        """The file's name."""
        shutil.rmtree(self.trees, ignore_errors=True)
        control = self.trees / "DEBIAN"
        control.mkdir(parents=True)
        (control / "control").write_text(f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: tests <t@example.com>\n"
                                         + (f"Depends: {depends}\n" if depends else "") + "Description: for a test\n")
        for script, text in scripts.items():
            (control / script).write_text(text)
            (control / script).chmod(0o755)
        target = (folder or self.repository) / f"{name}_{version}_all.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", self.trees, target], check=True, stdout=subprocess.DEVNULL)
        return target.name

    def offer(self, version: str, folder: Path | None = None, **scripts: str) -> list[str]:
        """Ours in a version, by which each needs the common one. Scripts are those of the last one."""
        files = [self.build(OURS[0], version, folder, "libour"), self.build(OURS[1], version, folder, f"{OURS[0]} (= {version})"),
                 self.build(OURS[2], f"{version}+slurm22.05", folder, f"{OURS[0]} (= {version})", **scripts)]
        self.update()
        return files

    def update(self) -> None:
        if not (self.repository / "libour_1.0_all.deb").exists():
            self.build("libour", "1.0")
        index(self.repository)
        self.apt("update")

    def apt(self, *words: str) -> str:
        return subprocess.run(["apt-get", "-qq", "-y", *words], check=True, capture_output=True, text=True).stdout

    def states(self) -> dict[str, str]:
        lines = subprocess.run(["dpkg-query", "-Wf", "${Package} ${Version} ${db:Status-Status}\n"], capture_output=True, text=True)
        return dict(line.split(" ", 1) for line in lines.stdout.splitlines())

    def automatic(self) -> set[str]:
        return set(subprocess.run(["apt-mark", "showauto"], check=True, capture_output=True, text=True).stdout.split())

    def files(self) -> dict[str, bytes]:
        """All but what each run of apt or dpkg writes."""
        return {str(path): path.read_bytes() for top in (self.folder, self.etc) for path in sorted(top.rglob("*")) if path.is_file()}

    def bring(self, *names: str) -> None:
        (self.folder / "packages").mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy(self.etc.parent / "source" / name, self.folder / "packages")


@pytest.fixture
def root(tmp_path, monkeypatch):
    if os.geteuid():
        pytest.skip("dpkg installs only as root")
    made = Root(tmp_path)
    monkeypatch.setenv("APT_CONFIG", str(made.configuration))
    monkeypatch.setenv("DPKG_ROOT", str(made.root))
    monkeypatch.setenv("DPKG_ADMINDIR", f"{made.root}/var/lib/dpkg")
    return made


@pytest.fixture
def packages(root, capsys):
    """packages(option=value, …): what Ansible would get back; check=True is check mode."""
    def run_module(check=False, **options):
        arguments = {"folder": str(root.folder), "_ansible_check_mode": check, "_ansible_diff": True} | options
        with patch_module_args(arguments), pytest.raises(SystemExit):
            pmem_packages.main()
        return json.loads(capsys.readouterr().out)
    return run_module


@pytest.fixture
def lies(monkeypatch):
    """lies(word): apt-get or apt-mark with this word does nothing, and says that all went well."""
    real = AnsibleModule.run_command

    def lie(word, times=1):
        left = [times]

        def run(module, argv, **options):
            if word in argv and "--simulate" not in argv and left[0]:
                left[0] -= 1
                return 0, "", ""
            return real(module, argv, **options)
        monkeypatch.setattr(AnsibleModule, "run_command", run)
    return lie


@pytest.fixture
def installed(root, packages):
    root.offer(OLD)
    told = packages(packages=WANTED)
    assert told["changed"], told
    return told


@pytest.fixture
def upgrade(root, packages):
    """upgrade(option=value, …) with a file of the site's kept."""
    (root.etc / "pmem.conf").write_text("old\n")
    return lambda **options: packages(**{"packages": WANTED, "state": "latest", "keep": [str(root.etc / "pmem.conf")]} | options)


def as_installed(version):
    return {OURS[0]: f"{version} installed", OURS[1]: f"{version} installed", OURS[2]: f"{version}+slurm22.05 installed",
            "libour": "1.0 installed"}


def test_a_check_predicts_the_run_and_changes_nothing(root, packages):
    root.offer(OLD)
    predicted = packages(check=True, packages=WANTED)
    assert root.states() == {} and root.files() == {}
    done = packages(packages=WANTED)
    assert root.states() == as_installed(OLD)
    for key in ("changed", "changes", "diff"):
        assert predicted[key] == done[key], key
    assert f"slurm-pmem-node {OLD}\n" in done["diff"]["after"] and done["diff"]["before"] == ""
    assert (done["versions"][OURS[1]], sorted(done["came"])) == (OLD, sorted(as_installed(OLD)))


def test_what_nobody_asked_for_apt_takes_for_that(root, installed):
    assert root.automatic() == {"libour", OURS[0]}


def test_there_already(root, packages, installed):
    before = root.files()
    for state in ("present", "latest"):
        told = packages(packages=WANTED, state=state)
        assert (told["changed"], told["changes"]) == (False, []) and "diff" not in told
    assert root.files() == before


def test_present_takes_no_newer_one_and_latest_does(root, packages, installed):
    root.offer(NEW)
    assert packages(packages=WANTED)["changed"] is False
    told = packages(packages=WANTED, state="latest")
    assert told["changed"] and root.states() == as_installed(NEW)
    assert {"package": OURS[0], "before": OLD, "after": NEW} in told["changes"]


def test_a_version_by_how_it_starts_forth_and_back(root, packages, installed):
    root.offer(NEW)
    for version, whole in (("0.2", NEW), ("0.1.0-1", OLD)):
        assert packages(packages=WANTED, version=version)["changed"]
        assert root.states() == as_installed(whole)
        assert packages(packages=WANTED, version=version)["changed"] is False
    assert root.automatic() == {"libour", OURS[0]}


def test_what_a_run_finds_once_the_lists_are_loaded(root, packages):
    told = packages(check=True, packages=WANTED)
    assert told["changed"] and [change["package"] for change in told["changes"]] == list(OURS)
    told = packages(packages=WANTED)
    assert told["failed"] and "apt refuses, and nothing was changed: E: Unable to locate package slurm-pmem-common" in told["msg"]
    assert told["msg"].endswith("; no slurm-pmem stands")


def test_packages_of_the_distribution(root, packages):
    root.update()
    assert packages(packages=["libour"], version="7", state="latest", source="/elsewhere")["changed"]
    assert packages(packages=["libour"])["changed"] is False
    assert (root.states(), root.automatic()) == ({"libour": "1.0 installed"}, set())


# Files that are brought

@pytest.fixture
def source(root):
    folder = root.etc.parent / "source"
    folder.mkdir()
    root.update()
    return {"source": str(folder), "files": root.offer(OLD, folder), "packages": WANTED}


def test_files_are_brought_only_where_they_are_due(root, packages, source):
    asked = packages(check=True, **source)
    assert asked["changed"] and asked["files"] == sorted(source["files"])
    root.bring(*asked["files"])
    assert packages(**source)["changed"] and root.states() == as_installed(OLD)
    assert root.automatic() == {"libour", OURS[0]}
    told = packages(**source)
    assert (told["changed"], told["files"]) == (False, [])


def test_files_forth_and_back(root, packages, upgrade, source):
    root.bring(*source["files"])
    packages(**source)
    newer = source | {"files": root.offer(NEW, Path(source["source"]))}
    root.bring(*newer["files"])
    before = root.automatic()
    assert upgrade(**newer)["changed"]
    packages(state="settled")
    assert root.states() == as_installed(NEW)
    assert packages(state="previous")["changed"] and root.states() == as_installed(OLD)
    assert root.automatic() == before
    assert sorted(path.name for path in (root.folder / "packages").iterdir()) == sorted(source["files"])


@pytest.mark.parametrize("files, found", [([], "none"), (["slurm-pmem-common_0.1_all.deb"], "slurm-pmem-common_0.1_all.deb")])
def test_a_source_without_a_file_for_each(packages, source, files, found):
    told = packages(**source | {"files": files})
    assert f"'{source['source']}' must hold one file for each of {', '.join(OURS)}; found {found}; where there" in told["msg"]


def test_a_source_with_two_versions(root, packages, source):
    files = source["files"] + root.offer(NEW, Path(source["source"]))
    assert "say which with pmem_packages_version" in packages(**source | {"files": files})["msg"]
    assert packages(check=True, **source | {"files": files, "version": "0.2"})["files"] == files[3:]


# Slurm's series

@pytest.fixture
def newer_slurm(root, packages):
    """The newer plugin needs a newer Slurm."""
    root.build("slurmctld", "22.05.8-4")
    root.offer(OLD)
    root.apt("install", "slurmctld")
    assert packages(packages=WANTED)["changed"]

    def offer(version):
        root.build("slurmctld", version)
        root.build(OURS[0], NEW, None, "libour")
        root.build(OURS[1], NEW, None, f"{OURS[0]} (= {NEW})")
        root.build(OURS[2], f"{NEW}+slurm", None, f"{OURS[0]} (= {NEW}), slurmctld (>= {version})")
        root.update()
    return offer


def test_another_series_is_refused_until_it_is_allowed(root, newer_slurm, upgrade):
    newer_slurm("24.11.5-4")
    before = root.states(), root.files()
    for check in (True, False):
        told = upgrade(check=check)
        assert "would bring another series of Slurm: slurmctld 22.05.8-4 to 24.11.5-4. Read docs/admin" in told["msg"]
    assert (root.states(), root.files()) == before
    assert upgrade(slurm_upgrade_ok=True)["changed"]
    assert root.states()["slurmctld"] == "24.11.5-4 installed"


def test_the_same_series_may_come(root, newer_slurm, upgrade):
    newer_slurm("22.05.9-1")
    assert upgrade()["changed"] and root.states()["slurmctld"] == "22.05.9-1 installed"


# An upgrade, and back

def test_an_upgrade_and_back_with_the_files(root, packages, installed, upgrade):
    root.offer(NEW)
    before = root.files()
    assert upgrade()["unfinished"]
    (root.etc / "pmem.conf").write_text("new\n")
    (root.etc / "pmem.conf").chmod(0o600)
    assert packages(state="settled")["unfinished"] is False
    predicted = packages(check=True, state="previous")
    assert root.states() == as_installed(NEW) and predicted["previous"] == installed["versions"]
    done = packages(state="previous")
    for key in ("changed", "changes", "diff", "previous"):
        assert predicted[key] == done[key], key
    assert root.states() == as_installed(OLD) and root.files() == before
    assert (root.etc / "pmem.conf").stat().st_mode & 0o777 == 0o644
    told = packages(state="previous")
    assert (told["changed"], told["previous"]) == (False, {})


def test_an_upgrade_that_was_killed_is_gone_on_with(root, packages, installed, upgrade):
    """What was kept by the first run stays, so that the way back is to before it."""
    root.offer(NEW)
    upgrade()
    (root.etc / "pmem.conf").write_text("half\n")
    assert packages(check=True, packages=WANTED, state="latest")["unfinished"]
    root.offer("0.3.0-1~deb12")
    upgrade()
    packages(state="settled")
    packages(state="previous")
    assert root.states() == as_installed(OLD) and (root.etc / "pmem.conf").read_text() == "old\n"


def test_back_from_an_upgrade_that_has_not_ended(root, packages, installed, upgrade):
    root.offer(NEW)
    upgrade()
    assert packages(state="previous")["previous"] == installed["versions"]
    assert root.states() == as_installed(OLD)
    assert packages(state="previous")["changed"] is False


def test_an_upgrade_to_nothing_new_leaves_the_earlier_way_back(root, packages, installed, upgrade):
    root.offer(NEW)
    upgrade()
    packages(state="settled")
    assert upgrade()["changed"] is False
    packages(state="settled")
    assert packages(check=True, state="previous")["previous"] == installed["versions"]


def test_a_package_that_came_with_the_upgrade_goes_again(root, packages, installed, upgrade):
    root.offer(NEW)
    root.build("slurm-pmem-more", NEW, None, f"slurm-pmem-common (= {NEW})")
    root.update()
    upgrade(packages=[*WANTED, "slurm-pmem-more"])
    packages(state="settled")
    packages(state="previous")
    assert root.states() == as_installed(OLD)


# Failures

def test_a_first_installation_that_fails_leaves_nothing(root, packages):
    root.offer(OLD, postinst=FAILS)
    told = packages(packages=WANTED)
    assert told["failed"] and root.states() == {} and told["versions"] == {}
    assert "apt has failed: dpkg: error processing package slurm-pmem-plugin" in told["msg"]
    assert told["msg"].endswith("; no slurm-pmem stands again")
    assert not (root.folder / "packages.json").exists()


@pytest.mark.parametrize("script", ["preinst", "postinst"])
def test_an_upgrade_that_fails_goes_back(root, packages, installed, upgrade, script):
    before = root.files()
    root.offer(NEW, **{script: FAILS})
    told = upgrade()
    assert told["failed"] and root.states() == as_installed(OLD)
    assert "apt has failed: dpkg: error processing" in told["msg"] and "slurm-pmem-plugin" in told["msg"]
    assert told["msg"].endswith(f"; slurm-pmem {OLD} stands again")
    assert told["versions"] == installed["versions"]
    assert root.automatic() == {"libour", OURS[0]}
    assert root.files() == before, "nothing is left to go back to, and the cause is all that is to be mended"


def test_where_going_back_fails_too_each_package_is_told(root, packages, installed, upgrade):
    """The old packages are not to be had any more."""
    root.offer(NEW, postinst=FAILS)
    for old in root.repository.glob(f"*{OLD}*"):
        old.unlink()
    root.update()
    told = upgrade()
    assert f"; going back to slurm-pmem {OLD} has failed too: E: " in told["msg"]
    assert f"; now there are slurm-pmem-common {NEW}" in told["msg"] and f"{OURS[2]} {NEW}+slurm22.05 (half-configured)" in told["msg"]
    assert told["versions"][OURS[0]] == NEW
    root.offer(OLD)
    assert packages(state="previous")["changed"] and root.states() == as_installed(OLD)


def test_a_refusal_changes_nothing(root, packages, installed, upgrade):
    """The common package of the new version needs what is not there."""
    root.build(OURS[0], NEW, None, "nowhere")
    for name in OURS[1:]:
        root.build(name, NEW, None, f"{OURS[0]} (= {NEW})")
    root.update()
    before = root.files()
    for check in (True, False):
        told = upgrade(check=check, version=NEW)
        assert "apt refuses, and nothing was changed: The following packages have unmet dependencies: slurm-pmem-common" in told["msg"]
        assert told["msg"].endswith(f"; slurm-pmem {OLD} stands")
    assert root.files() == before


def test_what_apt_says_it_has_done_is_read_back(root, packages, installed, upgrade, lies):
    root.offer(NEW)
    lies("install")
    told = upgrade()
    assert f"apt has failed: after it there are slurm-pmem-common {OLD} (installed)" in told["msg"]
    assert told["msg"].endswith(f"; slurm-pmem {OLD} stands, as before")
    assert packages(check=True, state="previous")["previous"] == {}


def test_a_mark_that_apt_does_not_set_is_told(root, packages, lies):
    root.offer(OLD)
    lies("auto")
    told = packages(packages=WANTED)
    assert "apt takes slurm-pmem-common for a wish of somebody's" in str(told["warnings"])


def test_without_room_to_keep_what_is_there_nothing_is_changed(root, packages, installed, upgrade):
    root.offer(NEW)
    (root.folder / "upgrading").write_text("in the way")
    told = upgrade()
    assert told["failed"] and told["msg"].endswith(f"; slurm-pmem {OLD} stands")
    assert root.states() == as_installed(OLD)


@pytest.fixture
def upgraded(root, packages, installed, upgrade):
    root.offer(NEW)
    upgrade()
    (root.etc / "pmem.conf").write_text("new\n")
    packages(state="settled")


def test_a_way_back_that_apt_refuses(root, packages, upgraded):
    for old in root.repository.glob(f"*{OLD}*"):
        old.unlink()
    root.update()
    before = root.files()
    for check in (True, False):
        told = packages(check=check, state="previous")
        assert "apt refuses, and nothing was changed: E: Version" in told["msg"] and told["msg"].endswith(f"slurm-pmem {NEW} stands")
    assert root.files() == before and root.states() == as_installed(NEW)


def test_a_way_back_that_fails_leads_to_where_it_began(root, packages, upgraded):
    """The old package is not as it was; what is kept stays."""
    root.build(OURS[2], f"{OLD}+slurm22.05", None, f"{OURS[0]} (= {OLD})", preinst=FAILS)
    root.update()
    told = packages(state="previous")
    assert told["failed"] and told["msg"].endswith(f"; slurm-pmem {NEW} stands again")
    assert root.states() == as_installed(NEW) and (root.etc / "pmem.conf").read_text() == "new\n"
    root.offer(OLD)
    assert packages(state="previous")["changed"] and root.states() == as_installed(OLD)


def test_a_way_back_that_is_a_lie(root, packages, upgraded, lies):
    lies("install")
    told = packages(state="previous")
    assert "after it there are slurm-pmem-common" in told["msg"] and told["msg"].endswith(f"; slurm-pmem {NEW} stands, as before")


def test_files_that_do_not_come_back(root, packages, upgraded, monkeypatch):
    """The packages are those of before, and the next run brings the files."""
    with monkeypatch.context() as patched:
        patched.setattr(pmem_packages, "copy", lambda source, target: None)
        told = packages(state="previous")
    assert told["msg"].startswith(f"slurm-pmem {OLD} stands, but {root.etc}/pmem.conf is not as it was before the upgrade")
    told = packages(state="previous")
    assert told["changed"] and (root.etc / "pmem.conf").read_text() == "old\n"


# Removal

def test_what_came_goes_again(root, packages, installed):
    predicted = packages(check=True, state="absent")
    assert root.states() == as_installed(OLD)
    done = packages(state="absent")
    assert predicted["changes"] == done["changes"] and {change["package"] for change in done["changes"]} == set(as_installed(OLD))
    assert root.states() == {}
    assert packages(state="absent")["changed"] is False


def test_what_something_else_needs_by_now_stays(root, packages, installed):
    root.build("theirs", "1", None, "libour")
    root.update()
    root.apt("install", "theirs")
    packages(state="absent")
    assert root.states() == {"libour": "1.0 installed", "theirs": "1 installed"}


def test_a_removal_that_fails_says_what_is_left(root, packages):
    root.offer(OLD, prerm=FAILS)
    packages(packages=WANTED)
    told = packages(state="absent")
    assert told["failed"] and "apt has not removed all: dpkg: error processing package slurm-pmem-plugin" in told["msg"]
    assert "; still there: " in told["msg"] and told["msg"].endswith(f"{OURS[2]} {OLD}+slurm22.05 (installed)")
