"""THE RULES OF THE PLATFORM FIRMWARE: what power-on self-test (POST) does with goals and memory.

Everything that a real board's BIOS would decide is in this file, so that it can be audited in one
reading; each rule names its source.  Rules marked (assumed) have no source: no public document says
what the BIOS does there.  Nothing here reads or writes a file.

Sources:
    [pcd]    ipmctl, DcpmPkg/common/PcdCommon.h: the meaning of each status code
    [goal]   ipmctl, DcpmPkg/driver: Core/Region.c, Protocol/Driver/NvmDimmConfig.c
    [#N]     github.com/intel/ipmctl issue N
    [modes]  Intel support article 000055895: in Memory Mode DRAM is a cache of volatile PMem; the
             WarpX-PM paper's platform section says the same
    [key]    HP white paper "Intel Optane DC Persistent Memory: Configuration and Setup", DCPMM
             security: in Memory Mode a new key at every reset, in App Direct a lasting one
"""
from dataclasses import dataclass, replace

from . import pcd
from .state import (CONFIGURED, REVERTED, SET_INCOMPLETE, Answer, DimmConfig, Region, State)
from .topology import ALIGNMENT, MIB, Range, Topology

# COUT ValidationStatus [pcd]
ACCEPTED, INVALID, NEAR_FAR, CPU_LIMIT, POPULATION = 1, 2, 6, 7, 8
# COUT PartitionSizeChangeStatus [pcd]
PART_DONE, PART_TOO_BIG, PART_NO_ROOM = 1, 5, 7
# COUT InterleaveChangeStatus [pcd]
SET_DONE, SET_NOT_DONE, SET_NO_DIMM, SET_MISMATCH = 1, 2, 3, 4
SET_PARTITION_FAILED, SET_NO_INPUT, SET_MISALIGNED, SET_UNSUPPORTED = 8, 9, 11, 12


class NoBoot(Exception):
    """Power-on self-test does not end: the node never starts its operating system."""


@dataclass(frozen=True)
class Refusal:
    """Why a goal is not applied, in words and in the codes of COUT."""
    why: str
    validation: int = INVALID
    partition: int = PART_DONE
    interleave: int = SET_NOT_DONE


def align_down(size: int) -> int:
    return size // ALIGNMENT * ALIGNMENT


# --- what a goal asks for ------------------------------------------------------------------------
def wanted(topology: Topology, old: DimmConfig, goal: pcd.Goal) -> DimmConfig:
    """The configuration of a DIMM after this goal is applied.

    The volatile partition is what the persistent one leaves of the raw capacity, and only whole
    GiB of it are mapped.  [goal]: for firmware interface < 3, ipmctl asks for RawCapacity minus the
    volatile size, so the rounding rest counts as persistent.
    """
    persistent = old.persistent if goal.persistent is None else goal.persistent
    volatile = topology.pmem_raw - persistent
    return DimmConfig(volatile, persistent, align_down(volatile),
                      sum(member.size for _, member in goal.own), CONFIGURED)


# --- when a goal is refused ----------------------------------------------------------------------
# Each rule looks at the goals of one socket (by DIMM) and gives a Refusal or None.  A socket's
# goals are applied all together or not at all (assumed).  They are tried in this order.

def partition_fits(topology: Topology, state: State, goals: dict) -> Refusal | None:
    """A persistent partition must fit in the DIMM. [pcd] PartitionSizeChangeStatus 5"""
    for dimm, goal in goals.items():
        size = wanted(topology, state.dimms[dimm.name], goal).persistent
        if size > topology.pmem_raw:
            return Refusal(f"{dimm.name}: persistent partition of {size} bytes exceeds the DIMM",
                           partition=PART_TOO_BIG, interleave=SET_PARTITION_FAILED)
    return None


def set_is_complete(topology: Topology, _state: State, goals: dict) -> Refusal | None:
    """Every member of a set must be there, on this socket, and have a goal with the same set.

    [pcd] InterleaveChangeStatus 3 (module missing), 9 (its CIN missing), 4 (the sets differ)
    """
    for dimm, goal in goals.items():
        for wanted_set in goal.sets:
            for member in wanted_set.members:
                other = topology.by_serial(member.serial)
                if other is None or other.socket != dimm.socket:
                    return Refusal(f"{dimm.name}: set {wanted_set.index} names module "
                                   f"{member.serial:#010x}, not on this socket",
                                   interleave=SET_NO_DIMM)
                if other not in goals:
                    return Refusal(f"{dimm.name}: set {wanted_set.index} needs a goal on "
                                   f"{other.name}, which has none", interleave=SET_NO_INPUT)
                if wanted_set not in goals[other].sets:
                    return Refusal(f"{dimm.name}: set {wanted_set.index} differs from that of "
                                   f"{other.name}", interleave=SET_MISMATCH)
    return None


def set_is_aligned(_topology: Topology, _state: State, goals: dict) -> Refusal | None:
    """Offsets and sizes are multiples of PCAT's interleave alignment. [pcd] status 11"""
    for dimm, goal in goals.items():
        for wanted_set, member in goal.own:
            if member.size == 0 or member.size % ALIGNMENT or member.offset % ALIGNMENT:
                return Refusal(f"{dimm.name}: set {wanted_set.index} is not a multiple of "
                               f"{ALIGNMENT // MIB} MiB", interleave=SET_MISALIGNED)
    return None


def set_is_offered(_topology: Topology, _state: State, goals: dict) -> Refusal | None:
    """Line sizes are those that PCAT offers, 4 KiB, and members give equal shares. [pcd] 12"""
    for dimm, goal in goals.items():
        for wanted_set in goal.sets:
            shares = {(m.size, m.offset) for m in wanted_set.members}
            lines = (wanted_set.channel_line, wanted_set.controller_line)
            if len(shares) != 1 or lines != (pcd.LINE_4K, pcd.LINE_4K):
                return Refusal(f"{dimm.name}: set {wanted_set.index} has a format that the "
                               "platform does not offer", interleave=SET_UNSUPPORTED)
    return None


def sets_fit(topology: Topology, state: State, goals: dict) -> Refusal | None:
    """A DIMM's sets must fit in its persistent partition. [pcd] PartitionSizeChangeStatus 5"""
    for dimm, goal in goals.items():
        config = wanted(topology, state.dimms[dimm.name], goal)
        if any(m.offset + m.size > config.persistent for _, m in goal.own):
            return Refusal(f"{dimm.name}: sets exceed the persistent partition of "
                           f"{config.persistent} bytes", partition=PART_TOO_BIG,
                           interleave=SET_PARTITION_FAILED)
    return None


def memory_mode_allowed(topology: Topology, state: State, goals: dict) -> Refusal | None:
    """With the BIOS set to "1LM only" no PMem becomes main memory.

    The real BIOS accepts such a goal and leaves all of the capacity inaccessible [#121]; here it is
    refused and the old configuration stays, since a node without any PMem helps nobody (assumed).
    """
    if topology.allows_memory_mode:
        return None
    volatile = sum(wanted(topology, state.dimms[d.name], g).volatile_mapped
                   for d, g in goals.items())
    return Refusal("volatile mode is 1LM only", POPULATION) if volatile else None


def near_fits_far(topology: Topology, state: State, goals: dict) -> Refusal | None:
    """In Memory Mode DRAM is a cache, so it must not exceed the volatile PMem behind it.

    [goal] Error 93: DDR of a socket beyond its volatile PMem is refused by ipmctl as well;
    [pcd] ValidationStatus 6.  The recommended ratios (1:3.6 to 1:16) only warn.
    """
    socket = next(iter(goals)).socket
    far = sum(c.volatile_mapped for c in after(topology, state, goals, socket).values())
    if 0 < far < topology.dram_per_socket:
        return Refusal(f"socket {socket}: {topology.dram_per_socket // MIB} MiB of DRAM for "
                       f"{far // MIB} MiB of volatile PMem", NEAR_FAR)
    return None


def cpu_can_map(topology: Topology, state: State, goals: dict) -> Refusal | None:
    """A CPU maps memory up to the limit of its model. [pcd] ValidationStatus 7"""
    socket = next(iter(goals)).socket
    configs = after(topology, state, goals, socket).values()
    volatile = sum(c.volatile_mapped for c in configs)
    mapped = (volatile or topology.dram_per_socket) + sum(c.persistent_mapped for c in configs)
    if mapped > topology.mapped_limit:
        return Refusal(f"socket {socket}: {mapped // MIB} MiB to map, the CPU's limit is "
                       f"{topology.mapped_limit // MIB} MiB", CPU_LIMIT, PART_NO_ROOM)
    return None


SOCKET_RULES = (partition_fits, set_is_complete, set_is_aligned, set_is_offered, sets_fit,
                memory_mode_allowed, near_fits_far, cpu_can_map)


def after(topology: Topology, state: State, goals: dict, socket: int) -> dict[str, DimmConfig]:
    """The configurations of a socket's DIMMs, were these goals applied."""
    goal_of = {dimm.name: goal for dimm, goal in goals.items()}
    return {d.name: wanted(topology, state.dimms[d.name], goal_of[d.name])
            if d.name in goal_of else state.dimms[d.name] for d in topology.dimms_of(socket)}


def judge(topology: Topology, state: State, goals: dict) -> Refusal | None:
    """The first rule that refuses one socket's goals; None: they are good."""
    return next((refusal for rule in SOCKET_RULES if (refusal := rule(topology, state, goals))),
                None)


# --- what a decision does to the configuration ---------------------------------------------------
def answer(refusal: Refusal | None, cin: bytes) -> Answer:
    """COUT's codes for an applied (None) or refused goal."""
    if refusal is None:
        return Answer(cin.hex(), ACCEPTED, PART_DONE, SET_DONE)
    return Answer(cin.hex(), refusal.validation, refusal.partition, refusal.interleave)


def apply(topology: Topology, state: State, goals: dict) -> State:
    """The state in which these goals, all good, are in force.

    A region of which any member gets a new configuration is gone.  A member that got none keeps its
    partition but not its mapping: CCUR status 4, matching interleave set not found. [pcd]
    """
    handles = {dimm.handle for dimm in goals}
    kept = [r for r in state.regions if not handles & set(r.members)]
    orphans = {h for r in state.regions if r not in kept for h in r.members} - handles
    dimms = dict(state.dimms)
    for handle in orphans:
        name = topology.by_handle(handle).name
        dimms[name] = replace(dimms[name], persistent_mapped=0, status=SET_INCOMPLETE)
    for dimm, goal in goals.items():
        dimms[dimm.name] = wanted(topology, state.dimms[dimm.name], goal)
    regions = kept + _new_regions(topology, goals)
    return replace(state, dimms=dimms, regions=sorted(regions, key=lambda r: (r.socket, r.index)))


def lose(topology: Topology, state: State, names: list[str]) -> State:
    """The state when these DIMMs are not there any more: a region of which any member is missing is
    gone, and stays so when the DIMM comes back (assumed).  CCUR status 4. [pcd]"""
    lost = [r for r in state.regions
            if any(topology.by_handle(h).name in names for h in r.members)]
    members = {topology.by_handle(h).name for r in lost for h in r.members}
    return replace(state, regions=[r for r in state.regions if r not in lost],
                   dimms={n: replace(c, persistent_mapped=0, status=SET_INCOMPLETE)
                          if n in members else c for n, c in state.dimms.items()})


def _new_regions(topology: Topology, goals: dict) -> list[Region]:
    regions = {}
    for dimm, goal in goals.items():
        for s in goal.sets:
            members = [topology.by_serial(m.serial).handle for m in s.members]
            regions[dimm.socket, s.index] = Region(
                s.index, dimm.socket, members, sum(m.size for m in s.members), s.members[0].offset)
    return list(regions.values())


def revert(state: State, names: list[str], status: int = REVERTED) -> State:
    """The state in which the goals of these DIMMs are refused: all stays, CCUR says why.

    [pcd] ConfigStatus 6, shown by ipmctl as "Failed - Reverted".  It stays until a later goal is
    applied (assumed).
    """
    return replace(state, dimms={n: replace(c, status=status) if n in names else c
                                 for n, c in state.dimms.items()})


# --- when the machine does not start at all ------------------------------------------------------
def check_boots(topology: Topology, state: State) -> None:
    """Memory Mode on all sockets or on none: with one socket in it, the server does not start.

    [#170]: ipmctl accepts such goals without a warning.  Raises NoBoot.
    """
    volatile = [bool(volatile_mapped(topology, state, s)) for s in range(topology.sockets)]
    if len(set(volatile)) > 1:
        with_it = ", ".join(str(s) for s, v in enumerate(volatile) if v)
        raise NoBoot(f"memory mode on socket {with_it} only: the sockets must agree; power on with "
                     "the fault 'goal-ignored' to start with the configuration before")


# --- what the operating system sees --------------------------------------------------------------
def volatile_mapped(topology: Topology, state: State, socket: int) -> int:
    return sum(state.dimms[d.name].volatile_mapped for d in topology.dimms_of(socket))


def visible_memory(topology: Topology, state: State, socket: int) -> list[Range]:
    """A socket's RAM as the operating system sees it.

    1LM: its DRAM.  2LM: as much as its volatile PMem, for DRAM is then a cache and not seen
    [modes].  The emulated machine has no cache: the DRAM's addresses serve as the first part of
    that memory, and the start of the socket's window as the rest.
    """
    extra = volatile_mapped(topology, state, socket) - topology.dram_per_socket
    window = topology.window(socket)
    return topology.dram(socket) + ([Range(window.base, extra)] if extra > 0 else [])


def region_ranges(topology: Topology, state: State) -> list[tuple[Region, Range]]:
    """Where App Direct regions are mapped: they fill their socket's window from its end (assumed),
    so that a region keeps its addresses, and its media, when the rest of the socket changes."""
    placed = []
    for socket in range(topology.sockets):
        mine = [r for r in state.regions if r.socket == socket]
        base = topology.window(socket).end - sum(r.size for r in mine)
        for region in mine:
            placed.append((region, Range(base, region.size)))
            base += region.size
    return placed


def forgotten(topology: Topology, before: State, now: State) -> list[Range]:
    """The ranges that a power-on clears: memory that was, or now is, main memory.

    DRAM loses its content, and a DIMM's volatile partition gets a new encryption key [key].  App
    Direct media keeps its content, also when its region is made anew.
    """
    ranges = {r for state in (before, now) for s in range(topology.sockets)
              for r in visible_memory(topology, state, s)}
    return sorted(ranges, key=lambda r: (r.base, r.size))


def mode_name(state: State) -> str:
    """The platform mode in words."""
    if state.two_level:
        return "mixed mode" if state.regions else "memory mode"
    return "app direct" if state.regions else "pmem not configured"
