#!/usr/bin/env python3
"""The page of a job, pmreport job: what it is made of; TAP. test_pages.py shows it in a browser."""
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from report import report

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "pmreport"))
sys.dont_write_bytecode = True

from jobreport import chart, job, page  # noqa: E402

GIB = 1 << 30


def node(name: str = "n1", levels: Any = ((1, 0, 0), (2, 4, 1)), **more: Any) -> dict[str, Any]:
    """Samples of GiB in DRAM, PMem and $PM_DIR, four seconds apart."""
    samples = [{"after_s": 4 * i, "dram_bytes": dram * GIB, "pmem_bytes": pmem * GIB, "dir_bytes": held * GIB}
               for i, (dram, pmem, held) in enumerate(levels)]
    held = [dram * GIB for dram, _, _ in levels]
    parts = [{"tier": "dram", "number": 1, "socket": 1, "peak_bytes": 2 * GIB, "levels": held},
             {"tier": "dir", "number": 0, "socket": 0, "peak_bytes": GIB, "limit_bytes": 2 * GIB}]
    return {"job": 17, "uid": 1000, "node": name, "mode": "flat", "run": "a", "begin": 1000, "end": 1008, "setup_ms": 2500, "cleanup_ms": 9700,
            "memory_peak_bytes": 6 * GIB, "memory_limit_bytes": 9 * GIB, "step_s": 4, "parts": parts, "samples": samples, **more}


RUNTIME = {"processes": 2} | {f"{key}_{what}": value for key in ("dram", "pmem", "spilled", "promoted")
                              for what, value in (("bytes", 6 * GIB), ("most_bytes", 4 * GIB), ("most_rank", "1"))}


def read(*nodes: dict[str, Any], **more: Any) -> job.Job:
    facts = {"job": 17, "name": "<a&b>", "state": "COMPLETED", "nodes": "n1", "n_nodes": len(nodes), "feature": "pm_appdirect"}
    return job.read(json.dumps({"version": 1, "job": facts, "node": list(nodes), **more}), "f")


def refused(text: str) -> str:
    try:
        job.read(text, "f")
    except job.ReportError as error:
        return str(error)
    return ""


def reading() -> list[tuple[bool, str]]:
    whole = read(node(), node("n2", memory_peak_bytes=7 * GIB), node("n0", run="b", begin=2000, end=2008), node("n9", run="b", begin=2000, end=2008))
    one = read(node()).nodes[0]
    bare = job.read('{"version": 1}', "f")
    return [([n.name for n in whole.nodes] == ["n0", "n9"], "of a requeued job, its last run"),
            ([n.name for n in read(node(), node("n2", memory_peak_bytes=7 * GIB)).nodes] == ["n2", "n1"], "the node that used most is the first"),
            (one.seconds == 8 and one.most("pmem") == 4 * GIB and one.quota() == 2 * GIB, "times, samples and quota"),
            (read(node(end=0)).nodes[0].seconds == 0, "a job that runs has no end"),
            (bare.nodes == [] and bare.number == 0 and "<h1>Job 0</h1>" in page.page(bare, 4), "a job of which nothing is known"),
            ("'f' is not what 'pmctl report --json' prints" in refused("[]") and "prints" in refused("{") and "prints" in refused(
                json.dumps({"version": 1, "node": [{"node": "n1"}]})), "another file is told of"),
            ("is of version 2, this program reads 1" in refused('{"version": 2}'), "another version, too")]


def pictures(text: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(f"<svg{part.split('</svg>')[0]}</svg>") for part in text.split("<svg")[1:]]


def texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(e.itertext()) for e in picture.iter("text")]


def height_of(picture: ElementTree.Element, words: str) -> float:
    return float(next(e for e in picture.iter("text") if e.text == words).attrib["y"]) - 4


def of_page() -> list[tuple[bool, str]]:
    text = page.page(read(node(), reboot=[{"node": "n1", "from": "memory", "to": "flat", "start": 5, "end": 305, "failure": "late"}]), 4)
    wide, narrow = pictures(text)
    bounds = [float(e.attrib["y1"]) for e in wide.iter("line") if e.attrib["class"] == "bound"]
    far = pictures(page.page(read(node(memory_limit_bytes=900 * GIB)), 4))[0]
    empty = page.page(read(node(levels=())), 4)
    many = page.page(read(*[node(f"n{i}") for i in range(6)]), 4)
    return [("Memory, GiB" in texts(wide) and "$PM_DIR, GiB" in texts(wide), "memory and directories are apart, each with its unit"),
            ("time since the node's set-up began, s" in texts(wide) and "set-up, 2.5 s" in texts(narrow), "time has its unit, and the set-up a bar"),
            ("limit 9 GiB" in texts(wide) and "quota 2 GiB" in texts(wide) and bounds[1] == height_of(wide, "2"), "limit and quota are lines"),
            (abs(bounds[0] - 0.9 * height_of(wide, "10") - 0.1 * height_of(wide, "0")) < 0.2, "at their heights"),
            ("limit 900 GiB, above this axis" in texts(far), "a limit far above is said to be"),
            ([e.attrib["class"] for e in wide.iter("path")] == ["c0", "c1", "c2"], "each tier has an area"),
            (chart.band([0, 0], [1, 2], [0, 10, 20], chart.scale(2, chart.BYTES, (100, 0), 4)) == "M0 50V50H10V0H20V100H10V100H0z",
             "which holds each level until the next look"),
            ("&lt;a&amp;b&gt;" in text and "<a&b>" not in text, "names are shown as they are"),
            ("10 min" not in text and "5 min 0 s" in text and "n1 did not come back from its reboot as it should: late" in text, "reboots are told"),
            ("<svg" not in empty and "No look at the job" in empty, "without a look there is no picture"),
            ("<summary>2 more nodes</summary>" in many and len(pictures(many)) == 12, "further nodes are folded away"),
            ("Objects of the placement runtime" in page.page(read(node(), runtime=RUNTIME), 4) and "placement runtime" not in text, "the runtime's sums"),
            ("1 of 2 nodes have not reported" in page.page(read(node(), job={"n_nodes": 2}), 4), "nodes that are missing are counted"),
            ("1 of 2 nodes have not reported: a node failed" in page.page(read(node(), job={"n_nodes": 2, "state": "NODE_FAIL"}), 4), "and lost ones told"),
            ("<dt>energy</dt><dd>12.3 kJ</dd>" in page.page(read(node(), job={"energy_joules": 12300}), 4) and "<dt>energy" not in text,
             "energy, where it is accounted"),
            (all(word not in text for word in ("<script", "http://", "https://", "src=", "<link")), "the page needs nothing else")]


def of_sockets() -> list[tuple[bool, str]]:
    """Two sockets: DRAM of both, and PMem of socket 1 that appeared after the last look."""
    held = [{"tier": "dram", "number": 0, "socket": 0, "peak_bytes": 4 * GIB, "levels": [GIB, 0]},
            {"tier": "dram", "number": 1, "socket": 1, "peak_bytes": 2 * GIB, "levels": [0, 2 * GIB]},
            {"tier": "pmem", "number": 3, "socket": 1, "peak_bytes": 4 * GIB}]
    two = read(node(parts=held)).nodes[0]
    wide = pictures(page.page(read(node(parts=held)), 4))[0]
    names = [panel.name for panel in chart.panels_of(two)]
    older = chart.panels_of(read(node(parts=[{k: v for k, v in part.items() if k != "levels"} for part in held])).nodes[0])
    return [(names == ["Memory", "Memory of socket 0", "Memory of socket 1", "$PM_DIR"], "a picture for each socket"),
            (two.of_socket(1) == [{"dram": 0, "pmem": 0, "dir": 0}, {"dram": 2 * GIB, "pmem": 0, "dir": 0}], "with its own levels"),
            ([panel.top for panel in chart.of_sockets(two)] == [2 * GIB] * 2, "on the scale of the other"),
            ("Memory of socket 1, GiB" in texts(wide), "and its unit"),
            ([panel.name for panel in older] == ["Memory", "$PM_DIR"], "none where a node tells no levels"),
            ([panel.name for panel in chart.panels_of(read(node()).nodes[0])] == ["Memory", "$PM_DIR"], "nor of one socket")]


def of_command() -> list[tuple[bool, str]]:
    def run(text: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([TOP / "pmreport/pmreport", "job", *words], input=text, capture_output=True, text=True, check=False)
    done, wrong, lost = run('{"version":1}', "-"), run("no", "-"), run("", "/nonexistent/report")
    unwritten = run('{"version":1}', "-", "--html=/nonexistent/page")
    return [(done.returncode == 0 and done.stdout.startswith("<!doctype html>"), "it prints the page"),
            (wrong.returncode == 1 and wrong.stderr.startswith("pmreport: '-' is not what"), "or a sentence"),
            (lost.stderr == "pmreport: read '/nonexistent/report': No such file or directory\n", "about its file"),
            (unwritten.returncode == 1 and "write '/nonexistent/page': No such file" in unwritten.stderr, "or the page's")]


def crowded() -> str:
    """A page that has all there is, with long names."""
    long = "a_node_with_a_long_name_" * 3
    levels = [(i % 7, i // 4, i // 9) for i in range(120)]
    facts = {"job": 4294967294, "name": "a_name_without_any_gap" * 8, "state": "OUT_OF_MEMORY", "nodes": "node[1-9,11-19]" * 9, "n_nodes": 9,
             "energy_joules": 987654321000}
    sockets = [{"tier": tier, "number": 2 * socket + i, "socket": socket, "peak_bytes": 40 * GIB,
                "levels": [(at * (socket + 1) // (3 + i) % 31) * GIB for at in range(120)]} for socket in (0, 1) for i, tier in enumerate(("dram", "pmem"))] + [
                   {"tier": "dir", "number": 0, "socket": 0, "peak_bytes": GIB, "limit_bytes": 2 * GIB}]
    nodes = [node(f"{long}{i}", levels, setup_ms=setup, end=1480, memory_limit_bytes=limit * GIB, parts=sockets) for i, (setup, limit) in
             enumerate(((500000, 40), (10, 3000), (90000, 36)))]
    reboots = [{"node": f"{long}1", "from": "memory", "to": "flat", "start": 1, "end": 900, "failure": "it is in mode memory " * 9}]
    return page.page(read(*nodes, job=facts, reboot=reboots, runtime=RUNTIME), 2)


if __name__ == "__main__":
    sys.exit(report(reading() + of_page() + of_sockets() + of_command()))
