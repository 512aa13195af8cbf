#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The readers of Slurm's constraints: pmem_constraint.lua on the controller, site/features.c on the node.

Both are held to tests/fixtures/constraints.tsv, to each other on random lines, and to what slurmctld does with
the characters (build_feature_list() of 22.05, _feature_string2list() and job_features_list2feature_sets() of
24.11), which is written down here once more. Prints TAP. Run from the project's top: test_constraints.py
PRINT_CONSTRAINTS [LINES [SEED]].
"""
import itertools
import random
import re
import subprocess
import sys

TABLE = "tests/fixtures/constraints.tsv"
LUA = ["lua5.1", "tests/lua/print_constraints.lua", "with"]
MODES = {"m": b"pm_memory", "a": b"pm_appdirect", "x": b"pm_mixed", "-": None}
PIECES = [*b"&|,&|()[]", b"(", b")", b"&", b"|", b"*2", b"*", b"pm_memory", b"pm_memory", b"pm_appdirect",
          b"pm_mixed", b"pm_", b"a", b"b", b"rack-1", b"c++", b"x", b" ", b"!", b'"', b"\\", b"0", b"\xc3\xa9", b"\x01"]
PIECES = [bytes([piece]) if isinstance(piece, int) else piece for piece in PIECES]

tests = failed = 0


def check(label: str, good: bool, note: object = "") -> None:
    global tests, failed
    tests += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {tests} - {label}")
    if not good:
        print(f"# {note!r}")


def answers(command: list[str], lines: list[bytes]) -> list[list[str]]:
    done = subprocess.run(command, input=b"".join(line + b"\n" for line in lines), stdout=subprocess.PIPE, check=True)
    return [line.decode("latin-1").split("\t") for line in done.stdout.split(b"\n")[:-1]]


# --- what Slurm does ---

def tokens_of_slurm(text: bytes, newer: bool) -> list[bytes] | None:
    """Its names, operators and brackets; None: refused. What it skips is missing."""
    found: list[bytes] = []
    have = bracket = paren = at = 0
    while at < len(text):
        char = text[at:at + 1]
        if char == b"*":
            digits = re.match(rb"\s*[+-]?\d+", text[at + 1:])
            count = int(digits[0]) if digits else 0
            if not have or count <= 0 or paren:
                return None
            at += len(digits[0])
        elif char in b"&,|":
            if not have:
                return None
            have = 0
            found.append(b"|" if char == b"|" else b"&")
        elif char in b"[(":
            if have or paren or (bracket and char == b"["):
                return None
            bracket, paren = bracket + (char == b"["), paren + (char == b"(")
            found.append(char)
        elif char in b"])":
            if not have or (not paren if char == b")" else not bracket or paren):
                return None
            bracket, paren = bracket - (char == b"]"), paren - (char == b")")
            found.append(char)
        elif not have:
            name = re.match(rb"[^*&,|\[\]()]+", text[at:])[0]
            found.append(name)
            have, at = 1, at + len(name) - 1
        elif newer and text[at - 1:at] in (b")", b"]"):
            return None
        at += 1
    return None if bracket or paren else found


def sets(found: list[bytes]) -> list[frozenset[bytes]]:
    """The sets of features that 24.11 makes of it: '&' binds first."""
    whole: list[frozenset[bytes]] = []
    rest = list(found)

    def item() -> list[frozenset[bytes]]:
        token = rest.pop(0)
        if token not in (b"(", b"["):
            return [frozenset([token])]
        inner = level()
        rest.pop(0)
        return inner

    def level() -> list[frozenset[bytes]]:
        done: list[frozenset[bytes]] = []
        now = item()
        while rest and rest[0] in (b"&", b"|"):
            if rest.pop(0) == b"|":
                done, now = done + now, item()
            else:
                now = [one | other for one, other in itertools.product(now, item())]
        return done + now

    whole = level() if rest else [frozenset()]
    return whole


def serves(wanted: list[frozenset[bytes]], has: set[bytes]) -> bool:
    return any(one <= has for one in wanted)


# --- what must hold of a line ---

def bad_reading(text: bytes, reading: str) -> str:
    """Slurm reads the same features: which modes are left when all other features are there."""
    found = tokens_of_slurm(text, True)
    if found is None:
        return ""
    wanted, ours = sets(found), {token for token in found if token.startswith(b"pm_")}
    others = {token for token in found if token not in ours}
    modes = "".join(letter for letter, feature in MODES.items() if serves(wanted, others | {feature}) or not ours)
    told = modes + (" pm" if ours else "")
    return "" if told == reading else f"Slurm's reading is {told}"


def bad_combination(text: bytes, combined: str, newer: bool) -> str:
    """Slurm takes it, wants pm_memory in each of its sets and no other mode, and loses nothing of the text."""
    before, after = (tokens_of_slurm(line, newer) for line in (text, combined.encode("latin-1")))
    if before is None:
        return ""
    if after is None or re.search(r"[\[\]*]" if newer else r"[\[\]()|*]", combined):
        return "Slurm refuses it beside a mode"
    old, new = sets(before), sets(after)
    if any({name for name in one if name.startswith(b"pm_")} != {b"pm_memory"} for one in new):
        return "not each set has pm_memory alone"
    names = sorted({name for one in old + new for name in one if not name.startswith(b"pm_")})
    for chosen in itertools.chain.from_iterable(itertools.combinations(names, n) for n in range(len(names) + 1)):
        has = {*chosen, b"pm_memory"}
        if serves(old, has) != serves(new, has):
            return f"differs on a node with {has}"
    return ""


def faults(text: bytes, by_c: list[str], by_lua: list[str]) -> str:
    if by_c[0] != by_lua[0]:
        return f"C reads {by_c[0]}, Lua {by_lua[0]}"
    if "expected" in by_c[0]:
        return ""
    if fault := bad_reading(text, by_c[0]):
        return fault
    for version, combined in enumerate(by_lua[1:]):
        if combined != "no" and not combined.startswith("refused at "):
            if fault := bad_combination(text, combined, version == 1):
                return f"{combined}: {fault}"
    return ""


def unescape(text: str) -> bytes:
    return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode())


def check_table(program: str) -> list[bytes]:
    with open(TABLE, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    lines = [unescape(row[0]) for row in rows]
    check(f"the table has {len(rows)} rows, each once", len(rows) >= 200 and len(set(lines)) == len(lines))
    for row, line, by_c, by_lua in zip(rows, lines, answers([program], lines), answers(LUA, lines), strict=True):
        wanted = [cell.encode().decode("latin-1") for cell in row[1:]]
        check(f"C: '{row[0]}' is {row[1]}", by_c == wanted[:1], by_c)
        check(f"Lua: '{row[0]}' is {row[1:]}", by_lua == wanted, by_lua)
        check(f"Slurm: '{row[0]}'", not (fault := faults(line, by_c, by_lua)), fault)
    return lines


def check_length(program: str) -> None:
    """Slurm takes 1024 characters."""
    lines = [b"a" * 1024, b"a" * 1025, b"pm_memory|" * 102 + b"(a)&", b"pm_memory|" * 102 + b"(a)&b"]
    refusal = "the end expected at character 1025, not "
    for line, by_c, by_lua in zip(lines, answers([program], lines), answers(LUA, lines), strict=True):
        check(f"{len(line)} characters", by_c[0] == by_lua[0] and by_c[0].startswith(refusal) == (len(line) > 1024),
              (by_c, by_lua))


def check_random(program: str, table: list[bytes], count: int, seed: int) -> None:
    """Half are made of pieces, half are rows of the table with a piece put over a part of them."""
    dice = random.Random(seed)
    lines = [b"".join(dice.choices(PIECES, k=dice.randint(1, 9))) for _ in range(count // 2)]
    for line in dice.choices(table, k=count - len(lines)):
        start = dice.randint(0, len(line))
        lines.append(line[:start] + dice.choice(PIECES) + line[start + dice.choice((0, 0, 1, 5)):])
    read = combined = 0
    for line, by_c, by_lua in zip(lines, answers([program], lines), answers(LUA, lines), strict=True):
        read += "expected" not in by_c[0]
        combined += len(by_lua) == 3 and by_lua[2] != "no" and "refused" not in by_lua[2]
        if fault := faults(line, by_c, by_lua):
            check(f"random line {line!r}", False, fault)
    check(f"seed {seed}: {count} random lines, {read} of them read, {combined} combined with a mode",
          read > count // 10 and combined > count // 20)


def main() -> int:
    program = sys.argv[1]
    table = check_table(program)
    check_length(program)
    check_random(program, table, int(sys.argv[2]) if sys.argv[2:] else 20000,
                 int(sys.argv[3]) if sys.argv[3:] else random.randrange(10 ** 6))
    print(f"1..{tests}\n# {tests - failed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
