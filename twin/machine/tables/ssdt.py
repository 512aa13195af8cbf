"""SSDT: an NVDIMM root device with one device for each DIMM; its `_DSM` answers the kernel.

It speaks Intel's NVDIMM family (UUID 4309ac30-0d11-11e4-9191-0800200c9a66; Intel's "DSM Interface",
revision 2.0): namespace labels by functions 4 to 6, firmware commands by function 9, all from the
DIMM's mailbox (mailbox.py), which lies in RAM that the kernel does not use.
"""
import struct

from .. import acpi, mailbox
from ..aml import (ARG, LOCAL, ONE, ZERO, add, and_, both, buffer, byte_field, call, concatenate,
                   dereference, device, dword_field, either, equal, field, greater, if_, index,
                   integer, memory_region, method, middle, multiply, name, named, or_, return_,
                   scope, shift_left, shift_right, store, string, subtract)
from ..topology import Dimm, Topology

QUERY, LABEL_SIZE, GET_LABELS, SET_LABELS, FIRMWARE = 0, 4, 5, 6, 9
FUNCTIONS = sum(1 << n for n in (QUERY, LABEL_SIZE, GET_LABELS, SET_LABELS, FIRMWARE))
LABEL_TRANSFER = 4096           # bytes of labels in one call, at most
HEADER = 8                      # function 9's input: opcode, length, then 128 bytes of data

# names in the SSDT: a method to read, one to write, each for one size
READ_REPLY, READ_LABELS, READ_STATUS = "RD80", "RD1K", "RD04"
WRITE_CHUNK, WRITE_LABELS = "WR40", "WR1K"
DSM, LABELS, COMMAND = "NDSM", "NLBL", "NCMD"

STATUS_OK = buffer(struct.pack("<I", 0))


def _window(size: int) -> bytes:
    """Inside a method: memory at its first argument, as field FLD_."""
    return memory_region("OPR_", ARG[0], size) + field("OPR_", "FLD_", size * 8)


def _reader(method_name: str, size: int) -> bytes:
    return method(method_name, 1, _window(size), store(name("FLD_"), LOCAL[0]), return_(LOCAL[0]))


def _writer(method_name: str, size: int) -> bytes:
    return method(method_name, 2, _window(size), store(ARG[1], name("FLD_")))


def _fail(status: int) -> bytes:
    return return_(buffer(struct.pack("<I", status)))


def _labels() -> bytes:
    """NLBL(mailbox, function, input): input is offset, length, and for function 6 the data.

    A transfer reads the 4 KiB from its offset on.  To write, it replaces their front and writes
    them back.
    """
    base, function, data = ARG[:3]
    at, old, offset, length = LOCAL[0], LOCAL[1], name("LOFF"), name("LLEN")
    rest = middle(old, length, subtract(integer(LABEL_TRANSFER), length))
    return method(
        LABELS, 3,
        dword_field(data, 0, "LOFF"), dword_field(data, 4, "LLEN"),
        if_(either(greater(length, integer(LABEL_TRANSFER)),
                   greater(add(offset, length), integer(mailbox.PCD_SIZE))),
            _fail(mailbox.DSM_BAD_INPUT)),
        add(add(base, integer(mailbox.LABELS)), offset, at),
        store(call(READ_LABELS, at), old),
        if_(equal(function, integer(GET_LABELS)),
            return_(concatenate(STATUS_OK, middle(old, ZERO, length)))),
        call(WRITE_LABELS, at, concatenate(middle(data, integer(8), length), rest)),
        return_(STATUS_OK))


def _reply(data: bytes) -> bytes:
    """Function 9's output: status, length, data."""
    return return_(concatenate(buffer(struct.pack("<II", 0, mailbox.REPLY_SIZE)), data))


def _firmware_error(fis: bytes) -> bytes:
    """Function 9's output for an error of the DIMM's firmware; the error's code is a term."""
    status = or_(integer(mailbox.DSM_FIRMWARE_ERROR),
                 shift_left(fis, integer(mailbox.DSM_FIS_SHIFT)))
    return (store(buffer(size=HEADER + mailbox.REPLY_SIZE), LOCAL[4])
            + dword_field(LOCAL[4], 0, "FSTA") + store(status, name("FSTA")) + return_(LOCAL[4]))


def _config_data(opcode: bytes, base: bytes, data: bytes) -> list[bytes]:
    """Get and Set Platform Config Data, in chunks of 128 and 64 bytes."""
    at, part, option, offset = LOCAL[2], name("PART"), name("POPT"), name("POFS")
    end = integer(mailbox.PCD_SIZE)
    getting = equal(opcode, integer(mailbox.OP_GET_ADMIN))
    new = middle(data, integer(HEADER + mailbox.SET_DATA_AT), integer(mailbox.SET_DATA_SIZE))
    size = struct.pack("<I", mailbox.PCD_SIZE)
    return [
        byte_field(data, HEADER, "PART"), byte_field(data, HEADER + 1, "POPT"),
        dword_field(data, HEADER + 2, "POFS"),
        # partition 1 or 2, and the chunk within it: else a bad parameter
        if_(either(equal(part, ZERO), greater(part, integer(2))),
            return_(call("NERR", integer(mailbox.FIS_BAD_PARAMETER)))),
        if_(both(getting, and_(option, integer(mailbox.PCD_OPTION_SIZE))),
            _reply(buffer(size, mailbox.REPLY_SIZE))),
        if_(greater(add(offset, integer(mailbox.SET_DATA_SIZE)), end),
            return_(call("NERR", integer(mailbox.FIS_BAD_PARAMETER)))),
        add(add(base, multiply(subtract(part, ONE), end)), offset, at),
        if_(getting,
            if_(greater(add(offset, integer(mailbox.REPLY_SIZE)), end),
                return_(call("NERR", integer(mailbox.FIS_BAD_PARAMETER)))),
            _reply(call(READ_REPLY, at))),
        call(WRITE_CHUNK, at, new),
        _reply(buffer(size=mailbox.REPLY_SIZE)),
    ]


def _slot(opcode: bytes, subop: bytes, data: bytes, target: bytes) -> bytes:
    """Terms that leave the slot of a command in `target`; see mailbox.slot()."""
    paged = both(equal(opcode, integer(mailbox.OP_GET_LOG)),
                 equal(subop, integer(mailbox.SUB_MEMORY_INFO)))
    page = and_(dereference(index(data, integer(HEADER))), integer(0xF))
    return (if_(paged, store(add(integer(mailbox.PAGE_SLOT), page), subop))
            + or_(shift_left(and_(opcode, integer(0xF)), integer(8)), subop, target))


def _command() -> bytes:
    """NCMD(mailbox, input): one firmware command."""
    base, opcode, subop, slot, data = ARG[0], LOCAL[0], LOCAL[1], LOCAL[3], LOCAL[7]
    is_config = both(equal(subop, integer(mailbox.SUB_PCD)),
                     either(equal(opcode, integer(mailbox.OP_GET_ADMIN)),
                            equal(opcode, integer(mailbox.OP_SET_ADMIN))))
    status_at = add(add(base, integer(mailbox.STATUS)), and_(slot, integer(0xFFC)))
    status_byte = and_(shift_right(call(READ_STATUS, status_at),
                                   multiply(and_(slot, integer(3)), integer(8))), integer(0xFF))
    reply_at = add(add(base, integer(mailbox.REPLIES)),
                   multiply(slot, integer(mailbox.REPLY_SIZE)))
    return method(
        COMMAND, 2,
        # a short input is as good as one padded with zeros
        concatenate(ARG[1], buffer(size=HEADER + mailbox.REPLY_SIZE), data),
        store(dereference(index(data, ZERO)), opcode),
        store(dereference(index(data, ONE)), subop),
        if_(is_config, *_config_data(opcode, base, data)),
        _slot(opcode, subop, data, slot),
        store(status_byte, LOCAL[5]),
        if_(LOCAL[5], return_(call("NERR", LOCAL[5]))),
        _reply(call(READ_REPLY, reply_at)))


def _dispatch() -> bytes:
    """NDSM(mailbox, function, input)."""
    base, function, data = ARG[:3]
    is_labels = either(equal(function, integer(GET_LABELS)), equal(function, integer(SET_LABELS)))
    return method(
        DSM, 3,
        if_(is_labels, return_(call(LABELS, base, function, data))),
        if_(equal(function, integer(FIRMWARE)), return_(call(COMMAND, base, data))),
        _fail(mailbox.DSM_NOT_SUPPORTED))


def _dimm(dimm: Dimm) -> bytes:
    """_DSM(uuid, revision, function, package): functions 0 and 4 have an empty package."""
    function, package = ARG[2], ARG[3]
    sizes = struct.pack("<III", 0, mailbox.PCD_SIZE, LABEL_TRANSFER)
    return device(
        f"NV{dimm.index:02X}", named("_ADR", integer(dimm.handle)),
        method("_DSM", 4,
               if_(equal(function, integer(QUERY)),
                   return_(buffer(struct.pack("<H", FUNCTIONS)))),
               if_(equal(function, integer(LABEL_SIZE)), return_(buffer(sizes))),
               store(dereference(index(package, ZERO)), LOCAL[0]),
               return_(call(DSM, integer(dimm.mailbox), function, LOCAL[0]))))


def ssdt(topology: Topology, _state) -> bytes:
    root = device(
        "NVDR", named("_HID", string("ACPI0012")),
        _reader(READ_REPLY, mailbox.REPLY_SIZE), _reader(READ_LABELS, LABEL_TRANSFER),
        _reader(READ_STATUS, 4), _writer(WRITE_CHUNK, mailbox.SET_DATA_SIZE),
        _writer(WRITE_LABELS, LABEL_TRANSFER), method("NERR", 1, _firmware_error(ARG[0])),
        _labels(), _command(), _dispatch(), *map(_dimm, topology.dimms))
    return acpi.table(b"SSDT", 2, scope(b"\\_SB_", root))
