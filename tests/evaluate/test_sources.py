"""Programs of Debian's packages with each source of accesses: their results are the same, and a rank's memory is hardly more.

A processor that samples no addresses, as one of most virtual machines, leaves "samples" without any; the profile then says why.
"""
import os
import re
import subprocess
from pathlib import Path

import pytest
from programs import PROGRAMS, VARIABLES, Program

from pmprofile import records

MIB = 1 << 20
BUDGET = 64 * MIB
MEMORY_MAX = 32 * MIB       # of a rank, for a source
OF_THE_RUN = re.compile(rb"time|memory|\bsec|rate", re.IGNORECASE)
KINDS = {"bursts": records.BURSTS, "faults": records.FAULTS}


def results(out: bytes, folder: Path) -> list[bytes]:
    """Without lines on the run itself. LAMMPS and GROMACS write theirs into files."""
    lines = [line for line in out.splitlines() if not OF_THE_RUN.search(line)]
    files = [file.read_bytes().split(b"\n", 1)[1] for name in ("lammps.out", "run.gro") if (file := folder / name).exists()]
    return lines + files


def run(command: list[str], folder: Path, build: Path, **variables: object) -> tuple[list[bytes], int]:
    """Its results, and its most resident bytes."""
    told = {name: str(value) for name, value in variables.items()}
    with open(folder / "stdout", "w+b") as out, open(folder / "stderr", "wb") as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, cwd=folder,
                                   env=VARIABLES | told | {"LD_PRELOAD": str(build / "libpmplace.so"), "PM_RANK_DRAM": str(BUDGET)})
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        assert not process.returncode, (folder / "stderr").read_text(errors="replace")[-2000:]
        return results(out.read(), folder), used.ru_maxrss * 1024


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda one: one.name)
def plain(request, build, tmp_path_factory) -> tuple[Program, list[str], Path, list[bytes], int]:
    """A program, its command and folder, and a run of it without a profile."""
    one: Program = request.param
    assert one.is_there(), f"install {one.package}"
    folder = tmp_path_factory.mktemp(one.name)
    command = one.command(folder)
    return one, command, folder, *run(command, folder, build)


@pytest.mark.parametrize("source", ("samples", "bursts", "faults", "none"))
def test_a_program_and_its_memory_are_the_same_with_each_source(plain, source, build, tmp_path):
    one, command, folder, expected, bytes_before = plain
    found, bytes_ = run(command, folder, build, PM_PROFILE=f"{tmp_path}:{source}")
    assert found == expected
    assert bytes_ - bytes_before <= MEMORY_MAX
    profiles = [records.read(path) for path in tmp_path.glob("*.pmprof")]
    assert len(profiles) == 1 and profiles[0].is_whole and profiles[0].objects
    told = profiles[0].source
    if source in KINDS and told:
        assert told.kind == KINDS[source]
    if source == "none":
        assert told is None
    print(f"{one.name} {source}: {(bytes_ - bytes_before) / MIB:+.1f} MiB, {told.count if told else 0} epochs or samples")
