"""One sentence on each program, from the counts alone: who is ahead, by how much, and why where the counts tell."""
from __future__ import annotations

from meter import time_model
from picture.axis import BYTES, shown
from judged.results import OURS, PEERS, One, best_share, failed, fastest, ones

MUCH = 0.25             # of a budget that slabs have
UNUSED = 0.1            # of a budget that is left
CLEAR = 0.02            # of the traffic: shares repeat within it


def percent(part: float) -> str:
    return f"{100 * part:.1f} %"


def served(one: One) -> str:
    return f"{one.name} serves {percent(one.share)} of the traffic from DRAM"


def timed(ours: One, peer: One) -> str:
    """Both times; and whether the model can tell them apart."""
    errs = time_model.predict(time_model.Traffic()).error
    near = f", which is within the model's error of {100 * errs:.0f} %" if abs(ours.time / peer.time - 1) <= errs else ""
    return f"{ours.name} takes {ours.time:.2f} times as long as all in DRAM, {peer.name} {peer.time:.2f}{near}"


def reasons(program: dict, found: dict[str, One], ours: One, peer: One) -> list[str]:
    """Of a share that is behind `peer`'s, or of a time."""
    dram, slabs, small, used = program["dram_bytes"], program["slab_bytes"], program["small_peak_bytes"], ours.result.get("dram_peak_bytes")
    exact = found.get("ours, exact")
    told = []
    if slabs >= MUCH * dram:
        told.append(f"the runtime's slabs for objects below 256 KiB take {shown(slabs, BYTES)} in the profiled run, {100 * slabs / dram:.0f} % of the budget, for objects "
                    f"that hold {shown(small, BYTES)} at most")
    if used is not None and used < (1 - UNUSED) * dram:
        told.append(f"{shown(dram - used, BYTES)} of the budget of {shown(dram, BYTES)} are unused")
    if peer.share is not None and program["oracle_share"] < peer.share:
        told.append(f"an oracle of call sites serves {percent(program['oracle_share'])}, less than {peer.name}")
    if exact and exact.share > ours.share + CLEAR:
        told.append(f"advice from exact counts serves {percent(exact.share)}" + ": the profile lacks the rest" * (ours.name == "ours, advised"))
    if ours.more > peer.more + CLEAR:
        told.append(f"traffic beyond that of all in DRAM: {ours.name} {100 * ours.more:+.0f} %, {peer.name} {100 * peer.more:+.0f} %")
    return told


def because(told: list[str]) -> str:
    return f" Counts tell: {'; '.join(told)}." if told else " The counts do not tell why."


def ahead(ours: One, in_share: One, in_time: One) -> str:
    return (f"{ours.name} is ahead of every peer: {served(ours)}, {in_share.name} {percent(in_share.share)}, the best of the peers; "
            f"{timed(ours, in_time)}.")


def behind(ours: One, in_share: One, in_time: One) -> str:
    """In share, in time or in both."""
    parts = [f"in share, as {served(in_share)} and {ours.name} {percent(ours.share)}"] if in_share.share > ours.share else []
    parts += [f"in time, as {timed(ours, in_time)}"] if in_time.time < ours.time else []
    names = " and ".join(dict.fromkeys(one.name for one, is_it in ((in_share, in_share.share > ours.share), (in_time, in_time.time < ours.time)) if is_it))
    return f"{ours.name} is behind {names}: {'; '.join(parts)}."


def verdict(program: dict) -> str:
    found = ones(program)
    ours, peers = fastest([found[name] for name in OURS if name in found]), [found[name] for name in PEERS if name in found]
    in_share, in_time = best_share(peers), fastest(peers)
    lost = f" Failed, and not compared: {', '.join(failed(program))}." if failed(program) else ""
    if ours is None or in_share is None or in_time is None:
        return f"Nothing to compare.{lost}"
    if ours.share > in_share.share and ours.time < in_time.time:
        return ahead(ours, in_share, in_time) + lost
    leader = in_share if in_share.share > ours.share else in_time
    return behind(ours, in_share, in_time) + because(reasons(program, found, ours, leader)) + lost
