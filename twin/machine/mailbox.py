"""The layout of a DIMM's mailbox: the memory behind its firmware commands.

Three parties share it: POST writes it, the guest's `_DSM` (tables/ssdt.py) answers the kernel from
it, and on the bench tests/machine/shim/pmshim.c answers ipmctl from it.  Offsets are from
`Dimm.mailbox`:

    CONFIG   PCD partition 1: configuration data (pcd.py), 128 KiB
    LABELS   PCD partition 2: namespace labels, 128 KiB
    REPLIES  a 128-byte reply for each slot, that is for each firmware command
    STATUS   a byte for each slot: 0, or the error that the command ends with

A slot is ((opcode & 0xF) << 8 | sub-opcode); Get Log / Memory Info, which has pages, uses
sub-opcode 0x30 + page.  Get and Set Platform Config Data go to CONFIG and LABELS instead.
"""
PCD_SIZE = 0x20000
CONFIG, LABELS, REPLIES, STATUS = 0, PCD_SIZE, 2 * PCD_SIZE, 0xC0000
REPLY_SIZE = 128
SLOTS = 0x1000

# Set Platform Config Data carries its 64 bytes of data at offset 64 of the 128-byte input.
SET_DATA_AT, SET_DATA_SIZE = 64, 64

# firmware commands: opcodes and sub-opcodes (ipmctl, NvmDimmPassThru.h)
OP_GET_ADMIN, OP_SET_ADMIN, OP_GET_LOG = 0x06, 0x07, 0x08
SUB_PCD, SUB_MEMORY_INFO = 0x01, 0x03
PCD_OPTION_SIZE = 2             # Get Platform Config Data: give the partition's size, not its data
PAGE_SLOT = 0x30

# errors of the DIMM's firmware (ipmctl, FwUtility.h), and how a _DSM status carries one
FIS_OK, FIS_BAD_PARAMETER, FIS_UNSUPPORTED = 0x00, 0x01, 0x04
DSM_NOT_SUPPORTED, DSM_BAD_INPUT, DSM_FIRMWARE_ERROR = 1, 3, 7
DSM_FIS_SHIFT = 16

assert REPLIES + SLOTS * REPLY_SIZE == STATUS


def slot(opcode: int, subop: int, page: int | None = None) -> int:
    """The slot of a command, and of one page of a command that has pages."""
    return (opcode & 0xF) << 8 | (subop if page is None else PAGE_SLOT + page)


def pack_replies(replies: dict[int, bytes]) -> tuple[bytes, bytes]:
    """REPLIES and STATUS for these answers by slot; every other command is unsupported."""
    data, status = bytearray(SLOTS * REPLY_SIZE), bytearray([FIS_UNSUPPORTED]) * SLOTS
    for number, reply in replies.items():
        if len(reply) > REPLY_SIZE:
            raise ValueError(f"reply {number:#x}: {len(reply)} bytes, at most {REPLY_SIZE} fit")
        data[number * REPLY_SIZE:number * REPLY_SIZE + len(reply)] = reply
        status[number] = FIS_OK
    return bytes(data), bytes(status)
