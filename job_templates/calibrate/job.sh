#!/bin/bash
# Measures nodes of a class, each by itself, and makes the site profile of the class. README.md has the reason for every line.
#SBATCH --job-name=calibrate
#SBATCH --pm-mode=flat
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --time=02:00:00
set -euo pipefail

class=${CLASS:-node}
read -ra effort <<<"${EFFORT:-}"
mkdir -p "calibrate.$SLURM_JOB_ID/nodes"
cd "calibrate.$SLURM_JOB_ID"

srun --pm-bind=none --cpu-bind=none bash -c 'exec pmctl calibrate "$@" --output="nodes/$SLURMD_NODENAME.json"' \
	calibrate --class="$class" "${effort[@]}"

pmreport calibration nodes/*.json
pmreport calibration --merge="$class.json" --html="$class.html" nodes/*.json
