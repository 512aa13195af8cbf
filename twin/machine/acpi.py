"""Header and checksum of ACPI tables; the DIMMs' configuration data has the same."""
import struct

HEADER = struct.Struct("<4sIBB6s8sI4sI")
CHECKSUM_AT = 9
OEM, OEM_TABLE, CREATOR = b"PMTWIN", b"PMTWIN  ", b"PMTW"


def checksummed(data: bytes, at: int) -> bytes:
    """The same bytes with the one at `at` set so that all of them sum to 0."""
    table = bytearray(data)
    table[at] = 0
    table[at] = -sum(table) & 0xFF
    return bytes(table)


def table(signature: bytes, revision: int, body: bytes) -> bytes:
    """A table with the standard 36-byte header."""
    header = HEADER.pack(signature, HEADER.size + len(body), revision, 0, OEM, OEM_TABLE, 1,
                         CREATOR, 1)
    return checksummed(header + body, CHECKSUM_AT)


def is_table(data: bytes, signature: bytes) -> bool:
    """Whether `data` is one whole table with that signature and a good checksum."""
    return (len(data) >= HEADER.size and data[:4] == signature
            and int.from_bytes(data[4:8], "little") == len(data) and sum(data) & 0xFF == 0)
