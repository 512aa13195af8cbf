"""The node's memory image: one sparse file with its DRAM, its PMem media and its DIMM mailboxes.

QEMU maps it with share=on, so the next POST sees all that the guest has written.
"""
import ctypes
import errno
import os
from pathlib import Path

from .topology import Range, Topology

FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE = 1, 2
ZEROS = bytes(1 << 20)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]


def _punch(fd: int, offset: int, size: int) -> bool:
    """Give a range of a file back to the file system; False where that is not supported."""
    if _libc.fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, offset, size) == 0:
        return True
    code = ctypes.get_errno()
    if code == errno.EOPNOTSUPP:
        return False
    raise OSError(code, os.strerror(code))


class Image:
    """Reads and writes the image by guest physical address.  Use it as a context manager."""

    def __init__(self, path: Path, topology: Topology):
        self._topology = topology
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if os.fstat(self._fd).st_size != topology.ram_size:
            os.ftruncate(self._fd, topology.ram_size)

    def __enter__(self) -> "Image":
        return self

    def __exit__(self, *_exc) -> None:
        os.close(self._fd)

    def read(self, address: int, size: int) -> bytes:
        return os.pread(self._fd, size, self._topology.image_offset(address))

    def write(self, address: int, data: bytes) -> None:
        """Write data that differ, so that an unchanged area costs no disk and no write-back."""
        if self.read(address, len(data)) != data:
            os.pwrite(self._fd, data, self._topology.image_offset(address))

    def clear(self, area: Range) -> None:
        """Make a range read as zeros, and give its disk space back where the file system can."""
        offset = self._topology.image_offset(area.base)
        if _punch(self._fd, offset, area.size):
            return
        for at in range(offset, offset + area.size, len(ZEROS)):
            os.pwrite(self._fd, ZEROS[:offset + area.size - at], at)

    def sync(self) -> None:
        os.fdatasync(self._fd)
