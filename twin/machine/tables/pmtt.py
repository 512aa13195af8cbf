"""PMTT revision 2: sockets, memory controllers, channels, slots and modules, for ipmctl.

ipmctl wants it flat: each structure's length covers its own header only.  Source: ipmctl,
DcpmPkg/common/NvmTables.h.
"""
import struct

from .. import acpi
from ..topology import Dimm, Topology

SOCKET, CONTROLLER, MODULE, VENDOR = 0, 1, 2, 0xFF
PHYSICAL, PMEM = 1 << 1, 1 << 2
DIE = bytes.fromhex("535055a2e4cda540807600e3aba6caa7")
CHANNEL = bytes.fromhex("8192bf239ce61f47b299b0982b2f55f9")
SLOT = bytes.fromhex("682acbfd03c21243b291b8e86286c2c1")


def _header(kind: int, length: int, flags: int, children: int) -> bytes:
    return struct.pack("<BxHH2xI", kind, length, flags, children)


def _numbered(kind: int, number: int, children: int) -> bytes:
    return _header(kind, 16, PHYSICAL, children) + struct.pack("<H2x", number)


def _vendor(guid: bytes, number: int, children: int) -> bytes:
    return _header(VENDOR, 32, PHYSICAL, children) + guid + struct.pack("<H2x", number)


def _module(slot: int, handle: int, flags: int) -> bytes:
    return (_vendor(SLOT, slot, 1) + _header(MODULE, 16, PHYSICAL | flags, 0)
            + struct.pack("<I", handle))


def _channel(topology: Topology, dimm: Dimm) -> bytes:
    modules = [_module(0, dimm.ddr_smbios, 0)]
    if dimm in topology.dimms:
        modules.append(_module(1, dimm.pmem_smbios, PMEM))
    return _vendor(CHANNEL, dimm.channel, len(modules)) + b"".join(modules)


def _socket(topology: Topology, socket: int) -> bytes:
    body = _numbered(SOCKET, socket, 1) + _vendor(DIE, 0, topology.controllers)
    for controller in range(topology.controllers):
        slots = [d for d in topology.slots if (d.socket, d.controller) == (socket, controller)]
        body += _numbered(CONTROLLER, controller, len(slots))
        body += b"".join(_channel(topology, slot) for slot in slots)
    return body


def pmtt(topology: Topology, _state) -> bytes:
    sockets = b"".join(_socket(topology, s) for s in range(topology.sockets))
    return acpi.table(b"PMTT", 2, struct.pack("<I", topology.sockets) + sockets)
