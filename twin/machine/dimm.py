"""The firmware of a PMem DIMM: a fixed reply to each command that ipmctl sends.

Field layouts: ipmctl, DcpmPkg/driver/Core/NvmDimmPassThru.h.  The DIMM says that it is a 200 series
module with firmware interface specification 2.3: since its PM partition may then be any size, POST
gets RawCapacity minus the volatile part (see rules.py).
"""
import struct

from . import mailbox, pcd
from .faults import LOCKED, UNHEALTHY
from .state import DimmConfig
from .topology import Dimm, Topology

DEVICE, SUBSYSTEM_200_SERIES = 0x5141, 0x097B
INTERFACE_APP_DIRECT = 0x0301           # region format interface code: byte addressable
FIRMWARE_BCD = bytes((0x52, 0x13, 0x00, 0x02, 0x02))        # 02.02.00.1352, least significant first
INTERFACE_VERSION = 0x0203              # of the firmware interface specification
PART_NUMBER = b"NMB1XXD128GPS"
SKU_MEMORY_MODE, SKU_APP_DIRECT, SKU_SPARING, SKU_ENCRYPTION = 1 << 0, 1 << 2, 1 << 3, 1 << 17
PAGE = 4096

# Boot status: media ready, DDRT trained, mailbox ready, boot finished (bits: ipmctl, FwUtility.h)
BOOT_STATUS = 0x181D00FC

# commands with a reply of all zeros: no alarms, no long operation, no limits, no errors
BLANK = ((0x01, 0x01), (0x02, 0x02), (0x02, 0x03), (0x04, 0x01), (0x04, 0x02),
         (0x04, 0x03), (0x04, 0x04), (0x04, 0x06), (0x06, 0x00), (0x06, 0x05), (0x06, 0x06),
         (0x06, 0x07), (0x06, 0x09), (0x06, 0x0A), (0x06, 0xCA), (0x06, 0xEA), (0x08, 0x01),
         (0x08, 0x04), (0x08, 0x05))
MEMORY_INFO_PAGES = (0, 1, 3, 4)


def unique_id(dimm: Dimm) -> bytes:
    """The 9 bytes that name a module, as Identify gives them: big-endian but for the vendor."""
    return struct.pack(">HBHI", 0x8980, pcd.MADE_AT, 0x2021, dimm.serial)


def identify(topology: Topology, dimm: Dimm) -> bytes:
    sku = SKU_MEMORY_MODE | SKU_APP_DIRECT | SKU_SPARING | SKU_ENCRYPTION
    return struct.pack("<HHHH5s3x16xIHI20sI2xH9s", pcd.MANUFACTURER, DEVICE, 0,
                       INTERFACE_APP_DIRECT, FIRMWARE_BCD, topology.pmem_raw // PAGE,
                       pcd.MANUFACTURER, dimm.serial, PART_NUMBER, sku, INTERFACE_VERSION,
                       unique_id(dimm))


def partition_info(topology: Topology, config: DimmConfig) -> bytes:
    """Get Admin Features / DIMM Partition Info: the volatile partition comes first."""
    return struct.pack("<I4xQI4xQI", config.volatile // PAGE, 0, config.persistent // PAGE,
                       config.volatile, topology.pmem_raw // PAGE)


def security(ailment: str) -> bytes:
    """Get Security Info / Security State: bit 1 enabled, bit 2 locked."""
    return struct.pack("<I", 1 << 1 | 1 << 2 if ailment == LOCKED else 0)


def smart_health(ailment: str) -> bytes:
    """Get Log / SMART and Health: nothing of its life used, 38 and 40 degrees Celsius.

    Health: 0 healthy, bit 0 a noncritical failure.
    """
    valid, celsius, ait_dram_loaded, vendor_data_size = 0xEFB, 16, 1, 92
    health = 1 if ailment == UNHEALTHY else 0
    return struct.pack("<I4xBBxBHHIBH8xBI", valid, health, 100, 0, 38 * celsius, 40 * celsius, 0,
                       ait_dram_loaded, 0, 0, vendor_data_size)


def replies(topology: Topology, dimm: Dimm, config: DimmConfig, ailment: str = "") -> dict[int, bytes]:
    """The replies, by slot of the mailbox."""
    answers = {mailbox.slot(*command): b"" for command in BLANK}
    for page in MEMORY_INFO_PAGES:
        answers[mailbox.slot(mailbox.OP_GET_LOG, mailbox.SUB_MEMORY_INFO, page)] = b""
    answers[mailbox.slot(0x01, 0x00)] = identify(topology, dimm)
    answers[mailbox.slot(0x06, 0x02)] = partition_info(topology, config)
    answers[mailbox.slot(0x08, 0x00)] = smart_health(ailment)
    answers[mailbox.slot(0x02, 0x00)] = security(ailment)
    answers[mailbox.slot(0xFD, 0x03)] = struct.pack("<Q", BOOT_STATUS)
    return answers
