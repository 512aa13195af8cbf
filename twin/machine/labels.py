"""An empty namespace label area, as on a DIMM that was in App Direct before.

Without index blocks the kernel takes a region to have no labels and makes no namespaces in it.
UEFI 2.8, 13.19, labels of version 1.2; `create -goal` of ipmctl writes the same bytes.
"""
import struct

from . import mailbox

SIGNATURE = b"NAMESPACE_INDEX\0"
BLOCK = 256                     # size of an index block and of a label
LABEL_SIZE_256 = 1
MAJOR, MINOR = 1, 2
CHECKSUM_AT = 64


def fletcher64(data: bytes) -> int:
    """The checksum of index blocks, and of interleave sets: over little-endian 32-bit words."""
    low = high = 0
    for word, in struct.iter_unpack("<I", data):
        low = (low + word) & 0xFFFFFFFF
        high = (high + low) & 0xFFFFFFFF
    return high << 32 | low


def _index(sequence: int, own: int, other: int) -> bytes:
    """An index block, at offset `own`, in which every slot is free."""
    slots = (mailbox.PCD_SIZE - 2 * BLOCK) // BLOCK
    head = SIGNATURE + struct.pack("<3xBIQQQQIHHQ", LABEL_SIZE_256, sequence, own, BLOCK, other,
                                   2 * BLOCK, slots, MAJOR, MINOR, 0)
    free = b"\xff" * (-(-slots // 64) * 8)
    block = bytearray((head + free).ljust(BLOCK, b"\0"))
    struct.pack_into("<Q", block, CHECKSUM_AT, fletcher64(block))
    return bytes(block)


def empty_area() -> bytes:
    """The whole label area: two index blocks, the second one current, and no label."""
    blocks = _index(1, 0, BLOCK) + _index(2, BLOCK, 0)
    return blocks.ljust(mailbox.PCD_SIZE, b"\0")
