#!/bin/bash
# A producer and its consumers, with files on the node's persistent memory. README.md has the reason for every line.
#SBATCH --job-name=appdirect-workflow
#SBATCH --pm-mode=appdirect
#SBATCH --pm-size=20G
#SBATCH --nodes=5
#SBATCH --ntasks-per-node=40
#SBATCH --time=02:00:00
#SBATCH --pm-verbose
set -euo pipefail

read -ra producer <<<"${PRODUCER:-./producer}"
read -ra consumer <<<"${CONSUMER:-./consumer}"
export STEPS=${STEPS:-12} RESULTS=${RESULTS:-$SLURM_SUBMIT_DIR/results}
mkdir -p "$RESULTS"

consume() {
	local step
	for step in $(seq -f %02g "$STEPS"); do
		until [ -e "$PM_DIR/step-$step/done" ]; do sleep 1; done
		"$@" "$PM_DIR/step-$step" "$RESULTS" || exit
	done
}
export -f consume

srun "${producer[@]}" &
OMP_NUM_THREADS=4 OMP_PROC_BIND=false \
	srun --overlap --ntasks=$((2 * SLURM_NNODES)) --ntasks-per-node=2 bash -c 'consume "$@"' consume "${consumer[@]}" &
wait -n
wait -n
