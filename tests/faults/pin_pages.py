#!/usr/bin/python3
"""Holds pages of one NUMA node so that the kernel can not move them. Usage: pin_pages.py NODE

They are in a pipe by vmsplice(2), which takes a reference that no migration gets around: memory of
that node does not go offline while this process lives. Prints "held" and waits.
"""

import ctypes
import mmap
import os
import sys
import time

MPOL_BIND, SYS_SET_MEMPOLICY, PAGES = 2, 238, 16        # the number: x86_64
libc = ctypes.CDLL(None, use_errno=True)


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def bind(node: int) -> None:
    mask = ctypes.c_ulong(1 << node)
    if libc.syscall(SYS_SET_MEMPOLICY, MPOL_BIND, ctypes.byref(mask), 64):
        raise OSError(ctypes.get_errno(), "set_mempolicy")


def hold(area: mmap.mmap) -> int:
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    _reader, writer = os.pipe()
    vector = Iovec(address, PAGES * mmap.PAGESIZE)
    return libc.vmsplice(writer, ctypes.byref(vector), 1, 0)


bind(int(sys.argv[1]))
area = mmap.mmap(-1, PAGES * mmap.PAGESIZE)
area.write(b"x" * len(area))
if hold(area) != len(area):
    raise OSError(ctypes.get_errno(), "vmsplice")
print("held", flush=True)
while True:
    time.sleep(3600)
