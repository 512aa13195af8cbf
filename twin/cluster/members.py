"""Names and addresses of a twin's guests. Each twin has its own network segment, so every twin uses the same ones."""
from __future__ import annotations

from dataclasses import dataclass

MAX_NODES = 32
FIRST_COMPUTE_HOST = 11


@dataclass(frozen=True)
class Member:
    """One guest: `role` is "head" or "compute", `host` the last byte of its address."""

    name: str
    role: str
    host: int

    @property
    def address(self) -> str:
        return f"10.77.0.{self.host}"

    @property
    def mac(self) -> str:
        return f"52:54:00:77:00:{self.host:02x}"


def members(nodes: int) -> list[Member]:
    """The head node and `nodes` compute nodes n1, n2, ..."""
    compute = [Member(f"n{i}", "compute", FIRST_COMPUTE_HOST + i - 1) for i in range(1, nodes + 1)]
    return [Member("head", "head", 1), *compute]


def hosts_file(all_members: list[Member]) -> str:
    """Contents of the guests' /etc/hosts."""
    lines = ["127.0.0.1 localhost", *(f"{m.address} {m.name}" for m in all_members)]
    return "\n".join(lines) + "\n"
