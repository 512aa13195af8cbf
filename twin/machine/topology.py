"""The parts of a node, and their places in its guest physical address space.

All sizes and addresses are in bytes.  The map follows from how QEMU's q35 board lays out RAM: when
a guest has 2.75 GiB or more, the first 2 GiB lie from 0 and the rest from 4 GiB up.

    0 .. 1 GiB          DRAM of socket 0 (its first GiB)
    1 GiB .. 2 GiB      hidden from the kernel: DIMM mailboxes, QEMU's initrd and ACPI tables
    4 GiB ..            DRAM of socket 0 beyond 1 GiB, then DRAM of the other sockets
    next full GiB ..    one PMem window for each socket: the media of its DIMMs
"""
from dataclasses import asdict, dataclass
from functools import cached_property

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40

LOW_RAM = 2 * GIB               # what q35 puts below 4 GiB
HIGH_BASE = 4 * GIB             # where the rest begins
MIN_RAM = 0xB0000000            # a smaller guest would get all its RAM below 4 GiB
LOW_DRAM = GIB                  # how much of the low RAM is DRAM of socket 0

# QEMU copies the initrd to the top of the low RAM at each boot, 40 MiB or more: stay far below it.
MAILBOX_BASE = 0x50000000
MAILBOX_STRIDE = MIB

ALIGNMENT = GIB                 # interleave sets and mapped memory are multiples of this
INTERLEAVE_LINE = 4 * KIB       # bytes on one DIMM before the set goes on to the next


@dataclass(frozen=True)
class Range:
    """A range of guest physical addresses."""
    base: int
    size: int

    @property
    def end(self) -> int:
        return self.base + self.size


@dataclass(frozen=True)
class Dimm:
    """One PMem DIMM, with the DDR DIMM that shares its channel."""
    index: int          # over the whole node, from 0
    socket: int
    controller: int     # memory controller of the socket
    channel: int        # of the memory controller

    @property
    def handle(self) -> int:
        """NFIT device handle; ipmctl prints it as DimmID."""
        return self.socket << 12 | self.controller << 8 | self.channel << 4 | 1

    @property
    def name(self) -> str:
        """DimmID as ipmctl prints it."""
        return f"{self.handle:#06x}"

    @property
    def serial(self) -> int:
        return 0xA0000000 + self.index

    @property
    def pmem_smbios(self) -> int:
        return 0x5000 + self.index

    @property
    def ddr_smbios(self) -> int:
        return 0x5100 + self.index

    @property
    def mailbox(self) -> int:
        """Guest physical address of the DIMM's mailbox (see mailbox.py)."""
        return MAILBOX_BASE + self.index * MAILBOX_STRIDE


@dataclass(frozen=True)
class Topology:
    """A node's hardware; the defaults are the twin's compute node."""
    sockets: int = 2
    cpus_per_socket: int = 1
    controllers: int = 2                # memory controllers of a socket
    channels: int = 1                   # of a memory controller: each has a DDR and a PMem DIMM
    dram_per_socket: int = GIB
    pmem_per_dimm: int = 2 * GIB        # what a goal can place
    pmem_overhead: int = 64 * MIB       # what Identify reports beyond that
    mapped_limit: int = 4 * TIB         # memory that a socket's CPU can map
    allows_memory_mode: bool = True     # BIOS setting: volatile mode "1LM or 2LM", not "1LM only"
    missing: tuple[str, ...] = ()       # names of DIMMs that are not in their sockets any more

    def __post_init__(self):
        checks = (
            (1 <= self.sockets <= 8, "1 to 8 sockets"),
            (1 <= self.cpus_per_socket <= 128, "1 to 128 CPUs a socket"),
            (1 <= self.controllers <= 4, "1 to 4 memory controllers"),
            (1 <= self.channels <= 8, "1 to 8 channels"),
            (self.dimms_per_socket <= 16, "at most 16 DIMMs a socket"),
            (self.dram_per_socket >= 512 * MIB, "at least 512 MiB of DRAM a socket"),
            (self.dram_per_socket % (self.dimms_per_socket * MIB) == 0,
             "DDR DIMMs of whole MiB"),
            (self.dram_per_socket % (128 * MIB) == 0,
             "DRAM in multiples of the kernel's 128 MiB memory block"),
            (self.pmem_per_dimm >= ALIGNMENT and self.pmem_per_dimm % ALIGNMENT == 0,
             "PMem in whole GiB a DIMM"),
            (self.pmem_overhead % MIB == 0, "PMem overhead in whole MiB"),
            (self.ram_size >= MIN_RAM, "at least 2.75 GiB in all"),
        )
        for good, what in checks:
            if not good:
                raise ValueError(f"topology: need {what}")

    @classmethod
    def twelve_dimms(cls) -> "Topology":
        """The machine of a real site: 2 sockets, 6 channels each, 128 GB PMem and 16 GB DDR4."""
        return cls(cpus_per_socket=4, controllers=2, channels=3, dram_per_socket=96 * GIB,
                   pmem_per_dimm=126 * GIB, pmem_overhead=432 * MIB)

    @classmethod
    def from_dict(cls, values: dict) -> "Topology":
        return cls(**values | {"missing": tuple(values.get("missing", ()))})   # JSON knows no tuples

    def to_dict(self) -> dict:
        return asdict(self)

    @property
    def dimms_per_socket(self) -> int:
        return self.controllers * self.channels

    @property
    def ddr_size(self) -> int:
        """Size of one DDR DIMM."""
        return self.dram_per_socket // self.dimms_per_socket

    @property
    def pmem_raw(self) -> int:
        """Capacity of one PMem DIMM as it reports it."""
        return self.pmem_per_dimm + self.pmem_overhead

    @cached_property
    def slots(self) -> tuple[Dimm, ...]:
        """Every DIMM that the board was delivered with."""
        places = ((s, m, c) for s in range(self.sockets) for m in range(self.controllers)
                  for c in range(self.channels))
        return tuple(Dimm(i, *place) for i, place in enumerate(places))

    @cached_property
    def dimms(self) -> tuple[Dimm, ...]:
        """The DIMMs that are not missing."""
        return tuple(dimm for dimm in self.slots if dimm.name not in self.missing)

    def dimms_of(self, socket: int) -> tuple[Dimm, ...]:
        return tuple(d for d in self.dimms if d.socket == socket)

    def by_handle(self, handle: int) -> Dimm:
        return next(d for d in self.dimms if d.handle == handle)

    def by_serial(self, serial: int) -> Dimm | None:
        return next((d for d in self.dimms if d.serial == serial), None)

    # Proximity domains: CPUs and DRAM of socket s are domain s, its App Direct PMem is sockets + s.
    def pmem_domain(self, socket: int) -> int:
        return self.sockets + socket

    def cpus(self) -> list[tuple[int, int]]:
        """(socket, APIC id) of each CPU: QEMU gives each socket a power of two of ids."""
        stride = 1 << (self.cpus_per_socket - 1).bit_length()
        return [(s, s * stride + c) for s in range(self.sockets)
                for c in range(self.cpus_per_socket)]

    # --- address map ---------------------------------------------------------------------------
    @property
    def _low_dram(self) -> int:
        return min(self.dram_per_socket, LOW_DRAM)

    def dram(self, socket: int) -> list[Range]:
        """Where a socket's DRAM lies; it is visible as RAM in every mode."""
        if socket == 0:
            rest = self.dram_per_socket - self._low_dram
            return [Range(0, self._low_dram)] + ([Range(HIGH_BASE, rest)] if rest else [])
        base = HIGH_BASE + socket * self.dram_per_socket - self._low_dram
        return [Range(base, self.dram_per_socket)]

    def window(self, socket: int) -> Range:
        """The address range that the media of a socket's PMem DIMMs can be mapped at."""
        dram_end = HIGH_BASE + self.sockets * self.dram_per_socket - self._low_dram
        first = -(-dram_end // ALIGNMENT) * ALIGNMENT
        size = self.dimms_per_socket * self.pmem_per_dimm
        return Range(first + socket * size, size)

    @property
    def ram_ranges(self) -> tuple[Range, Range]:
        """The ranges that QEMU gives the guest as RAM, before anything is hidden."""
        high_end = self.window(self.sockets - 1).end
        return Range(0, LOW_RAM), Range(HIGH_BASE, high_end - HIGH_BASE)

    @property
    def ram_size(self) -> int:
        """QEMU's -m, and the size of the memory image."""
        return sum(r.size for r in self.ram_ranges)

    @staticmethod
    def image_offset(address: int) -> int:
        """Where a guest physical address lies in the memory image."""
        return address if address < LOW_RAM else address - HIGH_BASE + LOW_RAM
