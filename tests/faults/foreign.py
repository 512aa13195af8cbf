"""Somebody's data on the emulated DIMMs of a node: a namespace's labels, and bytes of its media."""

import hashlib
import json
import random
import struct
import sys
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "twin"))
from machine import fakeroot, labels, mailbox, rules  # noqa: E402
from machine.image import Image  # noqa: E402
from machine.node import Node  # noqa: E402
from machine.topology import Range  # noqa: E402

MEDIA_BYTES = 1 << 20
NAME = b"somebodys-data"
PMEM_TYPE = uuid.UUID("66f0d379-b4f3-4074-ac43-0d3318b78cdb")
FREE_AT = 72                    # the bitmap of free slots in an index block


def sealed(block: bytes, checksum_at: int) -> bytes:
    """With its checksum, which is taken over the block with zeros in that place."""
    blank = block[:checksum_at] + bytes(8) + block[checksum_at + 8:]
    return blank[:checksum_at] + struct.pack("<Q", labels.fletcher64(blank)) + blank[checksum_at + 8:]


def label(cookie: int, members: int, position: int, share: int, ident: uuid.UUID) -> bytes:
    """A namespace label of version 1.2 (UEFI 2.8, 13.19) over the whole region, in slot 0."""
    head = struct.pack("<16s64sIHHQQQQIB3x16s16s88xQ", ident.bytes_le, NAME, 0, members, position,
                       cookie, 512, 0, share, 0, 0, PMEM_TYPE.bytes_le, bytes(16), 0)
    return sealed(head, len(head) - 8)


def area_with(one: bytes) -> bytes:
    """A label area in which slot 0 of both index blocks is taken."""
    area = bytearray(labels.empty_area())
    for at in (0, labels.BLOCK):
        block = bytearray(area[at:at + labels.BLOCK])
        block[FREE_AT] &= 0xFE
        area[at:at + labels.BLOCK] = sealed(bytes(block), labels.CHECKSUM_AT)
    area[2 * labels.BLOCK:2 * labels.BLOCK + len(one)] = one
    return bytes(area)


class Foreign:
    """One namespace a region, as `ndctl create-namespace` would have made it."""

    def __init__(self, directory: Path):
        self.node = Node(directory)
        self.topology, self.state = self.node.topology, self.node.state
        self.before: dict[str, str] = {}

    def image(self) -> Image:
        return Image(self.node.image_path, self.topology)

    def plant(self, chance: random.Random) -> None:
        with self.image() as image:
            for region, place in rules.region_ranges(self.topology, self.state):
                cookie = fakeroot.set_cookie(self.topology, region)
                ident = uuid.UUID(bytes=chance.randbytes(16))
                for position, handle in enumerate(region.members):
                    one = label(cookie, len(region.members), position, region.share, ident)
                    image.write(self.topology.by_handle(handle).mailbox + mailbox.LABELS,
                                area_with(one))
                for at in (place.base, place.end - MEDIA_BYTES):
                    image.write(at, chance.randbytes(MEDIA_BYTES))
            self.before = self.sums(image)

    def sums(self, image: Image) -> dict[str, str]:
        found = {f"labels of {dimm.name}": image.read(dimm.mailbox + mailbox.LABELS, mailbox.PCD_SIZE)
                 for dimm in self.topology.dimms}
        for region, place in rules.region_ranges(self.topology, self.state):
            for at in (place.base, place.end - MEDIA_BYTES):
                found[f"media of socket {region.socket} at {at:#x}"] = image.read(at, MEDIA_BYTES)
        return {what: hashlib.sha256(data).hexdigest() for what, data in found.items()}

    def changed(self) -> list[str]:
        with self.image() as image:
            now = self.sums(image)
        return [what for what, digest in self.before.items() if now[what] != digest]

    def remove(self) -> None:
        """Their owner takes them away, and blank label areas stay."""
        with self.image() as image:
            for dimm in self.topology.dimms:
                image.write(dimm.mailbox + mailbox.LABELS, labels.empty_area())
            for _, place in rules.region_ranges(self.topology, self.state):
                image.clear(Range(place.base, place.size))

    def listing(self) -> str:
        """As `ndctl list -N` shows them."""
        return json.dumps([{"dev": f"namespace{n}.0", "mode": "fsdax", "map": "dev",
                            "name": NAME.decode(), "size": place.size, "sector_size": 512,
                            "blockdev": f"pmem{n}", "align": 2097152, "numa_node": region.socket}
                           for n, (region, place) in enumerate(
                               rules.region_ranges(self.topology, self.state))]) + "\n"
