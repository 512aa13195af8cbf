"""The state that a node keeps across power-ons, beside the data in its DIMMs and their media.

It is kept in `node.json`, replaced atomically.  The file is the firmware's own copy of the
configuration (on a real board: PCD partition 0 and the flash of the board).
"""
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .topology import Topology

# CCUR ConfigStatus (ipmctl, DcpmPkg/common/PcdCommon.h, NVDIMM_CURRENT_CONFIG)
CONFIGURED, SET_INCOMPLETE, NOT_CONFIGURED, REVERTED = 1, 4, 5, 6
BAD_CHECKSUM, BAD_REVISION = 8, 9


@dataclass
class DimmConfig:
    """How one PMem DIMM is partitioned and mapped; all sizes in bytes."""
    volatile: int = 0               # partition
    persistent: int = 0             # partition
    volatile_mapped: int = 0        # part of it in the address map
    persistent_mapped: int = 0
    status: int = NOT_CONFIGURED    # CCUR ConfigStatus


@dataclass
class Region:
    """An App Direct interleave set."""
    index: int                      # InterleaveSetIndex of the goal
    socket: int
    members: list[int]              # DIMM handles in interleave order
    size: int                       # all members together
    offset: int                     # in each member's persistent partition

    @property
    def share(self) -> int:
        """Bytes that each member contributes."""
        return self.size // len(self.members)


@dataclass
class Answer:
    """POST's answer to one DIMM's goal, and the goal that it answers."""
    cin: str                        # hex of the configuration input that is answered
    validation: int                 # COUT ValidationStatus
    partition: int                  # PartitionSizeChangeStatus of each type 4 record
    interleave: int                 # InterleaveChangeStatus of each type 5 record


@dataclass
class Unfinished:
    """A POST that has decided; its effects may be written in part only."""
    answers: dict[str, Answer] = field(default_factory=dict)        # by DIMM name
    forget: list[tuple[int, int]] = field(default_factory=list)     # (address, size) to clear


@dataclass
class State:
    dimms: dict[str, DimmConfig]                # by DIMM name
    regions: list[Region] = field(default_factory=list)
    power_ons: int = 0
    unfinished: Unfinished | None = None
    ailing: dict[str, str] = field(default_factory=dict)    # DIMM name -> faults.py's ailment

    @classmethod
    def factory(cls, topology: Topology) -> "State":
        """A node fresh from the factory: no DIMM configured."""
        return cls({d.name: DimmConfig() for d in topology.dimms})

    @property
    def two_level(self) -> bool:
        """2LM: some PMem is main memory and all DRAM its cache."""
        return any(c.volatile_mapped for c in self.dimms.values())


def _unfinished_from(values: dict | None) -> Unfinished | None:
    if values is None:
        return None
    answers = {name: Answer(**a) for name, a in values["answers"].items()}
    return Unfinished(answers, [tuple(r) for r in values["forget"]])


def _state_from(values: dict) -> State:
    return State({name: DimmConfig(**c) for name, c in values["dimms"].items()},
                 [Region(**r) for r in values["regions"]],
                 values["power_ons"], _unfinished_from(values["unfinished"]),
                 values.get("ailing", {}))


def load(path: Path) -> tuple[Topology, State]:
    """Read `node.json`; raises FileNotFoundError, or ValueError when it cannot be understood."""
    try:
        values = json.loads(path.read_text())
        return Topology.from_dict(values["topology"]), _state_from(values["state"])
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"read '{path}': not a node's state ({error!r})") from error


def write_atomic(path: Path, data: bytes, durable: bool = False) -> None:
    """Replace a file so that a reader sees the old or the new one whole; a durable one also after
    the host itself lost power."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    with open(new, "wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(new, path)


def save(path: Path, topology: Topology, state: State) -> None:
    values = {"topology": topology.to_dict(), "state": asdict(state)}
    write_atomic(path, json.dumps(values, indent=1).encode() + b"\n", durable=True)
