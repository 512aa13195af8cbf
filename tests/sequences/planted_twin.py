"""A twin of the programs of a tree, for as long as a planted bug is searched for.

The image is the cache's, made of other sources: `pmtwin up` lays the tree's own programs over it.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def up(tree: Path) -> Iterator[None]:
    """PMTWIN_DIR names it."""
    before = os.environ.get("PMTWIN_DIR")
    with tempfile.TemporaryDirectory(prefix="pm-planted-twin.") as folder:
        os.environ["PMTWIN_DIR"] = folder
        try:
            subprocess.run([tree / "twin/pmtwin", "up", "--nodes", "2", "--timeout", "600"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            yield
        finally:
            subprocess.run([tree / "twin/pmtwin", "down"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if before is None:
                del os.environ["PMTWIN_DIR"]
            else:
                os.environ["PMTWIN_DIR"] = before
