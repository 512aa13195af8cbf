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
def up(tree: Path) -> Iterator[dict[str, str]]:
    """The environment that names it."""
    with tempfile.TemporaryDirectory(prefix="pm-planted-twin.") as folder:
        environment = {"PMTWIN_DIR": folder}
        def pmtwin(*words: str) -> None:
            subprocess.run([tree / "twin/pmtwin", *words], env=os.environ | environment, check=True, text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            pmtwin("up", "--nodes", "2", "--timeout", "600")
            yield environment
        finally:
            pmtwin("down")
