"""What the twin's injections have in common: a case, and a lane that tries one after the other."""

import itertools
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from report import print_result, save
from twinsite import Stuck

Notes = dict[str, Any]      # for the results; "fired" when it was met


@dataclass(frozen=True)
class Case:
    kind: str
    detail: str
    run: Callable[[Notes], list[str]]       # returns what was violated

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.detail}"


class Lane:
    """A node that is broken again and again, and is left whole."""

    def open(self) -> None:
        pass

    def close(self) -> None:
        pass

    def cases(self) -> list[Case]:
        raise NotImplementedError

    def prepare(self) -> None:
        raise NotImplementedError

    def conclude(self, result: dict) -> list[str]:
        """Completes the result after the case; returns what was violated."""
        raise NotImplementedError


def in_turn(cases: list[Case]) -> list[Case]:
    """One of each kind, then the second ones, and so on."""
    kinds: dict[str, list[Case]] = {}
    for case in cases:
        kinds.setdefault(case.kind, []).append(case)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*kinds.values()))
    return [case for case in turns if case]


class Results:
    """What all lanes have found."""

    def __init__(self, out: Path, seed: int):
        self.out, self.seed = out, seed
        self.lock = threading.Lock()
        self.list: list[dict] = []

    def put(self, result: dict, left: int) -> None:
        with self.lock:
            self.list.append(result)
            print_result(result, len(self.list), left)
            save(self.out, self.seed, self.list)

    def has_met(self, kind: str) -> bool:
        with self.lock:
            return any(r["kind"] == kind and r["fired"] for r in self.list)


def blank(ident: str, kind: str) -> dict:
    return {"id": ident, "kind": kind, "fired": False, "violations": [], "runs": [], "node": "idle",
            "reason": "", "extra": {}, "seconds": 0}


def attempt(lane: Lane, case: Case) -> dict:
    started, result = time.monotonic(), blank(case.id, case.kind)
    try:
        lane.prepare()
        violations = case.run(result["extra"])
        result["violations"] = violations + lane.conclude(result)
    except Stuck as error:
        result["stuck"] = str(error)
    result["seconds"] = round(time.monotonic() - started, 1)
    return result


def try_all(lane: Lane, results: Results, wants: Callable[[Case], bool], once: bool, deadline: float) -> None:
    lane.open()
    waiting = [case for case in in_turn(lane.cases()) if wants(case)]
    for number, case in enumerate(waiting, 1):
        if time.monotonic() > deadline:
            break
        if not once or not results.has_met(case.kind):
            results.put(attempt(lane, case), len(waiting) - number)
    lane.close()


def work(lane: Lane, results: Results, *how) -> None:
    try:
        try_all(lane, results, *how)
    except Stuck as error:
        results.put(blank(type(lane).__name__, "lane") | {"stuck": str(error)}, 0)
