#!/usr/bin/python3
"""Real Prometheus and node_exporter on this host, for as long as they are asked.

usage: scrape.py --rules FILE HOST=DIRECTORY... -- QUERY...

Each HOST is an instance: a node_exporter that reads *.prom of its directory. Once Prometheus has scraped all of them and
evaluated the rules, each QUERY is answered with a line for each series: "{label="value",...} VALUE", labels in order,
without job; and a line "--" after each answer.
"""

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import ExitStack
from pathlib import Path

PATIENCE_S = 60


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def get(port: int, path: str, **words: str) -> dict:
    url = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(words)}"
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        return json.load(answer)["data"]


def wait_for(what: str, condition) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            if condition():
                return
        except (urllib.error.URLError, ConnectionError):
            pass  # not up yet
        time.sleep(0.2)
    raise SystemExit(f"scrape.py: still not after {PATIENCE_S} s: {what}")


def start(stack: ExitStack, log: Path, *words: str) -> None:
    """A process that ends with the stack."""
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log.open("w"), stderr=subprocess.STDOUT)
    stack.callback(process.wait)
    stack.callback(process.terminate)


def start_exporter(stack: ExitStack, place: Path, name: str, directory: str) -> int:
    port = free_port()
    start(stack, place / f"{name}.log", "prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
          f"--collector.textfile.directory={directory}", f"--web.listen-address=127.0.0.1:{port}")
    return port


def start_prometheus(stack: ExitStack, place: Path, rules: str, exporters: dict[str, int]) -> int:
    port, config = free_port(), place / "prometheus.yml"
    targets = [{"targets": [f"127.0.0.1:{number}"], "labels": {"instance": name}} for name, number in exporters.items()]
    # JSON is YAML.
    config.write_text(json.dumps({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(Path(rules).resolve())],
        "scrape_configs": [{"job_name": "node", "static_configs": targets}]}))
    start(stack, place / "prometheus.log", "prometheus", f"--config.file={config}", f"--storage.tsdb.path={place / 'data'}",
          f"--web.listen-address=127.0.0.1:{port}")
    return port


def is_scraped(port: int, exporters: dict[str, int]) -> bool:
    targets = get(port, "/api/v1/targets", state="active")["activeTargets"]
    # 1 for a file that node_exporter cannot parse.
    errors = get(port, "/api/v1/query", query="node_textfile_scrape_error")["result"]
    for series in errors:
        if series["value"][1] != "0":
            raise SystemExit(f"scrape.py: node_exporter cannot read the files of {series['metric']['instance']}")
    return len(targets) == len(errors) == len(exporters) and all(target["health"] == "up" for target in targets)


def evaluations(port: int) -> list[str]:
    """When each group of rules was evaluated last."""
    return [group["lastEvaluation"] for group in get(port, "/api/v1/rules")["groups"]]


def wait_for_rules(port: int) -> None:
    """An evaluation that began before the scrape may end behind it: the second one counts."""
    for _ in range(2):
        before = evaluations(port)
        wait_for("all rules are evaluated", lambda: all(old != new for old, new in zip(before, evaluations(port))))


def answer(port: int, query: str) -> None:
    for series in get(port, "/api/v1/query", query=query)["result"]:
        labels = ",".join(f'{name}="{value}"' for name, value in sorted(series["metric"].items()) if name != "job")
        print(f"{{{labels}}} {series['value'][1]}")
    print("--")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rules", required=True)
    parser.add_argument("hosts", nargs="+")
    split = sys.argv.index("--")
    args = parser.parse_args(sys.argv[1:split])
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        exporters = {name: start_exporter(stack, Path(place), name, directory)
                     for name, directory in (host.split("=", 1) for host in args.hosts)}
        port = start_prometheus(stack, Path(place), args.rules, exporters)
        wait_for("all are scraped", lambda: is_scraped(port, exporters))
        wait_for_rules(port)
        for query in sys.argv[split + 1:]:
            answer(port, query)
    return 0


if __name__ == "__main__":
    sys.exit(main())
