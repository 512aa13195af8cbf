"""The places where sequences run, by name; each gives a site that is fresh."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sites import BenchSite
from twin_site import TwinSite


@contextmanager
def bench() -> Iterator[BenchSite]:
    """A new one for each sequence."""
    with tempfile.TemporaryDirectory(prefix="pm-sequence.") as folder:
        site = BenchSite(Path(folder) / "bench")
        try:
            yield site
        finally:
            site.down()


@contextmanager
def twin() -> Iterator[TwinSite]:
    """The one that is up, which an earlier sequence may have left in any state."""
    site = TwinSite()
    site.tidy()
    yield site


PLACES = {"bench": bench, "twin": twin}
