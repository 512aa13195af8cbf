"""How the campaign tells what it found: a line an injection, a table by kind, a JSON of all."""

import json
from pathlib import Path

VIOLATIONS = {"ran in a wrong mode": "wrong mode", "job lost": "job lost",
              "foreign bytes": "foreign"}


def print_result(result: dict, number: int, left: int) -> None:
    word = "stuck" if "stuck" in result else "BAD" if result["violations"] else (
        "ok" if result["fired"] else "not met")
    print(f"{number:4} ({left} left) {word:7} {result['seconds']:5.1f} s  {result['id']}", flush=True)
    for line in result["violations"] + ([result["stuck"]] if "stuck" in result else []):
        print(f"       {line}", flush=True)


def save(path: Path, seed: int, results: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"seed": seed, "injections": results}, indent=1) + "\n")


def outcome(result: dict) -> str:
    """What became of the node."""
    if result["node"] == "idle":
        return "changed" if any(run[0] == "end" and run[2] == "n1" for run in result["runs"]) else "kept"
    return "out"


def count_violations(results: list[dict]) -> dict[str, int]:
    counts = dict.fromkeys([*VIOLATIONS.values(), "node"], 0)
    for result in results:
        for line in result["violations"]:
            key = next((name for text, name in VIOLATIONS.items() if line.startswith(text)), "node")
            counts[key] += 1
    return counts


def row(name: str, results: list[dict]) -> str:
    met = [r for r in results if r["fired"]]
    ends = [outcome(r) for r in met]
    bad = count_violations(results)
    seconds = [r["seconds"] for r in results if r["seconds"]]
    mean = sum(seconds) / len(seconds) if seconds else 0
    return (f"{name:9} {len(met):5} {ends.count('changed'):8} {ends.count('kept'):6} {ends.count('out'):6} "
            f"{bad['wrong mode']:7} {bad['job lost']:6} {bad['foreign']:8} {bad['node']:6} {mean:7.1f}")


def print_table(results: list[dict], kinds: list[str]) -> int:
    """The exit status: 0 when nothing was violated and each injection could be tried."""
    print(f"\n{'':9} {'':5} {'--- the node ---':^22} {'------ violations ------':^30} {'mean':>7}")
    print(f"{'kind':9} {'met':>5} {'changed':>8} {'kept':>6} {'out':>6} {'wrong':>7} {'lost':>6} "
          f"{'foreign':>8} {'node':>6} {'s':>7}")
    for kind in kinds:
        mine = [r for r in results if r["kind"] == kind]
        if mine:
            print(row(kind, mine))
    print(row("all", results))
    bad = count_violations(results)
    stuck = sum("stuck" in r for r in results)
    print(f"\n{sum(r['fired'] for r in results)} injections met of {len(results)} tried: jobs run in a "
          f"wrong mode {bad['wrong mode']}, foreign bytes changed {bad['foreign']}, jobs lost "
          f"{bad['job lost']}, nodes neither usable nor out of service with a reason {bad['node']}"
          + (f"; {stuck} could not be prepared" if stuck else ""))
    return 1 if stuck or any(bad.values()) else 0
