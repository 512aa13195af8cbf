"""The images in the cache: who holds one, and what `pmtwin gc` takes away."""
import argparse
import fcntl
import json
import os
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "twin"))

from cluster import cli, paths, supervisor  # noqa: E402
from cluster.errors import TwinError  # noqa: E402
from cluster.progress import Progress  # noqa: E402
from cluster.state import State  # noqa: E402
from image import build, cache, recipe  # noqa: E402

OLD, OLDER = "0123456789abcdef", "fedcba9876543210"


class Cache:
    """A cache with images of one file each."""

    def __init__(self, directory: Path):
        self.directory = directory / "slurm-pmem"
        self.age = 0

    def make(self, path: str, asked: dict | None = None) -> Path:
        """Each one older than the one before."""
        made = self.directory / path
        made.mkdir(parents=True)
        (made / "base.ext4").write_bytes(b"x" * 8192)
        if asked is not None:
            (made / build.ASKED).write_text(json.dumps(asked))
        self.age += 10
        os.utime(made, (1_000_000 - self.age, 1_000_000 - self.age))
        return made

    def image(self, suite: str, digest: str, asked: dict | None = None) -> Path:
        return self.make(f"images/{suite}-{digest}", asked)

    def current(self, suite: str, *more: str, plain: bool = False) -> Path:
        return self.image(suite, recipe.digest(recipe.suite(suite, more, plain)), {"packages": more, "plain": plain})


@pytest.fixture
def filled(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Cache(tmp_path)


def gc(*words: str) -> int:
    return cli.main(["gc", *words])


def test_an_empty_cache(filled, capsys):
    assert gc() == 0
    assert capsys.readouterr().out == "freed 0 B\n"


def test_what_recipes_make_stays(filled):
    kept = [filled.image("trixie", OLD), filled.current("trixie"), filled.current("trixie", "hpcc", "mpich"),
            filled.current("trixie", plain=True)]
    gone = filled.image("trixie", OLDER)
    assert gc() == 0
    assert all(path.exists() for path in kept) and not gone.exists()


def test_the_newest_of_each_release_stays(filled):
    kept = [filled.image("trixie", OLD), filled.image("bookworm", OLD), filled.image("sarge", OLD)]
    gone = [filled.image("trixie", OLDER), filled.image("bookworm", OLDER), filled.image("sarge", OLDER)]
    assert gc() == 0
    assert all(path.exists() for path in kept) and not any(path.exists() for path in gone)


def test_one_release_only(filled):
    for suite in ("trixie", "bookworm"):
        filled.image(suite, OLD)
        filled.image(suite, OLDER)
    assert gc("--suite", "bookworm") == 0
    assert (paths.images() / f"trixie-{OLDER}").exists() and not (paths.images() / f"bookworm-{OLDER}").exists()


def test_an_image_in_use_stays(filled, capsys):
    filled.current("trixie")
    used = filled.image("trixie", OLD)
    with cache.held(used) as there:
        assert there and gc() == 0
    assert used.exists() and capsys.readouterr().out == f"in use, stays: {used}\nfreed 0 B\n"
    assert gc() == 0 and not used.exists()


def supervise(directory: Path, image: Path) -> None:
    state = State(directory)
    state.create()
    supervisor.main(state, build.Image(image))


def test_a_supervisor_holds_its_image(filled, monkeypatch, tmp_path):
    filled.current("trixie")
    used = filled.image("trixie", OLD)
    monkeypatch.setattr(supervisor, "Supervisor", lambda state, image: argparse.Namespace(run=gc))
    monkeypatch.setattr(supervisor.asyncio, "run", lambda result: None)
    with pytest.raises(SystemExit):
        supervise(tmp_path / "twin", used)
    assert used.exists() and gc() == 0 and not used.exists()
    with pytest.raises(TwinError, match="is gone; `pmtwin up` builds it again"):
        supervise(tmp_path / "twin", used)


def test_programs_go_with_their_image(filled):
    kept, gone = filled.current("trixie"), filled.image("trixie", OLD)
    programs = [filled.make(f"build-{path.name}") for path in (kept, gone)] + [filled.make(f"build-trixie-{OLDER}")]
    assert gc() == 0
    assert [path.exists() for path in programs] == [True, False, False]


def test_a_build_that_runs_is_left_alone(filled):
    half, other = filled.make("images/.trixie-k2j_x9aa"), filled.make("images/.bookworm-aaaaaaaa")
    programs = filled.make(f"build-trixie-{OLD}")
    with build.lock(paths.images() / "trixie.lock", Progress(quiet=True)):
        assert gc() == 0
        assert half.exists() and programs.exists() and not other.exists()
    assert gc() == 0 and not half.exists() and not programs.exists()


def test_other_files_stay(filled):
    filled.image("trixie", OLD)
    others = [filled.make("images/mine"), filled.make("elsewhere"), filled.make("build")]
    (paths.images() / "trixie.log").touch()
    assert gc() == 0
    assert all(path.exists() for path in others) and (paths.images() / "trixie.log").exists()


def test_a_dry_run_says_the_same_and_removes_nothing(filled, capsys):
    filled.current("trixie")
    gone = filled.image("trixie", OLD)
    filled.make(f"build-{gone.name}")
    assert gc("--dry-run") == 0
    size = cache.size_bytes(gone)
    assert size >= 2 * 8192 and gone.exists() and cache.programs_of(gone).exists()
    assert capsys.readouterr().out == f"would remove {gone}, {size / 1024:.1f} KiB\nwould free {size / 1024:.1f} KiB\n"
    assert gc() == 0
    assert capsys.readouterr().out == f"removed {gone}, {size / 1024:.1f} KiB\nfreed {size / 1024:.1f} KiB\n"


def test_what_was_removed_while_one_waited_is_built_again(filled, monkeypatch):
    """Another took the directory away between looking and locking, and made one of the same name."""
    stale, calls = filled.current("trixie"), []

    def ensure(which, progress):
        calls.append(which)
        return build.Image(stale)

    def flock(descriptor, how):
        if len(calls) == 1:
            stale.rename(stale.with_name("away"))
            if not stale.exists():
                stale.mkdir()

    monkeypatch.setattr(build, "ensure", ensure)
    monkeypatch.setattr(fcntl, "flock", flock)
    with cache.image(recipe.suite("trixie"), Progress(quiet=True)) as image:
        assert image.directory == stale and len(calls) == 2


def test_a_build_says_what_it_was_asked_for(filled, monkeypatch):
    monkeypatch.setattr(build, "mmdebstrap", lambda which, out, progress: None)
    paths.images().mkdir(parents=True)
    for plain in (False, True):
        built = build.build(recipe.suite("trixie", ("mpich", "systemd"), plain), Progress(quiet=True))
        assert json.loads((built.directory / build.ASKED).read_text()) == {"packages": ["mpich"], "plain": plain}
        assert cache.is_of_now(built.directory)
