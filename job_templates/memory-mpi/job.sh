#!/bin/bash
# Pure MPI in Memory Mode: a large problem on few nodes. README.md has the reason for every line.
#SBATCH --job-name=memory-mpi
#SBATCH --pm-mode=memory
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=44
#SBATCH --time=2-00:00:00
#SBATCH --pm-verbose
set -euo pipefail

read -ra app <<<"${APP:-castep.mpi DNA}"

srun "${app[@]}"
