"""Programs of Debian's packages that are counted, each with an input of its own making, at two sizes.

A whole run takes 0.1 to 1 s of a processor: counting makes it some 50 to 100 times slower. Inputs are made from fixed seeds and
are the same each time.
"""
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from meter import program

TOP = Path(__file__).resolve().parents[2]
INPUTS = TOP / "tests/runtime/inputs"
# Small because the inputs are: 128 KiB are to 20 MiB of data as 32 MiB are to 5 GiB.
CACHES = program.Caches(last=f"{128 << 10}:8", first=f"{8 << 10}:8")
VARIABLES = {"OMP_NUM_THREADS": "1", "PATH": os.environ["PATH"], "LC_ALL": "C", "OMPI_ALLOW_RUN_AS_ROOT": "1",
             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass(frozen=True)
class Program:
    """`make` gives the command for an input that is `part` of the whole one, and makes that input in a folder."""

    name: str
    about: str
    package: str
    tool: str
    make: Callable[[Path, float], list[str]]
    streams: str = ""       # the same program, with streams: it takes the same arguments

    def is_there(self) -> bool:
        return shutil.which(self.tool) is not None

    @property
    def command_file(self) -> str:
        return shutil.which(self.tool) or self.tool

    def command(self, folder: Path, part: float = 1) -> list[str]:
        """With the program's path in front: an emulator does not look it up."""
        command = self.make(folder, part)
        return [shutil.which(command[0]) or command[0], *command[1:]]


def _quietly(*command: object, folder: Path) -> None:
    subprocess.run([str(word) for word in command], cwd=folder, env=VARIABLES, check=True, capture_output=True)


def _lammps(folder: Path, part: float) -> list[str]:
    return ["lmp", "-in", str(INPUTS / "in.lj"), "-var", "size", str(round(18 * part ** (1 / 3))), "-var", "steps", "8",
            "-var", "out", f"{folder}/lammps.out", "-log", "none", "-screen", "none"]


def _gromacs(folder: Path, part: float) -> list[str]:
    edge = f"{6.5 * part ** (1 / 3):.2f}"
    for file in INPUTS.glob("water.*"):
        shutil.copy(file, folder)
    _quietly("gmx", "-quiet", "solvate", "-cs", "spc216.gro", "-box", edge, edge, edge, "-o", "water.gro", "-p", "water.top", folder=folder)
    _quietly("gmx", "-quiet", "grompp", "-f", "water.mdp", "-c", "water.gro", "-p", "water.top", "-o", "run.tpr", "-maxwarn", "1",
             folder=folder)
    return ["gmx", "-quiet", "-nobackup", "mdrun", "-s", f"{folder}/run.tpr", "-reprod", "-nt", "1", "-nsteps", "3",
            "-deffnm", f"{folder}/run"]


def _metis(folder: Path, part: float) -> list[str]:
    """A grid in three dimensions; neighbours share a face or an edge."""
    edge = round(40 * part ** (1 / 3))
    steps = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if 1 <= abs(x) + abs(y) + abs(z) <= 2]
    cells = [(x, y, z) for x in range(edge) for y in range(edge) for z in range(edge)]
    lines = [[((x + dx) * edge + y + dy) * edge + z + dz + 1 for dx, dy, dz in steps
              if 0 <= x + dx < edge and 0 <= y + dy < edge and 0 <= z + dz < edge] for x, y, z in cells]
    (folder / "grid.graph").write_text(f"{len(lines)} {sum(map(len, lines)) // 2}\n" + "".join(f"{' '.join(map(str, line))}\n" for line in lines))
    return ["gpmetis", "-nooutput", f"{folder}/grid.graph", "16"]


def _sqlite(folder: Path, part: float) -> list[str]:
    (folder / "queries.sql").write_text(f"""\
create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < {round(60000 * part)})
 insert into t select i, i * 7919 % 60007, printf('%064d', i * 31) from n;
create index t_b on t(b);
select count(*), sum(length(t.c)) from t join t as u on t.a = u.b where t.b % 3 = 0;
select b % 1000, count(*), max(c) from t group by b % 1000 order by 3 limit 5;
""")
    return ["sqlite3", ":memory:", f".read {folder}/queries.sql"]


def _minimap2(folder: Path, part: float) -> list[str]:
    """Reads with one letter of twelve changed, on a reference without repeats."""
    chance, length = random.Random(1), round(1200000 * part)
    reference = "".join(chance.choices("ACGT", k=length))
    (folder / "reference.fa").write_text(f">r\n{reference}\n")
    with open(folder / "reads.fa", "w", encoding="ascii") as file:
        for i in range(round(200 * part)):
            begin = chance.randrange(length - 4000)
            read = "".join(chance.choice("ACGT") if chance.random() < 1 / 12 else letter for letter in reference[begin:begin + 4000])
            file.write(f">q{i}\n{read}\n")
    return ["minimap2", "-t1", "-x", "map-ont", f"{folder}/reference.fa", f"{folder}/reads.fa"]


def _glpk(folder: Path, part: float) -> list[str]:
    """An assignment problem, by the simplex method."""
    (folder / "assign.mod").write_text(f"""\
param n := {round(120 * part ** 0.5)}; set I := 1..n; param c{{i in I, j in I}} := ((i * 7919 + j * 104729) mod 97) + 1;
var x{{I, I}} >= 0; minimize z: sum{{i in I, j in I}} c[i, j] * x[i, j];
s.t. row{{i in I}}: sum{{j in I}} x[i, j] = 1; s.t. column{{j in I}}: sum{{i in I}} x[i, j] = 1; solve; end;
""")
    return ["glpsol", "-m", f"{folder}/assign.mod"]


def _numpy(folder: Path, part: float) -> list[str]:
    """Conjugate gradients for Poisson's equation on a square, with a history of iterates that is written and hardly read."""
    (folder / "poisson.py").write_text("""\
import sys
import numpy as np

n, steps = int(sys.argv[1]), int(sys.argv[2])


def apply(x):
    y = 4 * x
    y[1:] -= x[:-1]
    y[:-1] -= x[1:]
    y[:, 1:] -= x[:, :-1]
    y[:, :-1] -= x[:, 1:]
    return y


history, x, b = np.zeros((8, n, n)), np.zeros((n, n)), np.ones((n, n))
r = b - apply(x)
p, s = r.copy(), float((r * r).sum())
for i in range(steps):
    q = apply(p)
    a = s / float((p * q).sum())
    x += a * p
    r -= a * q
    t = float((r * r).sum())
    p = r + t / s * p
    s = t
    history[i % 8] = x
print(s, history.sum())
""")
    return ["/usr/bin/python3", f"{folder}/poisson.py", str(round(800 * part ** 0.5)), "6"]


def _sort(folder: Path, part: float) -> list[str]:
    (folder / "lines").write_text("".join(f"{i * 7919 % 1200007}\n" for i in range(round(200000 * part))))
    return ["sort", "-n", "-S", "16M", "--parallel=1", f"{folder}/lines"]


def _xz(folder: Path, part: float) -> list[str]:
    chance = random.Random(2)
    words = ["".join(chance.choices("abcdefghij", k=chance.randrange(2, 9))) for _ in range(4000)]
    (folder / "text").write_text(" ".join(chance.choices(words, k=round(60000 * part))))
    return ["xz", "-6", "-T1", "-k", "-c", f"{folder}/text"]


PROGRAMS = (
    Program("lammps", "molecular dynamics, Lennard-Jones", "lammps", "lmp", _lammps),
    Program("gromacs", "molecular dynamics, water with PME", "gromacs", "gmx", _gromacs),
    Program("metis", "partitions a graph", "metis", "gpmetis", _metis),
    Program("sqlite", "a database in memory", "sqlite3", "sqlite3", _sqlite),
    Program("numpy", "Python, conjugate gradients", "python3-numpy", "/usr/bin/python3", _numpy),
    Program("minimap2", "aligns sequences to an index", "minimap2", "minimap2", _minimap2),
    Program("glpk", "linear programming, simplex", "glpk-utils", "glpsol", _glpk),
    Program("sort", "sorts lines", "coreutils", "sort", _sort),
    Program("xz", "compresses a text", "xz-utils", "xz", _xz),
)


def built(build: Path) -> tuple[Program, ...]:
    """The project's own, which `make evaluate` compiles; they have no region, and mark iterations."""
    minipic, pic = build / "tests/evaluate/minipic-whole", build / "tests/runtime/pic"
    return (
        Program("minipic", "a plasma, few large objects", "", str(minipic), lambda _, part: [str(minipic), str(round(120000 * part)), "5", "3"],
                f"{minipic}-streams"),
        Program("pic", "a plasma, with the objects of paper 000's Table II", "", str(pic), lambda _, part: [str(pic), str(max(1, round(3 * part)))]),
    )
