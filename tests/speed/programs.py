"""Whole programs that are measured: what each is started with, and what it needs made beforehand."""

import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
INPUTS = TOP / "tests" / "runtime" / "inputs"
PYTHON = "kept = []\nfor i in range(150):\n kept.append([str(j) * 5 for j in range(20000)])\n del kept[:-5]"
PERL = 'my %h; $h{$_} = "x" x ($_ % 200) for 1 .. 900000; my $n = 0; $n += length for values %h; print $n'
VARIABLES = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
             "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
             "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "PATH": os.environ["PATH"]}


@dataclass(frozen=True)
class Program:
    """`tool` is what it needs; `make` gives its command, and makes what that reads in a folder."""

    name: str
    tool: str
    make: Callable[[Path], list[str]]

    def is_there(self) -> bool:
        return shutil.which(self.tool) is not None


def _quietly(*command: object, folder: Path) -> None:
    subprocess.run([str(word) for word in command], cwd=folder, env=VARIABLES, check=True, capture_output=True)


def _lammps(folder: Path) -> list[str]:
    return ["lmp", "-in", str(INPUTS / "in.lj"), "-var", "size", "20", "-var", "steps", "60",
            "-var", "out", f"{folder}/lammps.out", "-log", "none", "-screen", "none"]


def _gromacs(folder: Path) -> list[str]:
    for file in INPUTS.glob("water.*"):
        shutil.copy(file, folder)
    _quietly("gmx", "-quiet", "solvate", "-cs", "spc216.gro", "-box", "2.2", "2.2", "2.2", "-o", "water.gro", "-p", "water.top",
             folder=folder)
    _quietly("gmx", "-quiet", "grompp", "-f", "water.mdp", "-c", "water.gro", "-p", "water.top", "-o", "run.tpr", "-maxwarn", "1",
             folder=folder)
    return ["gmx", "-quiet", "-nobackup", "mdrun", "-s", f"{folder}/run.tpr", "-reprod", "-nt", "1", "-nsteps", "300",
            "-deffnm", f"{folder}/run"]


def _sort(folder: Path) -> list[str]:
    lines = folder / "lines"
    lines.write_text("".join(f"{i * 7919 % 1200007}\n" for i in range(1200000)))
    return ["sort", "-n", "-S", "32M", "--parallel=1", str(lines)]


def _git(folder: Path) -> list[str]:
    repository = folder / "repository"
    repository.mkdir()
    _quietly("git", "init", "-q", folder=repository)
    for version in range(20):
        (repository / "file").write_text("".join(f"{i * (i % 97 + version)}\n" for i in range(20000)))
        _quietly("git", "add", "file", folder=repository)
        _quietly("git", "commit", "-qm", "more", folder=repository)
    repack = ["git", "-C", str(repository), "-c", "pack.threads=1", "repack", "-adfq"]
    _quietly(*repack, folder=repository)  # the first one has more to do
    return repack


def programs(build: Path) -> list[Program]:
    pic = str(build / "tests/runtime/pic")
    return [
        Program("LAMMPS, in.lj", "lmp", _lammps),
        Program("GROMACS, water", "gmx", _gromacs),
        Program("particles in cells", pic, lambda _: [pic, "60"]),
        Program("perl, a hash", "perl", lambda _: ["perl", "-e", PERL]),
        Program("python3, strings", "/usr/bin/python3", lambda _: ["/usr/bin/python3", "-c", PYTHON]),
        Program("sort", "sort", _sort),
        Program("git repack", "git", _git),
    ]


def _run(command: list[str], environment: dict[str, str]) -> None:
    subprocess.run(command, env={**VARIABLES, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                   timeout=600)


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Processor time, its children's as well; subprocess.CalledProcessError when it fails.

    Of a second run right behind a first: a virtual machine gives huge pages that have been free for two seconds back to its
    host (free page reporting), and whoever uses huge pages would pay 4 ms for each of them that the host has to find again.
    """
    _run(command, environment)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(command, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
