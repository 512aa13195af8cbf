#!/bin/bash
# A mini-app on DRAM, on persistent memory, and in Memory Mode: a table. README.md has the reason for every line.
#SBATCH --job-name=mini-apps
#SBATCH --pm-mode=flat
#SBATCH --nodes=1
#SBATCH --ntasks=27
#SBATCH --pm-threads=1
#SBATCH --time=04:00:00
set -euo pipefail

read -ra app <<<"${APP:-lulesh2.0 -s 25}"
read -ra ranks <<<"${RANKS:-1 8 27}"
policies=(dram-first)
[ "$PM_MODE" != flat ] || policies+=(pm-only)

echo mode,policy,ranks,run,milliseconds
for n in "${ranks[@]}"; do
	for run in $(seq "${REPEAT:-4}"); do
		for policy in "${policies[@]}"; do
			begin=$EPOCHREALTIME
			srun --ntasks="$n" --pm-policy="$policy" "${app[@]}" >>"mini-apps.$SLURM_JOB_ID.out"
			end=$EPOCHREALTIME
			echo "$PM_MODE,$policy,$n,$run,$(((${end/[.,]/} - ${begin/[.,]/}) / 1000))"
		done
	done
done
