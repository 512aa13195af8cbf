"""The places where sequences run, by name; each gives a site that is fresh."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from controllers import ControllersSite
from mixed import MixedSite
from power_saving import PowerSite
from preemption import PreemptionSite
from sites import BenchSite
from twin_site import TwinSite


def fresh(kind: type[BenchSite]) -> Callable[[], AbstractContextManager[BenchSite]]:
    """A new bench for each sequence."""
    @contextmanager
    def bench() -> Iterator[BenchSite]:
        with tempfile.TemporaryDirectory(prefix="pm-sequence.") as folder:
            site = kind(Path(folder) / "bench")
            try:
                yield site
            finally:
                site.down()
    return bench


@contextmanager
def twin() -> Iterator[TwinSite]:
    """The one that is up, which an earlier sequence may have left in any state."""
    site = TwinSite()
    site.tidy()
    yield site


BENCHES = {kind.place: fresh(kind) for kind in (BenchSite, PowerSite, PreemptionSite, ControllersSite, MixedSite)}
PLACES = BENCHES | {"twin": twin}
