"""The evaluation's verdicts and its page."""
import re
from html.parser import HTMLParser

import pytest

from picture import svg
from judged.chart import PERCENT, Bar, Panel, chart
from judged.page import page
from judged.results import ones
from judged.verdict import verdict

MIB = 1 << 20
PEERS = {"first touch": 40, "tiering": 50, "memtier ratio": 20, "memtier size": 10}


def counts(percent: float, status: int = 0, more: float = 1, **told: int) -> dict:
    return {"status": status, "dram": round(percent * MIB * more), "pmem_read": round((100 - percent) * MIB * more), "pmem_written": 0, "copied": 0, **told}


def program(**changes: dict) -> dict:
    """Ours serves 60 % of 100 MiB, and tiering 50 %."""
    found = {"dram": counts(100), "pmem": counts(0), **{name: counts(percent) for name, percent in PEERS.items()}, "memory mode": counts(30, more=2),
             "ours": counts(45), "ours, advised": counts(60, dram_peak_bytes=8 * MIB), "ours, exact": counts(61, dram_peak_bytes=8 * MIB)}
    of_program = {key: changes.pop(key) for key in ("oracle_share", "slab_bytes") if key in changes}
    return {"program": "a<b", "about": "sorts", "peak_bytes": 32 * MIB, "dram_bytes": 8 * MIB, "other_bytes": MIB, "slab_bytes": MIB, "small_peak_bytes": MIB, "oracle_share": 0.65,
            "configurations": found | changes, **of_program}


def test_who_is_ahead_of_every_peer_in_share_and_time_says_so():
    said = verdict(program())
    assert said.startswith("ours, advised is ahead of every peer: ours, advised serves 60.0 % of the traffic from DRAM, tiering 50.0 %")
    assert re.search(r"takes 1\.\d\d times as long as all in DRAM, tiering 1\.\d\d\.$", said)


def test_a_time_that_the_model_cannot_tell_apart_is_said_to_be_so():
    assert "within the model's error of 4 %" in verdict(program(tiering=counts(59)))
    assert "within the model's error" not in verdict(program())


def test_exact_counts_do_not_judge():
    assert verdict(program(**{"ours, exact": counts(99)})).startswith("ours, advised is ahead")


@pytest.mark.parametrize("peer, words", [
    ({"tiering": counts(70)}, "ours, advised is behind tiering: in share, as tiering serves 70.0 % of the traffic from DRAM and ours, advised 60.0 %; in time, as "),
    ({"tiering": counts(70, more=3)}, "ours, advised is behind tiering: in share, as tiering serves 70.0 % of the traffic from DRAM and ours, advised 60.0 %."),
    ({"memory mode": counts(90)}, "ours, advised is behind memory mode: in time, as ours, advised takes "),
    ({"tiering": counts(70, more=3), "memory mode": counts(95)}, "ours, advised is behind tiering and memory mode: in share, as tiering"),
])
def test_the_peer_that_is_ahead_is_named_and_in_what(peer, words):
    assert verdict(program(**peer)).startswith(words)


def test_configurations_are_in_one_order():
    turned = program()
    turned["configurations"] = dict(reversed(turned["configurations"].items()))
    assert list(ones(turned)) == list(ones(program()))


def test_memory_mode_has_no_share():
    assert "memory mode" not in verdict(program(**{"memory mode": counts(90, more=3)}))


def test_a_configuration_that_failed_is_named_and_not_compared():
    said = verdict(program(tiering=counts(99, status=139)))
    assert "first touch 40.0 %, the best of the peers" in said
    assert said.endswith("Failed, and not compared: tiering.")
    assert verdict(program(**{name: counts(1, status=1) for name in ("ours", "ours, advised")})).startswith("Nothing to compare. Failed")


@pytest.mark.parametrize("changes, words", [
    ({"slab_bytes": 4 * MIB}, "the runtime's slabs for objects below 256 KiB take 4 MiB in the profiled run, 50 % of the budget, for objects that hold 1 MiB at most"),
    ({"ours, advised": counts(60, dram_peak_bytes=6 * MIB)}, "2 MiB of the budget of 8 MiB are unused"),
    ({"oracle_share": 0.62}, "an oracle of call sites serves 62.0 %, less than tiering"),
    ({"oracle_share": 0.9, "ours, exact": counts(68)}, "advice from exact counts serves 68.0 %: the profile lacks the rest"),
    ({"ours, advised": counts(60, more=1.3)}, "traffic beyond that of all in DRAM: ours, advised +30 %, tiering +0 %"),
])
def test_counts_tell_why(changes, words):
    """Each alone: the others are not said."""
    without = {"oracle_share": 0.9, "ours": counts(20), "ours, advised": counts(60, dram_peak_bytes=8 * MIB)}
    said = verdict(program(**without | {"tiering": counts(70)} | changes)).partition(" Counts tell: ")[2]
    assert words in said and ";" not in said
    assert verdict(program(**without, tiering=counts(70))).endswith(" The counts do not tell why.")


class Parts(HTMLParser):
    """That tags are closed in their order, and which other files are asked for."""
    ALONE = {"meta", "wbr", "rect", "line", "path"}

    def __init__(self) -> None:
        super().__init__()
        self.open, self.links, self.texts = [], [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in self.ALONE - {"rect", "path"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_is_one_file_with_all_that_was_counted():
    found = program(tiering=counts(70))
    parts = Parts()
    text = page([found, program() | {"program": "other"}])
    parts.feed(text)
    assert parts.open == [] and parts.links == []
    assert "http" not in text and "<script" not in text and "url(" not in text and "@import" not in text
    assert verdict(found) in parts.texts and "a<b" in parts.texts
    assert [name for name in found["configurations"] if name not in parts.texts] == []
    assert "the model errs by 4 %" in text and "38 % elsewhere" in text
    assert "The machine has one socket" in text
    for title in ("Share served by DRAM, %", "Predicted time, of all in DRAM", "DRAM used by the runtime, at most, MiB"):
        assert text.count(f">{title}</text>") == 4    # two programs, wide and narrow


def test_a_bar_is_as_long_as_its_amount():
    drawn = chart("one", svg.WIDE, Panel("Share", [Bar("half", [("c0", "", 0.5)]), Bar("all", [("c0", "", 1.0)]), Bar("none", [])], PERCENT))
    half, whole = (float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', drawn))
    assert whole == pytest.approx(2 * half, abs=0.1)
    assert "not known" in drawn
