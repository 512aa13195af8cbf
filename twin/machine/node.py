"""A node: its directory, its power-on, and the QEMU flags that start it.

    node.json     the firmware's state (state.py)
    memory.img    DRAM, PMem media and DIMM mailboxes (image.py)
    acpi/, smbios/  the tables of the last power-on; those of /sys/firmware have their names
    mailboxes     DIMM handle and offset of its mailbox in memory.img, for the shim of the bench
"""
from dataclasses import replace
from pathlib import Path

from . import labels, mailbox, pcd, rules, tables
from .faults import FAULTS, MISSING
from .image import Image
from .post import Post, decide, describe, read_goals, write_image
from .rules import NoBoot
from .state import State, load, save, write_atomic
from .topology import KIB, MIB, Range, Topology

APP_DIRECT, MEMORY = "appdirect", "memory"


class NodeError(Exception):
    """The node's directory cannot be used; the message says why."""


class Node:
    def __init__(self, directory, topology: Topology | None = None):
        """Open the node of a directory, or make a new one there when it holds none.

        Without a topology the directory must hold a node.  Raises NodeError.
        """
        self.directory = Path(directory)
        try:
            self._whole, self._state = load(self._file)
        except FileNotFoundError:
            if topology is None:
                raise NodeError(f"open '{self.directory}': there is no node here") from None
            self._whole, self._state = topology, State.factory(topology)
        except ValueError as error:
            raise NodeError(str(error)) from error
        if topology is not None and topology != self._whole:
            raise NodeError(f"open '{self.directory}': this node was made with another topology; "
                            "remove the directory to make it anew")
        self.directory.mkdir(parents=True, exist_ok=True)

    @property
    def _file(self) -> Path:
        return self.directory / "node.json"

    @property
    def image_path(self) -> Path:
        return self.directory / "memory.img"

    @property
    def topology(self) -> Topology:
        """The hardware as it is now: without the DIMMs that are missing."""
        return replace(self._whole, missing=tuple(
            name for name, ailment in self._state.ailing.items() if ailment == MISSING))

    @property
    def state(self) -> State:
        return self._state

    @property
    def mode(self) -> str:
        """The platform mode of the last power-on, in words."""
        return rules.mode_name(self._state)

    @staticmethod
    def faults() -> dict[str, str]:
        """The faults that power_on() takes, each with a line that describes it."""
        return {name: fault.help for name, fault in FAULTS.items()}

    def provision(self, mode: str) -> None:
        """Deliver the node with all of its PMem in one mode ('appdirect' or 'memory').

        Only for a node that was never powered on; it saves the goal and the reboot.
        """
        if self._state.power_ons:
            raise NodeError(f"provision '{self.directory}': the node is in use already")
        if mode not in (APP_DIRECT, MEMORY):
            raise NodeError(f"provision '{self.directory}': no mode '{mode}', use "
                            f"'{APP_DIRECT}' or '{MEMORY}'")
        goals = {d: self._factory_goal(d, mode) for d in self.topology.dimms}
        with Image(self.image_path, self.topology) as image:
            for dimm in self.topology.dimms:
                image.write(dimm.mailbox + mailbox.LABELS, labels.empty_area())
        self._save(rules.apply(self.topology, self._state, goals))

    def _factory_goal(self, dimm, mode: str) -> pcd.Goal:
        topology = self.topology
        if mode == MEMORY:
            return pcd.Goal(dimm, b"", topology.pmem_overhead, ())
        members = tuple(pcd.Member(d.serial, 0, topology.pmem_per_dimm)
                        for d in topology.dimms_of(dimm.socket))
        whole = pcd.GoalSet(dimm.socket + 1, pcd.LINE_4K, pcd.LINE_4K, members)
        return pcd.Goal(dimm, b"", topology.pmem_raw, (whole,))

    def power_on(self, fault: str | None = None, cold: bool = False) -> Post:
        """Run POST.  `cold`: the power was cut before, it is not a mere restart.  Raises NoBoot."""
        if fault is not None and fault not in FAULTS:
            raise NodeError(f"no fault '{fault}', there are: {', '.join(FAULTS)}")
        if fault and FAULTS[fault].hangs:
            raise NoBoot(f"power-on self-test hangs (injected fault '{fault}')")
        post = Post()
        with Image(self.image_path, self.topology) as image:
            self._finish_interrupted(image, post)
            self._fall_ill(FAULTS[fault].ailment if fault else "", post)
            goals, bad = read_goals(self.topology, image)
            post.goals = [d.name for d in (*goals, *bad)]
            state = self._reject_unreadable(bad, post)
            state = decide(self.topology, state, goals, fault, cold, post)
            state.power_ons += 1
            self._save(state)
            self._write_out(image)
        describe(self.topology, self._state, post)
        return post

    def _reject_unreadable(self, bad: dict, post: Post) -> State:
        state = self._state
        for dimm, error in bad.items():
            post.rejected.append(dimm.name)
            post.say(f"goal unreadable on {dimm.name}: {error}")
            state = rules.revert(state, [dimm.name], error.status)
        return state

    def _fall_ill(self, ailment: str, post: Post) -> None:
        """Give the last DIMM this ailment from this power-on on; an earlier ailment is cured."""
        last = self._whole.dimms[-1].name
        self._state = replace(self._state, ailing={last: ailment} if ailment else {})
        if ailment:
            post.say(f"{last} is {ailment}")
        if ailment == MISSING:
            self._state = rules.lose(self._whole, self._state, [last])

    def _finish_interrupted(self, image: Image, post: Post) -> None:
        if self._state.unfinished is not None:
            post.say("power was lost during the last self-test: finishing it")
            self._write_out(image)

    def _save(self, state: State) -> None:
        save(self._file, self._whole, state)
        self._state = state

    def _write_out(self, image: Image) -> None:
        """Write all that follows from the saved state, then mark it finished."""
        write_image(self.topology, self._state, image)
        for path, data in tables.all_files(self.topology, self._state).items():
            write_atomic(self.directory / path, data)
        write_atomic(self.directory / "mailboxes", self._mailbox_map())
        self._state.unfinished = None
        self._save(self._state)

    def _mailbox_map(self) -> bytes:
        lines = (f"{d.handle:08x} {self.topology.image_offset(d.mailbox):#x}\n"
                 for d in self.topology.dimms)
        return "".join(lines).encode()

    # --- what starts it --------------------------------------------------------------------------
    def qemu_args(self) -> list[str]:
        """Board, memory, CPUs and tables, as of the last power_on(); all else is the caller's."""
        topology = self.topology
        cpus = topology.sockets * topology.cpus_per_socket
        args = ["-machine", "q35,memory-backend=ram,smbios-entry-point-type=64",
                "-m", f"{topology.ram_size // MIB}M",
                "-smp", f"{cpus},sockets={topology.sockets},cores={topology.cpus_per_socket}"
                        ",threads=1",
                "-object", f"memory-backend-file,id=ram,size={topology.ram_size}"
                           f",mem-path={_escape(self.image_path)},share=on"]
        for name in tables.ACPI_FILES:
            args += ["-acpitable", f"file={_escape(self.directory / name)}"]
        for name in tables.smbios_files(topology):
            args += ["-smbios", f"file={_escape(self.directory / name)}"]
        return args

    def kernel_args(self) -> list[str]:
        """Words that tell the kernel which of QEMU's RAM is memory, which PMem and which neither.

        `$` hides a range; `%` with types 1 and 7 makes RAM persistent memory, as e820 of a real
        board says.  The fixed layout needs nokaslr.
        """
        hide = [f"memmap={r.size // KIB}K${r.base:#x}" for r in self.hidden()]
        pmem = [f"memmap={r.size // KIB}K%{r.base:#x}-1+7"
                for _, r in rules.region_ranges(self.topology, self._state)]
        return ["nokaslr", *hide, *pmem]

    def hidden(self) -> list[Range]:
        """Guest RAM that is neither main memory nor an App Direct region, lowest address first."""
        topology, state = self.topology, self._state
        used = [r for s in range(topology.sockets)
                for r in rules.visible_memory(topology, state, s)]
        used += [r for _, r in rules.region_ranges(topology, state)]
        holes = []
        for ram in topology.ram_ranges:
            at = ram.base
            inside = sorted((r for r in used if ram.base <= r.base < ram.end), key=lambda r: r.base)
            for taken in [*inside, Range(ram.end, 0)]:
                if taken.base > at:
                    holes.append(Range(at, taken.base - at))
                at = taken.end
        return holes


def _escape(path: Path) -> str:
    """A path as a value in QEMU's comma-separated options."""
    return str(path).replace(",", ",,")
