"""What a byte written to persistent memory costs, in bytes that are read from there: by a site profile, or as paper 004 found.

The cost of a byte is the time that it takes longer than in DRAM, at the peak bandwidths of a socket.
"""
from __future__ import annotations

from pathlib import Path
from statistics import median

from pmprofile.records import ProfileError
from siteprofile.profiles import SiteProfile, SiteProfileError, read

WRITES = 3.0        # paper 004: written arrays belong in DRAM; three ranks within 1.1 % of the best
NAMES = ("pmem-read", "pmem-write", "dram-read", "dram-write")


def value(profile: SiteProfile, name: str) -> float:
    """The median of the sockets', in bytes per second."""
    found = [m.value for m in profile.measures if m.name == name and m.value > 0]
    if not found:
        raise ProfileError(f"'{profile.path}' has no '{name}', by which writes would be weighed; leave --site-profile out")
    return median(found)


def writes(path: Path | None) -> float:
    """At least 1: what is written is accessed, too."""
    if path is None:
        return WRITES
    try:
        profile = read(path)
    except SiteProfileError as error:
        raise ProfileError(str(error)) from None
    pmem_read, pmem_write, dram_read, dram_write = (value(profile, name) for name in NAMES)
    longer_read = 1 / pmem_read - 1 / dram_read
    if longer_read <= 0:
        raise ProfileError(f"'{path}': PMem is read as fast as DRAM there: nothing can be weighed by it")
    return max(1.0, (1 / pmem_write - 1 / dram_write) / longer_read)
