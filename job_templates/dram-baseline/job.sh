#!/bin/bash
# The same program on DRAM alone, to compare with. README.md has the reason for every line.
#SBATCH --job-name=dram-baseline
#SBATCH --pm-mode=appdirect
#SBATCH --nodes=20
#SBATCH --ntasks-per-node=24
#SBATCH --pm-threads=2
#SBATCH --time=18:00:00
#SBATCH --pm-verbose
set -euo pipefail

read -ra app <<<"${APP:-castep.mpi DNA}"

srun "${app[@]}"
