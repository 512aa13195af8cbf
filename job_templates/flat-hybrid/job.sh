#!/bin/bash
# MPI and OpenMP with DRAM and persistent memory side by side. README.md has the reason for every line.
#SBATCH --job-name=flat-hybrid
#SBATCH --pm-mode=flat
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --pm-policy=dram-first
#SBATCH --time=08:00:00
#SBATCH --pm-verbose
set -euo pipefail

read -ra app <<<"${APP:-warpx.3d inputs}"

if [ "${PM_RUNTIME:-none}" != none ]; then
	export PM_THREADS=${PM_THREADS:-10}
fi

srun "${app[@]}"
