"""The machines that guests run on: the head node is a plain PC, a compute node has emulated PMem."""
from __future__ import annotations

from pathlib import Path
from typing import Protocol, Sequence

from machine import NoBoot, Node, NodeError, Topology

__all__ = ["ComputeNode", "Hardware", "HeadNode", "NoBoot", "NodeError", "faults"]


class Hardware(Protocol):
    """A machine, as the supervisor uses it."""

    def power_on(self, fault: str | None, cold: bool) -> list[str]:
        """POST; returns its log, raises NoBoot when the machine does not get past it."""

    def qemu_args(self) -> list[str]:
        """QEMU arguments for CPUs, memory and firmware tables, valid after power_on."""

    def kernel_args(self) -> list[str]:
        """Words for the kernel's command line, valid after power_on."""


class HeadNode:
    """One CPU and 1 GiB."""

    def power_on(self, fault: str | None, cold: bool) -> list[str]:
        return []

    def qemu_args(self) -> list[str]:
        return ["-machine", "q35", "-smp", "1", "-m", "1G"]

    def kernel_args(self) -> list[str]:
        return []


class ComputeNode:
    """Two sockets, each with DRAM and PMem DIMMs; the firmware applies goals at POST. A new node is in App Direct."""

    def __init__(self, directory: Path, cores: int, kernel_options: Sequence[str] = ()) -> None:
        """`cores` of each socket; a node that exists already must have the same number."""
        self.kernel_options = kernel_options
        self.node = Node(directory, Topology(cpus_per_socket=cores))
        if not self.node.state.power_ons:
            self.node.provision("appdirect")

    def power_on(self, fault: str | None, cold: bool) -> list[str]:
        return list(self.node.power_on(fault=fault, cold=cold).lines)

    def qemu_args(self) -> list[str]:
        return self.node.qemu_args()

    def kernel_args(self) -> list[str]:
        return [*self.node.kernel_args(), *self.kernel_options]


def faults() -> dict[str, str]:
    """Names and descriptions of the faults that a compute node can have."""
    return Node.faults()
