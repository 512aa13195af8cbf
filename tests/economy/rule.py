"""controller/hold_rule.c, as the service has it: the simulation calls the compiled function."""

import ctypes
import struct
from dataclasses import dataclass
from pathlib import Path


class Rule(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_double) for name in ("reboot_s", "most_s", "soon", "gap_s", "rent", "lease_s")),
                ("guarded", ctypes.c_uint32)]


class Answer(ctypes.Structure):
    _fields_ = [("until_s", ctypes.c_double), ("counts", ctypes.c_uint32)]


class RuleNode(ctypes.Structure):
    _fields_ = [("free_s", ctypes.c_double), ("mode", ctypes.c_uint32)]


JOB = struct.Struct("@ddIII0d")  # struct pm_hold_job


def record(run_s: float, first_held_s: float, nodes: int, mode: int) -> bytes:
    return JOB.pack(run_s, first_held_s, nodes, mode, 1)


def seen_nodes(count: int) -> ctypes.Array:
    return (RuleNode * count)()


@dataclass
class HoldRule:
    """decide() has the rule's answer for each job, by its record."""

    library: Path
    rule: Rule

    def __post_init__(self):
        self.function = ctypes.CDLL(str(self.library)).pm_hold_decide
        self.function.argtypes = [ctypes.POINTER(Rule), ctypes.c_double, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p,
                                  ctypes.c_size_t, ctypes.c_void_p]

    def decide(self, now: float, jobs: list, nodes: ctypes.Array) -> ctypes.Array:
        answers = (Answer * len(jobs))()
        failed = self.function(ctypes.byref(self.rule), now, b"".join(job.record for job in jobs), len(jobs), nodes,
                               len(nodes), answers)
        if failed:
            raise ValueError(f"pm_hold_decide: {failed}")
        return answers
