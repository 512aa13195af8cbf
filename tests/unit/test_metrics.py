#!/usr/bin/env python3
"""The metrics of pmctl, their page, the alert rules and the dashboard speak of the same metrics and labels; TAP.

agent/metrics.def has the metrics. promtool, of Debian's prometheus, reads every expression and runs the tests of the
alerts. tests/slurm/135-metrics.bats looks whether a real Prometheus has what they name.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator, NamedTuple

import yaml
from report import report

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs/admin/metrics.md"
RULES = TOP / "etc/prometheus/slurm-pmem.rules.yml"
ALERTS = TOP / "tests/unit/prometheus/alerts.yml"
DASHBOARD = TOP / "etc/grafana/slurm-pmem.json"

ROW = re.compile(r'^PM_METRIC\((\w+),\s*"(\w+)",\s*"(\w+)",\s*"([\w,]*)",\s*"((?:[^"\\]|\\.)*)"\)', re.M)
# node_exporter and Prometheus give these.
FOREIGN = {"node_textfile_mtime_seconds": {"file"}}
EVERYWHERE = {"instance", "job"}
# Grafana's words in an expression.
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}

Result = tuple[bool, str]


class Metric(NamedTuple):
    kind: str
    labels: set[str]
    help: str


def metrics() -> dict[str, Metric]:
    text = (TOP / "agent/metrics.def").read_text()
    return {name: Metric(kind, set(filter(None, labels.split(","))), words)
            for _, name, kind, labels, words in ROW.findall(text)}


def rules() -> list[dict]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def panels() -> list[dict]:
    return json.loads(DASHBOARD.read_text())["panels"]


def expressions() -> Iterator[tuple[str, str]]:
    """Where, and what."""
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in panels():
        for target in panel.get("targets", []):
            expr = target["expr"]
            for word, value in VARIABLES.items():
                expr = expr.replace(word, value)
            yield panel["title"], expr
    for variable in json.loads(DASHBOARD.read_text())["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["definition"])
            yield variable["name"], f"count by ({found[2]}) ({found[1]})"


# --- the expressions ---
def selectors(expr: str) -> Iterator[tuple[str, set[str]]]:
    """Metrics, each with the labels that it is selected by."""
    for name, matchers in re.findall(r"\b((?:slurm_pmem|node)_\w+)(?:\{([^}]*)\})?", re.sub(r"\bon \([^)]*\)|\bby \([^)]*\)", "", expr)):
        yield name, set(re.findall(r"(\w+)\s*[=!]", matchers))


def labels_of(name: str, known: dict[str, Metric]) -> set[str] | None:
    """None: there is no such metric."""
    return FOREIGN.get(name, known[name].labels if name in known else None)


def grouped(expr: str) -> set[str]:
    return {label.strip() for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", expr) for label in labels.split(",")}


def of_expressions(known: dict[str, Metric]) -> Iterator[Result]:
    for where, expr in expressions():
        used = list(selectors(expr))
        yield bool(used), f"{where}: has a metric"
        labels = set(EVERYWHERE)
        for name, selected in used:
            its = labels_of(name, known)
            yield its is not None, f"{where}: pmctl prints {name}"
            yield selected <= (its or set()) | EVERYWHERE, f"{where}: {name} has the labels {', '.join(sorted(selected)) or 'that are needed, none'}"
            labels |= its or set()
        yield grouped(expr) <= labels, f"{where}: its metrics have the labels {', '.join(sorted(grouped(expr))) or 'that are needed, none'}"


def of_counters(known: dict[str, Metric]) -> Iterator[Result]:
    """Only a counter has a rate."""
    for name, metric in known.items():
        yield (metric.kind == "counter") == name.endswith("_total"), f"{name} is a {metric.kind}"
    for where, expr in expressions():
        for name in re.findall(r"(?:rate|increase)\((\w+)", expr):
            yield name in known and known[name].kind == "counter", f"{where}: {name} is a counter"
        for name in re.findall(r"\bdelta\((\w+)", expr):
            yield name in known and known[name].kind == "gauge", f"{where}: {name} is a gauge"


# --- what people read ---
def of_texts(known: dict[str, Metric]) -> Iterator[Result]:
    """{{ $labels.x }} of an alert and {{x}} of a graph exist in what the expression leaves."""
    for rule in rules():
        words = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
        labels = {label for name, _ in selectors(rule["expr"]) for label in labels_of(name, known) or ()}
        left = grouped(rule["expr"]) if re.match(r"\s*(sum|count|max|min) by", rule["expr"]) else labels | EVERYWHERE
        yield words <= left, f"{rule['alert']}: its text names labels that are there"
        yield set(rule["annotations"]) == {"summary", "description"}, f"{rule['alert']}: has a summary and what to do"
    for panel in panels():
        for target in panel.get("targets", []):
            words = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            yield words <= grouped(target["expr"]), f"{panel['title']}: its legend names labels that are there"


def of_page(known: dict[str, Metric]) -> Iterator[Result]:
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in PAGE.read_text().splitlines()
            if line.startswith("| `slurm_pmem_")]
    told = {row[0].strip("`"): row for row in rows}
    for name, metric in known.items():
        row = told.get(name, ["", "", "", ""])
        labels = set(re.findall(r"`(\w+)`", row[2]))
        yield name in told, f"{name} is in the page"
        yield row[1] == metric.kind and labels == metric.labels, f"{name}: the page has its type and its labels"
        yield row[3] + "." == metric.help, f"{name}: the page says what its HELP says"
    yield set(told) <= set(known), "the page has no other metric"
    causes = set(re.findall(r'^PM_DRAIN_CAUSE\("(\w+)"', (TOP / "agent/drain_causes.def").read_text(), re.M))
    yield causes <= set(re.findall(r"`(\w+)`", PAGE.read_text())), "the page has each cause of a drain"
    alerts = set(re.findall(r"^\| `(SlurmPmem\w+)`", PAGE.read_text(), re.M))
    yield alerts == {rule["alert"] for rule in rules()}, "the page has each alert"


# --- the dashboard ---
def cells(panel: dict) -> set[tuple[int, int]]:
    at = panel["gridPos"]
    return {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}


def of_dashboard(known: dict[str, Metric]) -> Iterator[Result]:
    shown, taken = panels(), [cell for panel in panels() for cell in cells(panel)]
    yield len({panel["id"] for panel in shown}) == len(shown), "each panel has a number of its own"
    yield len(set(taken)) == len(taken) and all(x < 24 for x, _ in taken), "no panel covers another, or the edge"
    for panel in shown:
        if panel["type"] != "row":
            yield bool(panel["description"]) and panel["datasource"]["uid"] == "${datasource}", f"{panel['title']}: has a description, and the site's data source"
    used = {name for _, expr in expressions() for name, _ in selectors(expr)}
    unused = set(known) - used - {name for name in known if name.endswith(("_info", "_capacity_bytes", "power_cycles_total", "power_on_seconds_total",
                                                                            "_start_timestamp_seconds", "last_change_reboot_seconds"))}
    yield not unused, f"each metric is in the dashboard or in a rule; not {', '.join(sorted(unused)) or 'one is not'}"


# --- promtool ---
def promtool(*words: str) -> Result:
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, timeout=120)
    for line in (done.stdout + done.stderr).splitlines() if done.returncode else []:
        print(f"# {line}")
    return done.returncode == 0, f"promtool {' '.join(words[:2])}"


def of_promtool() -> Iterator[Result]:
    yield promtool("check", "rules", str(RULES))
    yield promtool("test", "rules", str(ALERTS))
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        recorded = [{"record": f"panel:{number}", "expr": expr} for number, (_, expr) in enumerate(expressions())]
        yaml.safe_dump({"groups": [{"name": "dashboard", "rules": recorded}]}, file)
        file.flush()
        yield promtool("check", "rules", file.name)


def of_alert_tests() -> Iterator[Result]:
    tested = [check for test in yaml.safe_load(ALERTS.read_text())["tests"] for check in test["alert_rule_test"]]
    for rule in rules():
        fires = {bool(check["exp_alerts"]) for check in tested if check["alertname"] == rule["alert"]}
        yield fires == {False, True}, f"{rule['alert']}: is tested where it fires, and where it does not"


def main() -> int:
    known = metrics()
    results = [(len(known) > 30 and len(known) == (TOP / "agent/metrics.def").read_text().count("\nPM_METRIC("), "the table of metrics is read")]
    for part in (of_expressions, of_counters, of_texts, of_page, of_dashboard):
        results += part(known)
    return report([*results, *of_promtool(), *of_alert_tests()])


if __name__ == "__main__":
    sys.exit(main())
