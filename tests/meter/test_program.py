"""A program's objects are counted to the byte."""
import json
import subprocess
from pathlib import Path

import pytest

from meter import program
from pmprofile import records

MIB = 1 << 20
TOP = Path(__file__).resolve().parents[2]


def object_of(kernels: Path, build: Path, tmp_path: Path, name: str, passes: int = 2, **settings) -> dict[str, int]:
    """The one large object of a kernel on 4 MiB."""
    out = tmp_path / "table"
    status = program.count([str(kernels), "-1", name, "4", str(passes)], build / "meter", out, marks=True, **settings)
    assert status == 0
    _, objects = program.read(out)
    large = [row for row in objects if row["size"] == 4 * MIB]
    assert len(large) == 1
    return large[0]


@pytest.mark.parametrize("name, expected", [
    ("read", {"rawr": 8 * MIB, "raww": 0, "fillr": 8 * MIB // 64, "fillw": 0, "wb": 0, "nt": 0}),
    ("write", {"rawr": 0, "raww": 8 * MIB, "fillr": 0, "fillw": 8 * MIB // 64, "wb": 8 * MIB // 64, "nt": 0}),
    ("nontemporal", {"rawr": 0, "raww": 8 * MIB, "fillr": 0, "fillw": 0, "wb": 0, "nt": 8 * MIB}),
    ("lines", {"rawr": MIB, "raww": 0, "fillr": 8 * MIB // 64, "fillw": 0, "wb": 0, "nt": 0}),
])
def test_counts_are_exact(kernels, build, tmp_path, name, expected):
    found = object_of(kernels, build, tmp_path, name)
    assert {key: found[key] for key in expected} == expected


def test_what_fits_into_the_cache_is_filled_once(kernels, build, tmp_path):
    found = object_of(kernels, build, tmp_path, "read", passes=3, caches=program.Caches(last=f"{32 * MIB}:16"))
    assert found["rawr"] == 12 * MIB
    assert found["fillr"] == 4 * MIB // 64
    assert found["l1r"] == 12 * MIB // 64


def test_pages_count_once_an_epoch(kernels, build, tmp_path):
    found = object_of(kernels, build, tmp_path, "write", passes=2, epoch=10 ** 9)
    assert (found["ref1"], found["wr1"]) == (1024, 1024)


def test_objects_have_the_call_sites_of_the_runtimes_profiles(build, tmp_path):
    """Keys are made of build IDs and offsets: the same in the meter as in a profile of the same program."""
    pic = build / "tests/runtime/pic"
    out, profile = tmp_path / "table", tmp_path / "profile"
    program.count([str(pic), "1"], build / "meter", out, quiet=True, least=256 << 10, frames=8)
    _, objects = program.read(out)
    subprocess.run([build / "pmrun", f"--pm-runtime={build}/libpmplace.so", "--pm-dram=28M", f"--pm-profile={profile}:none", pic, "1"],
                   check=True, stdout=subprocess.DEVNULL)
    found = records.read(next(profile.iterdir()))
    assert {row["site"] for row in objects} == {one.site for one in found.objects if one.bytes >= found.large_bytes}


def test_a_counted_run_advises_one_that_was_not(build, tmp_path):
    """pic's fields and bins are hot, and it allocates its particles first. One iteration is counted, of five there are profiles."""
    pic = build / "tests/runtime/pic"
    out, profile = tmp_path / "table", tmp_path / "profile"
    program.count([str(pic), "1"], build / "meter", out, quiet=True, frames=8)
    subprocess.run([build / "pmrun", f"--pm-runtime={build}/libpmplace.so", "--pm-dram=28M", f"--pm-profile={profile}:none", pic, "5"],
                   check=True, stdout=subprocess.DEVNULL)
    told = subprocess.run([TOP / "pmreport/pmreport", "--json", "--no-names", f"--counts={out}", profile], check=True, stdout=subprocess.PIPE)
    accesses = json.loads(told.stdout)[0]["accesses"]
    served = {point["budget_bytes"]: point for point in accesses["curve"]}[28 * MIB]
    assert accesses["source"] == "counts"
    assert served["advised"] > served["first_come"] + 0.2


def test_a_missing_program_is_an_error(build, tmp_path):
    with pytest.raises(program.MeterError, match="there is no program 'no-such-program'"):
        program.count(["no-such-program"], build / "meter", tmp_path / "table")


def test_plugins_that_were_not_made_are_an_error(kernels, tmp_path):
    with pytest.raises(program.MeterError, match="run `make meter`"):
        program.count([str(kernels)], tmp_path, tmp_path / "table")
