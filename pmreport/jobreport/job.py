"""A job's report, from the JSON of `pmctl report`: docs/man/pmctl.8.rst has its members."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Sequence

VERSION = 1
TIERS = {"dram": "DRAM", "pmem": "PMem", "dir": "$PM_DIR"}


class ReportError(Exception):
    """A file that is not such a report; the text says why."""


@dataclass(frozen=True)
class Part:
    """Memory of a NUMA node, or a directory on a socket. `limit` is 0 where there is none."""
    tier: str
    number: int
    socket: int
    peak: int
    limit: int
    levels: Sequence[int]   # its bytes at the node's samples; empty: not known


@dataclass(frozen=True)
class Sample:
    after_s: int
    bytes: dict[str, int]   # by tier


@dataclass(frozen=True)
class Node:
    name: str
    mode: str
    setup_ms: int
    cleanup_ms: int
    seconds: int            # from its begin to its end; 0: the job runs
    peak: int               # of the memory cgroup; 0: it had none
    limit: int
    step_s: int
    parts: Sequence[Part]
    samples: Sequence[Sample]

    def most(self, tier: str) -> int:
        """The most of any sample."""
        return max((sample.bytes[tier] for sample in self.samples), default=0)

    def sockets(self) -> list[int]:
        """With memory that is known over time."""
        return sorted({part.socket for part in self.parts if part.tier != "dir" and part.levels})

    def of_socket(self, socket: int) -> list[dict[str, int]]:
        """Bytes by tier at each sample."""
        parts = [part for part in self.parts if part.socket == socket]
        return [{tier: sum(part.levels[i] for part in parts if part.tier == tier) for tier in TIERS} for i in range(len(self.samples))]

    def quota(self) -> int:
        """Of all its directories together; 0: one has none."""
        limits = [part.limit for part in self.parts if part.tier == "dir"]
        return sum(limits) if all(limits) else 0


@dataclass(frozen=True)
class Job:
    number: int
    facts: dict[str, Any]   # of Slurm; empty: Slurm no longer knew it
    reboots: Sequence[dict[str, Any]]
    nodes: Sequence[Node]   # the one that used most first
    runtime: dict[str, Any]


def levels_of(part: dict[str, Any], line: dict[str, Any]) -> list[int]:
    """A part that appeared behind the last sample had nothing at the samples; a node of an earlier release has no levels."""
    is_known = any(other.get("levels") for other in line["parts"])
    n, levels = len(line["samples"]), [int(level) for level in part.get("levels", [])]
    return (levels + [0] * n)[:n] if is_known else []


def node_of(line: dict[str, Any]) -> Node:
    parts = [Part(p["tier"], p["number"], p["socket"], p["peak_bytes"], p.get("limit_bytes", 0), levels_of(p, line)) for p in line["parts"]]
    samples = [Sample(s["after_s"], {tier: s.get(f"{tier}_bytes", 0) for tier in TIERS}) for s in line["samples"]]
    end = line.get("end", 0)
    return Node(line["node"], line["mode"], line["setup_ms"], line.get("cleanup_ms", 0), end - line["begin"] if end else 0,
                line.get("memory_peak_bytes", 0), line.get("memory_limit_bytes", 0), line.get("step_s", 0), parts, samples)


def last_run(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of a requeued job."""
    last = max(lines, key=lambda line: int(line["begin"]), default=None)
    return [line for line in lines if last and line.get("run") == last.get("run")]


def read(text: str, name: str) -> Job:
    try:
        root = json.loads(text)
        if root.get("version") != VERSION:
            raise ReportError(f"'{name}' is of version {root.get('version')!r}, this program reads {VERSION}")
        facts = root.get("job", {})
        lines = last_run(root.get("node", []))
        nodes = sorted(map(node_of, lines), key=lambda node: (-node.peak, node.name))
        number = facts.get("job") or (lines[0]["job"] if lines else 0)
        return Job(number, facts, root.get("reboot", []), nodes, root.get("runtime", {}))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"'{name}' is not what 'pmctl report --json' prints: {error}") from error
