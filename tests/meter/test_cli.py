"""pmmeter as it is typed."""
import json
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PMMETER = TOP / "twin/meter/pmmeter"
MIB = 1 << 20


def pmmeter(build: Path, *arguments: object, status: int = 0) -> subprocess.CompletedProcess:
    found = subprocess.run([PMMETER, "--build", build, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert found.returncode == status, found.stderr
    return found


def test_a_program_has_a_line_for_each_call_site_and_one_for_the_rest(kernels, build):
    lines = pmmeter(build, "program", "--marks", "--", kernels, -1, "read", 1, 2).stdout.splitlines()
    assert lines[0].split() == ["site", "objects", "bytes", "loaded", "stored", "read", "written"]
    assert [line.split()[1:] for line in lines if str(2 * MIB) in line] == [["1", str(MIB), str(2 * MIB), "0", str(2 * MIB), "0"]]
    assert lines[-1].startswith(" ") and lines[-1].split()[:2] == ["no", "object"]


def test_json_has_the_same(kernels, build):
    found = json.loads(pmmeter(build, "program", "--json", "--marks", "--", kernels, -1, "nontemporal", 1, 1).stdout)
    assert found["status"] == 0
    assert [site["written_bytes"] for site in found["sites"] if site["bytes"] == MIB] == [MIB]


def test_the_table_is_kept_where_out_says(kernels, build, tmp_path):
    pmmeter(build, "program", "--out", tmp_path / "table", "--", kernels, -1, "read", 1, 1)
    assert (tmp_path / "table").read_text().startswith("site,size,")


def test_the_commands_exit_status_is_passed_on(build):
    pmmeter(build, "program", "--", "/bin/false", status=1)


@pytest.mark.parametrize("arguments, status, text", [
    (("program", "--cache", "1M:7", "--", "true"), 2, "'1M:7': 1M in 7 ways are not a power of two lines of 64 bytes in each way"),
    (("program", "--cache", "big", "--", "true"), 2, "'big' is no cache: write its size and ways, as 1M:16"),
    (("program", "--least", "4X", "--", "true"), 2, "'4X' is no size: write 512K, 64M or 1G"),
    (("program",), 125, "there is no command to count: write it behind --"),
    (("program", "--", "no-such-program"), 125, "there is no program 'no-such-program'"),
    (("guest", "--dram", "2G", "--", "true"), 125, "5120 MiB of memory are more than the 2048 that a guest can have"),
])
def test_mistakes_are_told(build, arguments, status, text):
    assert text in pmmeter(build, *arguments, status=status).stderr


def test_a_prediction_says_how_wrong_it_may_be(build):
    assert "within 4 % on what the model is fitted to and 38 % elsewhere" in pmmeter(build, "predict", "--dram", "1G").stdout
    assert json.loads(pmmeter(build, "predict", "--json", "--dram", "1G").stdout)["error"] < 0.04
