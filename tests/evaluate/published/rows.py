"""Claims of the papers, beside sums of counts: pure functions of the regions that the meter wrote.

Times are those of the model of streams (twin/meter/time_model.py): of memory alone, as if nothing was computed meanwhile. A ratio of
times is therefore the most that a program can win or lose.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from meter import time_model
from meter.time_model import Traffic

AGREES, ORDER, PARTLY, DIFFERS = "agrees", "order agrees", "agrees in part", "differs"
NOT_AVAILABLE, NOT_REPRODUCED = "not available", "not reproduced"
MIB = 1 << 20
Regions = Mapping[str, dict]


@dataclass(frozen=True)
class Row:
    """`printed` is the paper's; `why` says why they differ, or why there is nothing to compare."""

    paper: str
    where: str
    claim: str
    printed: str
    here: str
    verdict: str
    why: str = ""


def flat(region: dict, sockets: int = 1) -> Traffic:
    """Of all makers: the kernel's clearing and copying is in a paper's time, too."""
    dram = pmem_read = pmem_written = 0
    for row in region["traffic"]:
        written = row["written_bytes"] + row["nontemporal_written_bytes"]
        if row["node"] < sockets:
            dram += row["read_bytes"] + written
        else:
            pmem_read += row["read_bytes"]
            pmem_written += written
    return Traffic(dram, pmem_read, pmem_written)


def near(region: dict) -> Traffic:
    """In Memory Mode."""
    names = ("dram_read_bytes", "dram_written_bytes", "pmem_read_bytes", "pmem_written_bytes")
    sums = [sum(row[name] for row in region["memory_mode"]) for name in names]
    return Traffic(sums[0] + sums[1], sums[2], sums[3])


def cached(region: dict) -> float:
    """A run in Memory Mode against the same traffic with all of it in DRAM."""
    return seconds(near(region)) / seconds(flat(region, len(region["memory_mode"])))


def remote_dram(region: dict, sockets: int = 2) -> int:
    """Bytes of programs from and to the DRAM of another socket: in Memory Mode, from and to its memory."""
    return sum(row["read_bytes"] + row["written_bytes"] + row["nontemporal_written_bytes"] for row in region["traffic"]
               if row["maker"] == "user" and row["node"] < sockets and row["node"] != row["socket"])


def seconds(traffic: Traffic) -> float:
    return time_model.fit().seconds(traffic)


def pmem(traffic: Traffic) -> float:
    return traffic.pmem_read + traffic.pmem_written


def error() -> float:
    return time_model.predict(Traffic()).error_elsewhere


def compared(printed: float | tuple[float, float], found: Mapping[str, float], order: bool | None = None) -> str:
    """Ratios of times, by program. The order is right if all are on the same side of 1 as the paper's; the size, if they are within the
    model's error of it."""
    low, high = printed if isinstance(printed, tuple) else (printed, printed)
    sizes = [low / (1 + error()) <= one <= high * (1 + error()) for one in found.values()]
    orders = [(one > 1) == (high > 1) for one in found.values()] if order is None else [order]
    if not all(orders):
        return PARTLY if any(orders) and len(orders) > 1 else DIFFERS
    return AGREES if all(sizes) else PARTLY if any(sizes) else ORDER


def by_program(right: list[bool]) -> str:
    """Whether each program agrees."""
    return AGREES if all(right) else PARTLY if any(right) else DIFFERS


def told(found: Mapping[str, float], form: str = "{:.2f}") -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in found.items())


def mib(bytes_: float) -> str:
    return f"{bytes_ / MIB:.1f} MiB"


def mean(values) -> float:
    values = list(values)
    return sum(values) / len(values)


STREAMS_ONLY = "the model has the time of memory alone; a program that computes meanwhile wins and loses less"
TAGS = "the model of Memory Mode reads a tag from DRAM for each line that is written back, and the time model adds that to the rest"


# --- paper 000 ---

@dataclass(frozen=True)
class Placed:
    """A program's regions, by problem of paper 000, and by layout in Memory Mode."""

    flat: Regions
    memory_mode: Mapping[str, Regions]

    @property
    def problems(self) -> list[str]:
        return list(self.memory_mode)

    def middle(self, problem: str) -> dict:
        """The region of the middle layout in Memory Mode."""
        layouts = sorted(self.memory_mode[problem].values(), key=lambda region: seconds(near(region)))
        return layouts[len(layouts) // 2]

    def times(self, problem: str) -> dict[str, float]:
        return {"static": seconds(flat(self.flat[f"static {problem}"])), "memory mode": seconds(near(self.middle(problem))),
                "first touch": seconds(flat(self.flat[f"first touch {problem}"])), "pmem": seconds(flat(self.flat["pmem"]))}

    def gain(self, over: str, *problems: str) -> float:
        return mean(times[over] / times["static"] for times in map(self.times, problems or self.problems))

    def spread(self, problem: str) -> float:
        times = [seconds(near(region)) for region in self.memory_mode[problem].values()]
        return max(times) / min(times) - 1


def fits(placed: Mapping[str, Placed], memory_mode: Regions) -> Row:
    """With room for all, first touch and static placement put all into DRAM."""
    times = {name: cached(memory_mode[name]) for name in placed}
    sums = [near(memory_mode[name]) for name in placed]
    moved = max(pmem(one) / (one.dram + pmem(one)) for one in sums)
    return Row("000", "V-B, problem G", "what fits into DRAM is as fast by first touch, in Memory Mode and by WarpX-PM", "almost no difference",
               f"Memory Mode over DRAM: {told(times)}; of its traffic {100 * moved:.1f} % goes to PMem", compared(1.0, times, moved < 0.05), TAGS)


def gain(placed: Mapping[str, Placed], over: str, name: str, percent: float, where: str, *problems: str, why: str = STREAMS_ONLY) -> Row:
    found = {program: one.gain(over, *problems) for program, one in placed.items() if set(problems) <= set(one.problems)}
    return Row("000", where, f"static placement is faster than {name}" if problems else f"WarpX-PM is faster than {name}, on average", f"{percent} %, a ratio of {1 + percent / 100:.2f}",
               f"static placement: {told(found)}", compared(1 + percent / 100, found), why)


def order(placed: Mapping[str, Placed]) -> Row:
    expected = ["static", "memory mode", "first touch", "pmem"]
    found = {program: {way: mean(one.times(problem)[way] / one.times(problem)["static"] for problem in one.problems) for way in expected} for program, one in placed.items()}
    orders = {program: sorted(times, key=times.__getitem__) for program, times in found.items()}
    right = [one == expected for one in orders.values()]
    return Row("000", "V-B, Fig. 4", "the order of average times", "WarpX-PM, Memory Mode, first touch, PMem alone",
               "; ".join(f"{program}: {' < '.join(f'{way} {found[program][way]:.2f}' for way in one)}" for program, one in orders.items()),
               by_program(right),
               "minipic sweeps fields and particles in the same order, a byte of fields hardly more often than one of particles; and with 14 MiB of DRAM, 5 objects of 0.9 MiB fill 11 of the runtime's 12")


def spreads(placed: Mapping[str, Placed], near_dram: str, far: str) -> Row:
    """By layouts of pages."""
    found = {program: (one.spread(near_dram), one.spread(far)) for program, one in placed.items()}
    ratios = {program: 1 + a for program, (a, _) in found.items()}
    return Row("000", "V-B", "Memory Mode varies between runs of a problem slightly larger than DRAM (A)", "up to 30.5 %",
               "; ".join(f"{program}: {100 * a:.0f} % over layouts of pages, problem {far} {100 * b:.0f} %" for program, (a, b) in found.items()),
               compared(1.305, ratios, all(a > b for a, b in found.values())),
               "layouts here have pieces of 4 KiB and of 2 MiB: with few of the latter, chance is larger than on a node of 192 GB")


def tiers(placed: Mapping[str, Placed]) -> Row:
    """Of each program's largest problem."""
    texts, less = [], []
    for program, one in placed.items():
        problem = one.problems[-1]
        static, beside = flat(one.flat[f"static {problem}"]), near(one.middle(problem))
        texts.append(f"{program}, {problem}: PMem read {mib(static.pmem_read)} against {mib(beside.pmem_read)}, written {mib(static.pmem_written)} against "
                     f"{mib(beside.pmem_written)}; DRAM {mib(static.dram)} against {mib(beside.dram)}")
        less.append(pmem(static) < pmem(beside))
    return Row("000", "V-B, Fig. 7, problem F", "in phases with static placement alone, less of the bandwidth of PMem than Memory Mode", "lower (figure)",
               "; ".join(texts), by_program(less), "bytes of the whole loop, not bandwidth by phase")


def dynamic(one: Placed, problem: str, region: dict) -> Row:
    found, beside = flat(region), near(one.middle(problem))
    return Row("000", "V-B, Fig. 7", "in phases with dynamic placement, more of the bandwidth of PMem than Memory Mode", "higher (figure)",
               f"minipic, problem {problem}: PMem {mib(pmem(found))} against {mib(pmem(beside))}", AGREES if pmem(found) > pmem(beside) else DIFFERS,
               "bytes, not bandwidth; Memory Mode moves each line that misses, and batches are copied once a sweep")


REMOTE = {"A": (0.92, 1.01, 0.01), "B": (4.08, 3.75, 0.02), "C": (3.69, 4.76, 0.02), "D": (18.09, 23.90, 0.05), "E": (1.01, 0.90, 0.01), "F": (2.22, 2.28, 0.01)}


def remote(flat_regions: Regions, memory_mode: dict) -> list[Row]:
    """Table VII, as a ratio to first touch."""
    printed = {"Memory Mode": [a / b for a, b, _ in REMOTE.values()], "WarpX-PM": [c / b for _, b, c in REMOTE.values()]}
    base, default = remote_dram(flat_regions["dram first"]), remote_dram(flat_regions["first touch"])
    found = {"Memory Mode": remote_dram(memory_mode), "WarpX-PM": remote_dram(flat_regions["static"])}
    rows = []
    for name, ratios in printed.items():
        ratio = found[name] / (base or 1)
        inside = min(ratios) / 2 <= ratio <= 2 * max(ratios) or (name == "WarpX-PM" and ratio <= max(ratios))
        rows.append(Row("000", "Table VII", f"remote DRAM traffic, {name} over first touch", f"{min(ratios):.3f} to {max(ratios):.3f}",
                        f"{ratio:.3f}: {mib(found[name])} of {mib(base)} (the kernel's own order, which prefers its socket's PMem: {mib(default)})", AGREES if inside else DIFFERS,
                        "two ranks that exchange nothing, each pinned, with their memory's first touch on their socket: no page of one is on the other socket"))
    return rows


ABSENT_000 = (
    Row("000", "Table I", "problem sizes of supercomputers", "3.1 and 5.5 times", "-", NOT_REPRODUCED, "an estimate from capacities"),
    Row("000", "Table II", "short-lived objects of WarpX", "92.7 % of objects, below 10 % of the peak", "-", NOT_AVAILABLE, "WarpX is not counted; pic is modelled on this table"),
    Row("000", "Table III, Fig. 2", "time and bandwidth by phase", "58, 26, 9, 4.9 and 2.1 %", "-", NOT_AVAILABLE, "the model has no time for computing; Fig. 2 survives as its caption"),
    Row("000", "V-B, Fig. 5", "dynamic placement against static and Memory Mode", "41 and 34 %; by phase 11, 17 and 12 %", "-", NOT_AVAILABLE, "the time model adds; it has no copies beside computing"),
    Row("000", "V-B, Fig. 5", "static against Memory Mode in gather and others", "10 and 7 %", "-", NOT_AVAILABLE, "minipic pushes, gathers and deposits in one loop"),
    Row("000", "V-B, Fig. 6", "WarpX-PM against IAL, page migration in the kernel", "83.3 %, up to 96.6 %", "-", NOT_AVAILABLE, "IAL is a patched kernel; `make evaluate` has Linux's own tiering"),
    Row("000", "V-B, Fig. 8", "helper threads: two or one are best, more lose", "more than 30 %", "-", NOT_AVAILABLE, "time of threads: docs/dev/model.md has it in virtual time"),
    Row("000", "IV-C", "memory on the other socket", "up to 2 times", "-", NOT_AVAILABLE, "the time model has no remote memory"),
)


# --- paper 001 ---

TIN = {"local": (1.06, 6.87e8), "remote": (1.36, 5.66e8), "memory mode": (1.10, 3.81e8)}     # Table 3: slowdown, loads from DCPMM


def local_and_remote(sockets: Regions, memory_mode: dict) -> list[Row]:
    sums = {name: flat(region, 2) for name, region in sockets.items()}
    slow = {"local": seconds(sums["local"]) / seconds(sums["dram"]), "memory mode": cached(memory_mode)}
    reads = {"local": sums["local"].pmem_read, "remote": sums["remote"].pmem_read, "memory mode": near(memory_mode).pmem_read}
    by_socket = {name: tuple(sum(row["read_bytes"] + row["written_bytes"] for row in sockets[name]["traffic"] if row["node"] == node) for node in (2, 3)) for name in ("local", "remote")}
    part = "CASTEP has 1.011 GB of its 18.658 in PMem, minipic all; " + STREAMS_ONLY
    return [
        Row("001", "Tables 3 and 4", "local PMem against DRAM", "1.06, and 1.12 on both sockets", told({"minipic": slow["local"]}), compared((1.06, 1.12), {"minipic": slow["local"]}), part),
        Row("001", "Table 3", "remote PMem against DRAM", "1.36", f"{mib(by_socket['remote'][1])} to the other socket's PMem, {mib(by_socket['remote'][0])} to the own one; with local PMem "
            f"{mib(by_socket['local'][1])} and {mib(by_socket['local'][0])}. Time: not available", NOT_AVAILABLE, "the bytes are exact; the time model has no remote memory"),
        Row("001", "Tables 3 and 4", "Memory Mode against DRAM, of what fits", "1.10, and 1.06 on both sockets", told({"minipic": slow["memory mode"]}),
            compared((1.06, 1.10), {"minipic": slow["memory mode"]}), TAGS),
        Row("001", "Table 3", "loads from PMem: DRAM alone", "0", mib(sums["dram"].pmem_read), AGREES if sums["dram"].pmem_read < reads["local"] / 1000 else DIFFERS, "pages of files that are in PMem"),
        Row("001", "Table 3", "loads from PMem: remote over local", f"{TIN['remote'][1] / TIN['local'][1]:.2f}", f"{reads['remote'] / reads['local']:.2f}",
            compared(TIN["remote"][1] / TIN["local"][1], {"minipic": reads["remote"] / reads["local"]}),
            "the program loads the same bytes from either node, and the kernel copies some pages; the paper does not say why it has fewer"),
        Row("001", "Table 3", "loads from PMem: Memory Mode over local", f"{TIN['memory mode'][1] / TIN['local'][1]:.2f}, \"roughly halved\"", f"{reads['memory mode'] / reads['local']:.3f}",
            compared(TIN["memory mode"][1] / TIN["local"][1], {"minipic": reads["memory mode"] / reads["local"]}, reads["memory mode"] < reads["local"]),
            "CASTEP has 5 % of its data in PMem with libvmmalloc, and all of it in Memory Mode; the paper, too, is surprised by loads from PMem of data that fit"),
    ]


def bandwidth(rows: int, columns: int, bytes_: int, traffic: Traffic) -> float:
    """GB/s as STREAM reports it."""
    return rows * columns * bytes_ / seconds(traffic) / 1e9


COLUMNS = 1024      # of arrays.c


def triad(flat_regions: Regions, near_regions: Regions, rows: int, small: int, large: int) -> list[Row]:
    found = {"DRAM": (150, bandwidth(rows, COLUMNS, 24, flat(flat_regions["triad nothing"]))), "PMem": (32, bandwidth(rows, COLUMNS, 24, flat(flat_regions["triad all"]))),
             "Memory Mode, fits": (146, bandwidth(small, COLUMNS, 24, near(near_regions["triad small"]))),
             "Memory Mode, beyond DRAM": (12, bandwidth(large, COLUMNS, 24, near(near_regions["triad large"])))}
    return [Row("001", "5.3" if "beyond" in name else "Table 10", f"STREAM triad, {name}", f"{printed} GB/s", f"{value:.1f} GB/s", compared(float(printed), {"": value}, True),
                TAGS if "fits" in name else "the model is fitted to other figures, of paper 004") for name, (printed, value) in found.items()]


ABSENT_001 = (
    Row("001", "Table 3", "cycles an instruction, stall cycles", "1.17 to 1.57; 1.62e13 to 2.45e13", "-", NOT_REPRODUCED, "an emulator has neither"),
    Row("001", "Fig. 2", "loads from PMem over time in Memory Mode", "8 % slower", "-", NOT_AVAILABLE, "survives as its caption"),
    Row("001", "Tables 1, 5 and 6", "DNA on 4 nodes in Memory Mode against 20", "3 to 3.75 times slower", "-", NOT_REPRODUCED, "CASTEP on several nodes"),
    Row("001", "Tables 6 and 7", "energy and power", "28.64 to 51.52 MJ; 11 to 40 W", "-", NOT_REPRODUCED, "not measurable here"),
    Row("001", "Tables 8 and 9", "object store and forecasts", "40.18 GB/s; 1599 to 1928 s", "-", NOT_REPRODUCED, "I/O of IFS, not memory"),
)


# --- paper 002 ---

def mini_apps(apps: Mapping[str, tuple[Traffic, Traffic]], fitting: Regions) -> list[Row]:
    """Traffic of each in DRAM and in PMem; and regions in Memory Mode."""
    printed = {"minipic": ("Fig. 14, VPIC", (1.02, 1.16), "2 to 16 % slower"), "conjugate gradients": ("Fig. 8, AMG", (2.0, 2.0), "more than 2 times"),
               "multigrid": ("Fig. 8, AMG", (2.0, 2.0), "more than 2 times"), "hydro": ("Fig. 11, LULESH", (1.5, 6.0), "1.5 times; about 6 times with 27 processes")}
    rows = []
    for name, (dram, slow) in apps.items():
        where, (low, high), text = printed[name]
        ratio = seconds(slow) / seconds(dram)
        rows.append(Row("002", where, "PMem alone against DRAM", text, f"{name} {ratio:.2f}", compared((low, high), {name: ratio}), STREAMS_ONLY))
    ratios = {name: seconds(slow) / seconds(dram) for name, (dram, slow) in apps.items()}
    order = sorted(ratios, key=ratios.__getitem__)
    rows.append(Row("002", "6.2", "the order of losses in PMem alone", "VPIC, AMG, LULESH", ", ".join(order), AGREES if order[0] == "minipic" and order[-1] == "hydro" else DIFFERS,
                    "without the time of computing the model does not order programs, only their mixes of reads and writes: not to be used for that"))
    times = {name: cached(region) for name, region in fitting.items()}
    rows.append(Row("002", "6.2, Figs. 8, 11, 14, 17", "Memory Mode against DRAM, of what fits", "minimal or no difference", told(times), compared(1.0, times, True), TAGS))
    return rows


def boundness(parts: Mapping[str, float]) -> Row:
    """Bytes behind the caches for each byte that is loaded or stored: how much memory can matter."""
    right = parts["minipic"] < parts["conjugate gradients"]
    return Row("002", "6.2", "VPIC loses little because of its cache hits, AMG is bound by memory", "2 to 16 % against more than 2 times",
               "bytes behind the caches for each that is loaded or stored: " + told(parts), AGREES if right else DIFFERS,
               "of small inputs behind a cache of 128 KiB; conjugate gradients stand for AMG, and Python's own loads count with them")


def four_reads() -> Row:
    """By the model alone: one array is written, four are read."""
    found = seconds(time_model.stream(32, 8, "all")) / seconds(time_model.stream(32, 8, "nothing"))
    return Row("002", "6.1, Fig. 3b", "a stream of one write and four reads, DRAM against PMem", "8 times", f"{found:.1f} times, by the model without a run", compared(8.0, {"": found}),
               "the paper has it at few threads, the model of a whole node")


ABSENT_002 = (
    Row("002", "Fig. 17, SNAP", "PMem alone against DRAM", "slightly different; 2 times in weak scaling", "-", NOT_AVAILABLE, "no transport code is counted"),
    Row("002", "6.1, Fig. 3a", "local against remote nodes, write-only", "22 % for PMem, 16 % for DRAM", "-", NOT_AVAILABLE, "the time model has no remote memory"),
    Row("002", "Figs. 4 to 7", "strided, random, matrix and stencil streams", "ratios of bandwidths", "-", NOT_AVAILABLE, "they survive as captions and prose by numbers of threads"),
    Row("002", "Figs. 9, 12, 15, 18", "energy", "AMG 2 times, LULESH up to 60 % more", "-", NOT_REPRODUCED, "not measurable here"),
    Row("002", "Figs. 10, 13, 16, 19", "cache misses, cycles an instruction, FLOPs", "LULESH 3 times", "-", NOT_REPRODUCED, "an emulator has no cycles; the figures survive as captions"),
)


# --- paper 004 ---

def stream_table(regions: Regions, rows: int) -> list[Row]:
    names = {"nothing": "all in DRAM", "read": "read arrays in PMem", "written": "written arrays in PMem", "all": "all in PMem"}
    found = []
    for place, name in names.items():
        values = {kernel: bandwidth(rows, COLUMNS, read + written, flat(regions[f"{kernel} {place}"])) for kernel, (read, written) in
                  zip(("copy", "scale", "add", "triad"), time_model.KERNELS)}
        off = max(abs(value / printed - 1) for value, printed in zip(values.values(), time_model.STREAM[place]))
        found.append(Row("004", "STREAM, first generation", name, ", ".join(f"{value:g}" for value in time_model.STREAM[place]) + " GB/s", ", ".join(f"{value:.1f}" for value in values.values()) + " GB/s",
                         AGREES if off < error() else ORDER, f"the model is fitted to these; counted traffic is off by {100 * off:.1f} % at most"))
    return found


def sharpen(regions: Regions) -> list[Row]:
    sums = {place: seconds(flat(regions[f"sharpen {place}"])) for place in ("nothing", "read", "written", "all")}
    read, written = sums["read"] / sums["nothing"], sums["written"] / sums["nothing"]
    return [
        Row("004", "Application porting", "sharpen, read-only arrays in PMem: time, and DRAM", "56 to 63 s, 1.12; 285 to 170 GB, 40 % saved", f"{read:.2f}; 50 % saved, two arrays of four",
            compared(63 / 56, {"": read}), STREAMS_ONLY),
        Row("004", "Multi-level memory", "the same, small", "1.426 to 1.432 s, 1.00; 22 to 15 GB", f"{read:.2f}", compared(1.432 / 1.426, {"": read}, read > 1), STREAMS_ONLY),
        Row("004", "STREAM; application porting", "read-only arrays are those to move: they cost less than written ones", "80 against 16.7 GB/s (copy)", f"written arrays in PMem {written:.2f}, read ones {read:.2f}",
            AGREES if written > read > 1 else DIFFERS, ""),
    ]


ABSENT_004 = (
    Row("004", "STREAM, third generation", "all 24 values", "3 to 187 GB/s", "-", NOT_AVAILABLE, "the time model is of the first generation"),
    Row("004", "Application porting", "cfd: time, and DRAM", "7.95 to 9.64 s; 40 to 25 GB", "-", NOT_AVAILABLE, "which arrays moved is not printed"),
    Row("004", "Persistency horizon", "no, partial and full persistence", "9.64, 10.67 and 41.84 s", "-", NOT_REPRODUCED, "cache flushes have no time here"),
    Row("004", "I/O", "n3d on Lustre, PMem as storage and as memory", "9800, 8500, 8300 s; 80000, 9200, 9000 s", "-", NOT_REPRODUCED, "I/O of several nodes"),
    Row("004", "MAD2Bench", "blocks swapped to PMem", "figure", "-", NOT_AVAILABLE, "the figure has no caption"),
)
