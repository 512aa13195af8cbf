"""The parts of the twin that need no guest."""
import fnmatch
import gzip
import re
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "twin"), str(TOP / "tests")]

from cluster import cli, frames, hardware, paths, payload, qemu, slurm  # noqa: E402
from cluster.cpio import Tree  # noqa: E402
from cluster.errors import UsageError  # noqa: E402
from cluster.events import EventLog  # noqa: E402
from cluster.guest import Guest  # noqa: E402
from cluster.progress import Progress  # noqa: E402
from cluster.shape import Shape, saved, wanted  # noqa: E402
from cluster.state import State  # noqa: E402
from cluster.switch import Switch  # noqa: E402
from image import build, customize, recipe, sources  # noqa: E402
import rooms  # noqa: E402


def frame(target: bytes, source: bytes) -> bytes:
    return target + source + b"\x08\x00payload"


class TestSwitch:
    BROADCAST = b"\xff" * 6

    @pytest.fixture
    def switch(self):
        with tempfile.TemporaryDirectory(prefix="pmtwin-") as directory:
            switch = Switch(Path(directory))
            for name in ("a", "b", "c"):
                switch.plug(name)
            yield switch

    def test_floods_until_it_has_learned(self, switch):
        a, b, c = switch.ports
        assert switch.targets(frame(self.BROADCAST, b"AAAAAA"), a) == [b, c]
        assert switch.targets(frame(b"AAAAAA", b"BBBBBB"), b) == [a]
        assert switch.targets(frame(b"BBBBBB", b"AAAAAA"), a) == [b]

    def test_forwards_a_datagram(self, switch):
        ends = []
        for path in switch.ports[:2]:
            end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            end.bind(path)
            end.settimeout(5)
            ends.append(end)
        switch.start()
        sent = frame(self.BROADCAST, b"AAAAAA")
        ends[0].sendto(sent, switch.path)
        assert ends[1].recv(2000) == sent

    def test_drops_what_nobody_takes(self, switch):
        end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        end.bind(switch.ports[0])
        switch.start()
        for _ in range(500):
            end.sendto(frame(b"CCCCCC", b"AAAAAA"), switch.path)


class TestFrames:
    def test_cuts_at_any_boundary(self):
        data = frames.hello(b"12345678") + frames.frame(frames.STDOUT, 7, b"abc") + frames.frame(frames.EXIT, 7, b"\0" * 4)
        for size in range(1, len(data)):
            reader, found = frames.Reader(), []
            for at in range(0, len(data), size):
                found += reader.feed(data[at:at + size])
            assert found == [(frames.HELLO, 0, b"12345678"), (frames.STDOUT, 7, b"abc"), (frames.EXIT, 7, b"\0" * 4)]

    def test_finds_its_feet_after_garbage(self):
        reader = frames.Reader(synced=True)
        assert reader.feed(b"\0" * 40 + frames.hello(b"abcdefgh") + frames.frame(frames.NOTE, 0, b"x")) == [
            (frames.HELLO, 0, b"abcdefgh"), (frames.NOTE, 0, b"x")]

    def test_words_of_a_command(self):
        assert frames.open_words("root", False, ["a b", ""]) == b"root\0\0a b\0\0"


class TestRecipe:
    def test_digest_names_the_contents(self, monkeypatch):
        suite = recipe.suite("trixie")
        before = recipe.digest(suite)
        assert before == recipe.digest(suite)
        assert before != recipe.digest(recipe.suite("bookworm"))
        monkeypatch.setattr(recipe, "LEFT_OUT", ())
        assert recipe.digest(suite) != before

    def test_digest_follows_the_script(self, monkeypatch, tmp_path):
        before = recipe.digest(recipe.suite("trixie"))
        script = tmp_path / "customize.py"
        script.write_text(recipe.CUSTOMIZE.read_text() + "#")
        monkeypatch.setattr(recipe, "CUSTOMIZE", script)
        assert recipe.digest(recipe.suite("trixie")) != before

    def test_another_mirror_is_the_same_image(self, monkeypatch):
        before = recipe.digest(recipe.suite("trixie"))
        monkeypatch.setenv("PMTWIN_MIRROR", "http://mirror.example/debian")
        assert recipe.digest(recipe.suite("trixie")) == before
        assert recipe.apt_sources(recipe.suite("trixie"))[0] == "deb http://mirror.example/debian trixie main"

    def test_further_packages_are_another_image(self):
        plain = recipe.suite("trixie")
        more = recipe.suite("trixie", ("hpcc", "numactl"))
        assert more.packages == (*plain.packages, "hpcc") and more.sdk == plain.sdk
        assert recipe.digest(more) != recipe.digest(plain)
        assert recipe.digest(recipe.suite("trixie", ("numactl",))) == recipe.digest(plain)

    def test_a_plain_image_offers_what_the_usual_one_has(self):
        usual, plain = recipe.suite("bookworm"), recipe.suite("bookworm", ("less",), plain=True)
        assert {"slurmd", *recipe.TOOLS} <= {*plain.offered} and {"less", *recipe.PLAIN_PACKAGES} == {*plain.packages}
        assert not [name for name in plain.packages if "slurm" in name or name in ("munge", "ipmctl", "ndctl", "daxctl")]
        assert recipe.digest(plain) != recipe.digest(recipe.suite("bookworm", ("less",)))
        assert "--download-only" in "".join(build.command(plain, None, Path("/x")))
        assert "--download-only" not in "".join(build.command(usual, Path("/kit"), Path("/x")))

    def test_in_the_new_root_an_ordinary_user_is_root_by_name_too(self, monkeypatch, tmp_path):
        monkeypatch.setenv("LOGNAME", "somebody")
        monkeypatch.setenv("USER", "somebody")
        monkeypatch.setattr(build, "command", lambda which, kit, out: ["sh", "-c", "echo $LOGNAME $USER"])
        monkeypatch.setattr(build, "sparse", lambda out: None)
        build.mmdebstrap(recipe.suite("trixie"), None, tmp_path / "out", Progress(quiet=True))
        assert (tmp_path / "trixie.log").read_text() == "root root\n"

    def test_the_usual_image_is_made_by_the_collection(self, monkeypatch):
        usual, plain = recipe.suite("trixie"), recipe.suite("trixie", plain=True)
        assert "slurm_pmem.cluster.site" in "".join(build.command(usual, Path("/kit"), Path("/x")))
        assert "slurm_pmem.cluster.site" not in "".join(build.command(plain, None, Path("/x")))
        assert not {"slurmd", "munge", "ndctl"} & {*usual.packages}
        before = recipe.digest(usual), recipe.digest(plain)
        monkeypatch.setattr(sources, "PARTS", ("ansible/playbooks",))
        assert recipe.digest(usual) != before[0] and recipe.digest(plain) == before[1]

    def test_an_offered_package_is_as_the_archive_has_it(self, monkeypatch, tmp_path):
        package = tmp_path / "hello_1%3a1_amd64.deb"
        package.write_bytes(b"12345")
        digest = "SHA256: 5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5"
        head = "Package: hello\nVersion: 1:1\nPriority: optional\n"
        said = {"dpkg-deb": "hello=1:1",
                "apt-cache": f"{head}Filename: pool/older.deb\nSHA256: 00\n\n{head}Filename: pool/h/hello_1_amd64.deb\n{digest}\n\n"}
        monkeypatch.setattr(customize, "run", lambda *argv: said[argv[0]])
        assert customize.index_entry(str(package)) == f"{head}Filename: ./hello_1%3a1_amd64.deb\n{digest}\n\n"

    def test_accounting_is_packages_and_settings_before_them(self, monkeypatch, tmp_path):
        with_hpcc = recipe.suite("trixie", recipe.with_accounting(("hpcc",), True))
        assert {"hpcc", "mariadb-server", "slurmdbd"} <= {*with_hpcc.packages} and with_hpcc.accounting
        assert recipe.suite("trixie", **recipe.asked(with_hpcc)) == with_hpcc
        usual = recipe.suite("trixie", recipe.with_accounting((), False))
        assert usual == recipe.suite("trixie") and not usual.accounting
        settings = f"upload '{recipe.MARIADB}' /etc/mysql/mariadb.conf.d"
        assert settings in "".join(build.command(with_hpcc, Path("/kit"), Path("/x")))
        assert settings not in "".join(build.command(usual, Path("/kit"), Path("/x")))
        before = recipe.digest(usual), recipe.digest(with_hpcc)
        monkeypatch.setattr(recipe, "MARIADB", tmp_path / "mariadb.cnf")
        recipe.MARIADB.write_text("[mariadbd]\n")
        assert recipe.digest(usual) == before[0] and recipe.digest(with_hpcc) != before[1]

    @pytest.mark.parametrize("page, kept", [("man/man8/pmctl.8.gz", True), ("man/man3/x.3", True), ("man/de/man1/ls.1.gz", False),
                                            ("man/pt_BR/man1/ls.1.gz", False)])
    def test_manual_pages_are_in_the_guests_but_no_translations(self, page, kept):
        assert kept == (not any(fnmatch.fnmatchcase(f"/usr/share/{page}", pattern) for pattern in recipe.LEFT_OUT))
        assert "man-db" in recipe.suite("trixie").packages and "man-db" in recipe.suite("trixie", plain=True).offered

    def test_order_of_packages_does_not_matter(self):
        assert recipe.package_names("mpich,g++,mpich,") == ("g++", "mpich") == recipe.package_names("g++,mpich")
        assert recipe.package_names("") == ()

    @pytest.mark.parametrize("name", ["hpcc=1.5", "hpcc/sid", "hpcc-", "-o", "HPCC", "a b", "?obsolete", "h", "../x", "é1"])
    def test_what_is_no_name_of_a_package(self, name):
        with pytest.raises(UsageError, match="no name of a Debian package: "):
            recipe.package_names(f"mpich,{name}")

    def test_unknown_suite(self):
        with pytest.raises(UsageError, match="no suite 'sarge', there are: trixie, bookworm"):
            recipe.suite("sarge")


class TestTree:
    def test_archive_is_what_cpio_reads(self):
        tree = Tree()
        tree.file("etc/secret", "key", 0o400, (100, 101))
        tree.symlink("etc/link", "secret")
        listing = subprocess.run(["busybox", "cpio", "-tv"], input=tree.archive(), capture_output=True, check=True).stdout
        lines = listing.decode().splitlines()
        assert [line.split()[-1] for line in lines if "->" not in line] == ["etc", "etc/secret"]
        assert lines[1].startswith("-r--------") and "100" in lines[1] and "101" in lines[1]
        assert "etc/link -> secret" in listing.decode()

    def test_nothing_is_of_1970(self):
        tree = Tree()
        tree.file("etc/slurm/job_submit.lua", "")
        assert all(entry.modified > time.time() - 60 for entry in tree.entries.values())

    def test_copy_keeps_links_and_the_x_bit(self, tmp_path):
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/tool").write_text("x")
        (tmp_path / "bin/tool").chmod(0o700)
        (tmp_path / "bin/alias").symlink_to("tool")
        tree = Tree()
        tree.copy(tmp_path, "usr")
        assert stat.S_IMODE(tree.entries["usr/bin/tool"].mode) == 0o755
        assert stat.S_ISLNK(tree.entries["usr/bin/alias"].mode) and tree.entries["usr/bin/alias"].data == b"tool"
        assert tree.entries["usr"].uid == 0


class TestState:
    def test_foreign_directory_is_refused(self, tmp_path):
        (tmp_path / "thesis.tex").write_text("x")
        with pytest.raises(UsageError, match="holds something else"):
            State(tmp_path).create()
        State(tmp_path).wipe()
        assert (tmp_path / "thesis.tex").exists()

    def test_wipe_removes_what_it_made(self, tmp_path):
        state = State(tmp_path / "twin")
        state.create()
        (state.node("n1") / "disk.img").write_text("x")
        state.wipe()
        assert not any(state.directory.iterdir())

    def test_sockets_fit_however_deep_the_directory(self, tmp_path):
        state = State(tmp_path / ("d" * 100))
        state.create()
        runtime = state.make_runtime()
        assert len(str(runtime / "n32.agent")) < 107 and stat.S_IMODE(runtime.stat().st_mode) == 0o700
        state.remove_runtime()
        assert not runtime.exists()

    def test_lock_tells_a_running_twin(self, tmp_path):
        state = State(tmp_path / "twin")
        state.create()
        assert not state.running()
        with state.acquire():
            assert state.running()
        assert not state.running()


class TestSources:
    def test_a_digest_is_of_names_and_contents(self, monkeypatch, tmp_path):
        monkeypatch.setattr(paths, "PROJECT", tmp_path)
        (tmp_path / "lib/__pycache__").mkdir(parents=True)
        (tmp_path / "lib/a.c").write_text("1")
        first = sources.digest(("lib",))
        (tmp_path / "lib/__pycache__/a.pyc").touch()
        assert sources.digest(("lib",)) == first
        (tmp_path / "lib/a.c").write_text("2")
        second = sources.digest(("lib",))
        (tmp_path / "lib/a.c").rename(tmp_path / "lib/b.c")
        assert len({first, second, sources.digest(("lib",)), sources.digest(())}) == 4

    def test_what_is_named_is_there(self):
        assert not [name for name in (*sources.PARTS, *sources.PROGRAMS) if not (paths.PROJECT / name).exists()]

    def test_each_room_of_the_programs_is_named(self):
        ours = {room.split("/")[0] for room in rooms.table((TOP / rooms.TABLE).read_text(encoding="utf-8"))}
        assert "agent" in ours and not ours - set(sources.PROGRAMS)
        packaged = (TOP / "debian/slurm-pmem-twin.install").read_text(encoding="utf-8").split()
        assert not ours - set(packaged)


class TestConfiguration:
    def test_slurm_conf_names_every_node(self):
        lines = payload.nodes_of_slurm(Shape(nodes=3, cores=2)).splitlines()
        assert len(lines) == 3 and lines[2].startswith("NodeName=n3 NodeAddr=10.77.0.13 Sockets=2 CoresPerSocket=2 ")
        assert "Feature" not in lines[2]


class TestGuests:
    """What lies over the image of a guest, and when it counts as up."""

    packaged = sources.digest(sources.PROGRAMS)

    @pytest.fixture
    def files(self, monkeypatch, tmp_path):
        monkeypatch.setattr(payload, "add_modules", lambda tree, image: None)
        monkeypatch.setattr(payload, "agent", lambda image, suite: b"agent")
        monkeypatch.setattr(payload, "install", lambda image, suite, staging: (staging / "pmctl").touch())
        image = SimpleNamespace(busybox=tmp_path / "busybox", slurm_conf=tmp_path / "slurm.conf", user=lambda name: (100, 100),
                                is_of=lambda programs: programs == self.packaged)
        image.busybox.touch()
        image.slurm_conf.write_text("ClusterName=twin\n")
        kept = []
        monkeypatch.setattr(Tree, "archive", lambda tree: kept.append(tree) or b"")
        state = State(tmp_path / "twin")
        state.create()

        def build(shape):
            payload.build(state, image, shape)
            return set(kept[-1].entries)
        build.tree = lambda: kept[-1]
        return build

    def test_a_plain_guest_has_nothing_of_slurm_and_ours(self, files):
        plain = files(Shape(plain=True))
        assert "files/usr/lib/pmtwin/agent" in plain and "files/etc/systemd/system/systemd-udevd.service" in plain
        assert not [name for name in plain if re.search("slurm|munge|pmctl|pm-|ndctl|ipmctl|daxdev", name)]

    def test_the_usual_one_has(self, files):
        usual = files(Shape())
        assert usual > files(Shape(plain=True))
        units = "files/etc/systemd/system"
        assert {"files/etc/slurm/slurm.conf", f"{units}/slurmd.service.d/role.conf", f"{units}/ndctl-monitor.service"} <= usual

    def test_programs_come_along_if_their_sources_are_newer_than_the_image(self, files, monkeypatch):
        assert "files/pmctl" not in files(Shape())
        monkeypatch.setattr(self, "packaged", "of other sources")
        assert "files/pmctl" in files(Shape())

    def test_their_manual_pages_lie_over_those_of_the_packages(self, monkeypatch, tmp_path):
        page = tmp_path / "installed/usr/share/man/man8/pmctl.8"
        page.parent.mkdir(parents=True)
        page.write_text(".TH PMCTL 8")
        tree = Tree()
        monkeypatch.setenv("PMTWIN_INSTALLED", str(tmp_path / "installed"))
        payload.add_programs(tree, None, "trixie")
        manual = "files/usr/share/man/man8"
        assert [name for name in tree.entries if name.startswith(f"{manual}/")] == [f"{manual}/pmctl.8.gz"]
        assert gzip.decompress(tree.entries[f"{manual}/pmctl.8.gz"].data) == b".TH PMCTL 8"

    def test_accounting_is_configured_where_it_is_wanted_alone(self, files):
        usual, accounting = files(Shape()), files(Shape(accounting=True))
        more = {"etc/slurm/slurmdbd.conf", "etc/systemd/system/multi-user.target.wants/pmtwin-accounting.service",
                "usr/lib/pmtwin/accounting"}
        assert {f"files/{name}" for name in more} <= accounting - usual
        assert not [name for name in usual if re.search("slurmdbd|maria|mysql", name)]
        secret = files.tree().entries["files/etc/slurm/slurmdbd.conf"]
        assert (stat.S_IMODE(secret.mode), secret.uid, secret.gid) == (0o600, 100, 100)
        told = files.tree().entries["files/etc/slurm/slurm.conf"].data.decode()
        assert told.startswith("ClusterName=twin\nAccountingStorageType=accounting_storage/slurmdbd\n") and "NodeName=n1 " in told

    @pytest.mark.parametrize("state, remarks", [("active", 0), ("failed", 1), ("inactive", 1)])
    def test_accounting_that_does_not_work_is_told(self, monkeypatch, state, remarks):
        monkeypatch.setattr(slurm, "Capture", lambda *_: SimpleNamespace(out=f"{state}\n".encode()))
        told = slurm.judge_accounting(None)
        assert len(told) == remarks and not [line for line in told if f"is {state}, see" not in line]

    GUESTS = [{"name": "head", "role": "head", "power": "on", "ready": True},
              {"name": "n1", "role": "compute", "power": "on", "ready": True},
              {"name": "n2", "role": "compute", "power": "dark", "ready": False}]

    def test_a_guest_that_boots_is_waited_for_and_a_dark_one_told(self):
        booting = [self.GUESTS[0], self.GUESTS[1] | {"ready": False}, self.GUESTS[2]]
        assert slurm.judge_boot(booting) == (["n1 is still booting"], ["n2 is dark, see `pmtwin events`"])
        assert slurm.judge_boot(self.GUESTS) == ([], ["n2 is dark, see `pmtwin events`"])

    def test_one_that_has_booted_must_serve_in_slurm(self):
        known = {"n1": slurm.NodeState("n1", "down", "", "none")}
        assert slurm.judge_slurm(known, self.GUESTS, ["x"]) == (["n1 is down in Slurm"], ["x"])
        known["n1"].state = "idle"
        assert slurm.judge_slurm(known, self.GUESTS, []) == ([], [])

    def test_a_plain_twin_is_up_without_slurm(self, monkeypatch, tmp_path):
        state = State(tmp_path / "twin")
        state.create()
        state.save(Shape(plain=True).settings())
        monkeypatch.setattr(slurm, "status", lambda state: self.GUESTS)
        monkeypatch.setattr(slurm, "nodes", lambda state: pytest.fail("Slurm was asked"))
        assert slurm.wait_ready(state, Progress(quiet=True), 1, None) == ["n2 is dark, see `pmtwin events`"]

    @pytest.mark.parametrize("aborts, ran, again", [(1, False, True), (2, False, True), (3, False, False), (1, True, False)])
    def test_an_emulator_that_aborts_before_its_guest_runs_is_started_again(self, tmp_path, aborts, ran, again):
        guest = Guest(SimpleNamespace(name="n1", role="compute"), None, None, tmp_path, None, EventLog(tmp_path / "events"))
        guest.reason, guest.aborts, guest.ran = "QEMU failed with code -6: msix.c", aborts, ran
        guest.power_on()
        guest._after(0)
        assert (guest.wanted.is_set(), guest.cold) == (again, True)


class TestShape:
    @pytest.fixture
    def state(self, tmp_path):
        state = State(tmp_path / "twin")
        state.create()
        state.save({**Shape("bookworm", 3, 2, ("mpich",)).settings(), "image": "x"})
        return state

    def asked(self, state, *words):
        return wanted(cli.build_parser().parse_args(["up", *words]), state)

    def test_a_new_twin(self, tmp_path):
        assert self.asked(State(tmp_path / "none")) == Shape("trixie", 2, 1, ())

    def test_the_next_up_makes_the_same(self, state):
        assert self.asked(state) == saved(state) == Shape("bookworm", 3, 2, ("mpich",))

    def test_a_twin_of_an_earlier_version(self, state):
        state.save({"suite": "trixie", "nodes": 1, "image": "x"})
        assert saved(state) == Shape("trixie", 1, 1, ())

    def test_nodes_and_packages_can_change(self, state):
        assert self.asked(state, "--nodes", "1", "--packages", "") == Shape("bookworm", 1, 2, ())

    def test_kernel_options_stay_until_others_are_given(self, state):
        given = self.asked(state, "--kernel-options", "lsm=apparmor  audit=1")
        assert given.kernel_options == ("lsm=apparmor", "audit=1") and given.image == saved(state).image
        state.save(given.settings())
        assert self.asked(state) == given == saved(state)
        assert not self.asked(state, "--kernel-options", "").kernel_options and not self.asked(state, "--fresh").kernel_options

    @pytest.mark.parametrize("text", ["pmtwin.role=head", "quiet memmap=1G", "init=/bin/sh", "lsm=\x1b"])
    def test_kernel_options_that_are_the_twins_own(self, text):
        with pytest.raises(UsageError, match="cannot be among the kernel's options: pmtwin sets console, "):
            qemu.kernel_options(text)

    def test_kernel_options_replace_those_of_the_same_names_on_compute_nodes(self, tmp_path):
        member = SimpleNamespace(name="n1", role="compute", address="10.77.0.11")
        node = hardware.ComputeNode(tmp_path, 1, ("lsm=apparmor", "audit=1"))
        words = qemu.kernel_command_line(member, node)
        assert words[-2:] == ["lsm=apparmor", "audit=1"] and not {"lsm=yama", "audit=0"} & {*words}
        assert {"lsm=yama", "audit=0"} < {*qemu.kernel_command_line(member, hardware.HeadNode())}

    def test_cores_and_suite_stay(self, state):
        with pytest.raises(UsageError, match="has sockets of 2 cores, not 1"):
            self.asked(state, "--cores", "1")
        with pytest.raises(UsageError, match="runs bookworm, not trixie"):
            self.asked(state, "--suite", "trixie")

    def test_fresh_starts_from_the_defaults(self, state):
        assert self.asked(state, "--fresh", "--cores", "4") == Shape("bookworm", 2, 4, ())

    def test_plain_stays_and_slurm_stays(self, state, tmp_path):
        with pytest.raises(UsageError, match="came with Slurm; use another --dir, or --fresh"):
            self.asked(state, "--plain")
        assert self.asked(state, "--plain", "--fresh").plain
        plain = self.asked(State(tmp_path / "none"), "--plain")
        assert plain.image.offered and not saved(state).image.offered
        state.save(plain.settings())
        assert self.asked(state).plain and not self.asked(state, "--fresh").plain

    def test_accounting_stays_until_it_is_switched_off(self, state):
        switched_on = self.asked(state, "--accounting")
        assert switched_on == Shape("bookworm", 3, 2, ("mpich",), accounting=True) and switched_on.image.accounting
        state.save(switched_on.settings())
        assert self.asked(state) == saved(state) == switched_on
        assert not self.asked(state, "--no-accounting").accounting and not self.asked(state, "--fresh").accounting

    def test_cores_reach_the_machine(self, tmp_path):
        arguments = hardware.ComputeNode(tmp_path, 2).qemu_args()
        assert "4,sockets=2,cores=2,threads=1" in arguments
        with pytest.raises(hardware.NodeError, match="another topology"):
            hardware.ComputeNode(tmp_path, 1)


class TestCommandLine:
    @pytest.mark.parametrize("argv, words", [
        (["frobnicate"], "invalid choice"),
        ([], "required"),
        (["up", "--nodes", "many"], "invalid int value"),
        (["up", "--nodes", "0"], "cannot make 0 compute nodes"),
        (["up", "--cores", "0"], "cannot make sockets of 0 cores"),
        (["up", "--packages", "hpcc=1.5"], "no name of a Debian package: 'hpcc=1.5'"),
        (["up", "--suite", "sarge"], "no suite 'sarge'"),
        (["up", "--plain", "--accounting"], "plain guests have no Slurm that could account for jobs"),
        (["build", "--plain", "--accounting"], "leave out --plain or --accounting"),
        (["exec", "n1"], "needs a command"),
        (["run", "--user", "root", "--", "id"], "no user 'root'"),
    ])
    def test_usage_errors(self, argv, words, capsys, monkeypatch, tmp_path):
        monkeypatch.setenv("PMTWIN_DIR", str(tmp_path / "none"))
        assert cli.main(argv) == 2
        message = capsys.readouterr().err
        assert words in message and message.startswith("pmtwin: ") and message.count("\n") == 1

    @pytest.mark.parametrize("argv, code", [(["status"], 1), (["down"], 1), (["exec", "n1", "--", "true"], 125)])
    def test_no_twin_yet(self, argv, code, capsys, monkeypatch, tmp_path):
        monkeypatch.setenv("PMTWIN_DIR", str(tmp_path / "none"))
        assert cli.main(argv) == code
        assert "there is no twin in" in capsys.readouterr().err
