#!/usr/bin/python3
"""poison.py NAME, as root in a guest: the page behind the first byte of user1's mapping of NAME fails. In place of the memory
controller's machine check stands Linux' own injector; what follows is the kernel's handling of such a page."""
import struct
import subprocess
import sys
from pathlib import Path

PAGE = 4096
INJECTOR = Path("/sys/kernel/debug/hwpoison/corrupt-pfn")


def mapped(name):
    """Process and address of the mapping."""
    for pid in subprocess.run(["pgrep", "-u", "user1"], capture_output=True, text=True).stdout.split():
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            if name in line:
                return pid, int(line.split("-")[0], 16)
    sys.exit(f"user1 has no process that maps '{name}'")


def frame(pid, address):
    with open(f"/proc/{pid}/pagemap", "rb") as pagemap:
        pagemap.seek(address // PAGE * 8)
        return struct.unpack("Q", pagemap.read(8))[0] & ((1 << 55) - 1)


# It may be mounted already.
subprocess.run(["mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug"], stderr=subprocess.DEVNULL)
subprocess.run(["modprobe", "hwpoison-inject"], check=True)
# The processor would fault in the process that reads the page; the injector has to find it.
Path("/proc/sys/vm/memory_failure_early_kill").write_text("1")
number = frame(*mapped(sys.argv[1]))
print(f"{number:#x}")
INJECTOR.write_text(f"{number:#x}")
