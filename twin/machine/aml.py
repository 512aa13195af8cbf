"""ACPI Machine Language: an encoder for the terms that the SSDT uses.  ACPI 6.5, chapter 20.

Every function gives the bytes of one term; terms nest by passing bytes.
"""

ZERO, ONE, NOWHERE = b"\x00", b"\x01", b"\x00"
LOCAL = tuple(bytes([0x60 + i]) for i in range(8))
ARG = tuple(bytes([0x68 + i]) for i in range(7))
SYSTEM_MEMORY, DWORD_ACCESS, SERIALIZED = 0, 3, 8


def _package(*parts: bytes) -> bytes:
    """The parts behind their package length, which counts its own bytes."""
    body = b"".join(parts)
    if len(body) + 1 < 1 << 6:
        return bytes([len(body) + 1]) + body
    extra = next(n for n in (1, 2, 3) if len(body) + 1 + n < 1 << (4 + 8 * n))
    return _split_length(len(body) + 1 + extra, extra) + body


def _split_length(value: int, extra: int) -> bytes:
    """A length in `extra` + 1 bytes: 4 bits in the first one, 8 in each other."""
    return bytes([extra << 6 | value & 0xF]) + (value >> 4).to_bytes(extra, "little")


def _field_length(bits: int) -> bytes:
    extra = next(n for n in (0, 1, 2, 3) if bits < (1 << 6 if n == 0 else 1 << (4 + 8 * n)))
    return bytes([bits]) if extra == 0 else _split_length(bits, extra)


def name(segment: str) -> bytes:
    assert len(segment) == 4, segment
    return segment.encode()


def integer(value: int) -> bytes:
    if value < 2:
        return bytes([value])
    for prefix, size in ((b"\x0a", 1), (b"\x0b", 2), (b"\x0c", 4), (b"\x0e", 8)):
        if value < 1 << 8 * size:
            return prefix + value.to_bytes(size, "little")
    raise ValueError(f"integer {value:#x} needs more than 64 bits")


def string(text: str) -> bytes:
    return b"\x0d" + text.encode() + b"\0"


def buffer(data: bytes = b"", size: int | None = None) -> bytes:
    """A buffer of `size` bytes that begins with `data`."""
    return b"\x11" + _package(integer(len(data) if size is None else size), data)


# --- objects -------------------------------------------------------------------------------------
def scope(path: bytes, *terms: bytes) -> bytes:
    return b"\x10" + _package(path, *terms)


def device(segment: str, *terms: bytes) -> bytes:
    return b"\x5b\x82" + _package(name(segment), *terms)


def method(segment: str, arguments: int, *terms: bytes) -> bytes:
    return b"\x14" + _package(name(segment), bytes([arguments | SERIALIZED]), *terms)


def named(segment: str, value: bytes) -> bytes:
    return b"\x08" + name(segment) + value


def memory_region(segment: str, address: bytes, size: int) -> bytes:
    return b"\x5b\x80" + name(segment) + bytes([SYSTEM_MEMORY]) + address + integer(size)


def field(region: str, segment: str, bits: int) -> bytes:
    """One field over the first bits of a region."""
    return b"\x5b\x81" + _package(name(region), bytes([DWORD_ACCESS]), name(segment),
                                  _field_length(bits))


def byte_field(source: bytes, at: int, segment: str) -> bytes:
    return b"\x8c" + source + integer(at) + name(segment)


def dword_field(source: bytes, at: int, segment: str) -> bytes:
    return b"\x8a" + source + integer(at) + name(segment)


# --- statements ----------------------------------------------------------------------------------
def if_(condition: bytes, *terms: bytes) -> bytes:
    return b"\xa0" + _package(condition, *terms)


def return_(value: bytes) -> bytes:
    return b"\xa4" + value


def store(value: bytes, target: bytes) -> bytes:
    return b"\x70" + value + target


def call(segment: str, *arguments: bytes) -> bytes:
    return name(segment) + b"".join(arguments)


# --- expressions ---------------------------------------------------------------------------------
def add(a: bytes, b: bytes, target: bytes = NOWHERE) -> bytes:
    return b"\x72" + a + b + target


def concatenate(a: bytes, b: bytes, target: bytes = NOWHERE) -> bytes:
    return b"\x73" + a + b + target


def subtract(a: bytes, b: bytes, target: bytes = NOWHERE) -> bytes:
    return b"\x74" + a + b + target


def multiply(a: bytes, b: bytes, target: bytes = NOWHERE) -> bytes:
    return b"\x77" + a + b + target


def shift_left(a: bytes, b: bytes, target: bytes = NOWHERE) -> bytes:
    return b"\x79" + a + b + target


def shift_right(a: bytes, b: bytes, target: bytes = NOWHERE) -> bytes:
    return b"\x7a" + a + b + target


def and_(a: bytes, b: bytes, target: bytes = NOWHERE) -> bytes:
    return b"\x7b" + a + b + target


def or_(a: bytes, b: bytes, target: bytes = NOWHERE) -> bytes:
    return b"\x7d" + a + b + target


def dereference(reference: bytes) -> bytes:
    return b"\x83" + reference


def index(source: bytes, at: bytes) -> bytes:
    return b"\x88" + source + at + NOWHERE


def both(a: bytes, b: bytes) -> bytes:
    return b"\x90" + a + b


def either(a: bytes, b: bytes) -> bytes:
    return b"\x91" + a + b


def equal(a: bytes, b: bytes) -> bytes:
    return b"\x93" + a + b


def greater(a: bytes, b: bytes) -> bytes:
    return b"\x94" + a + b


def middle(source: bytes, at: bytes, length: bytes) -> bytes:
    return b"\x9e" + source + at + length + NOWHERE
