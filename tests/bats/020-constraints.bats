#!/usr/bin/env bats
# The controller's side: constraints beside the mode, and what is refused there.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
}

@test "--pm-mode becomes a feature, and the job takes whole nodes" {
	submit_held --pm-mode=memory
	run job_field "$output" '\(Features\|OverSubscribe\)'
	assert_line Features=pm_memory
	assert_line OverSubscribe=NO
}

@test "a plain constraint on a mode takes whole nodes too" {
	submit_held -C pm_memory
	run job_field "$output" '\(Features\|OverSubscribe\)'
	assert_line Features=pm_memory
	assert_line OverSubscribe=NO
}

@test "a job without a mode is left as it is" {
	submit_held
	run job_field "$output" '\(Features\|OverSubscribe\)'
	assert_line 'Features=(null)'
	assert_line OverSubscribe=OK
}

@test "the mode is added to the user's own constraint" {
	run_srun -C rack2 --pm-mode=memory sh -c 'echo $SLURMD_NODENAME; pmctl mode'
	assert_line n2
	assert_line memory
}

@test "the same feature written beside the option is not added twice" {
	submit_held -C 'rack1&pm_memory' --pm-mode=memory
	run job_field "$output" Features
	assert_output 'Features=rack1&pm_memory'
}

@test "a constraint on another mode than the option's is refused" {
	run_srun 1 -C pm_appdirect --pm-mode=memory true
	assert_output --partial \
		'pm: --pm-mode=memory contradicts --constraint=pm_appdirect, leave one of them out'
	assert_nothing_queued
}

@test "a constraint that this Slurm cannot combine with a mode is refused" {
	local constraint='[rack1|rack2]'
	! is_slurm 22.05 || constraint='(rack1|rack2)'
	run_srun 1 -C "$constraint" --pm-mode=memory true
	assert_output --partial "pm: --pm-mode=memory cannot be combined with --constraint=$constraint"
	assert_nothing_queued
}

@test "from 23.02 on a mode is combined with '|', once the site says its version" {
	! is_slurm 22.05 || skip 'needs Slurm 23.02'
	run_srun -w n1 -C 'rack1|rack2' --pm-mode=memory pmctl mode
	assert_output memory
}

@test "an unknown feature that looks like a mode is refused" {
	run_srun 1 -C pm_bogus true
	assert_output --partial \
		"pm: --constraint: unknown feature 'pm_bogus', valid features are pm_memory, pm_appdirect, pm_mixed"
	assert_nothing_queued
}

@test "what the client lets through the controller still checks" {
	run bench user env SLURM_SPANK__SLURM_SPANK_OPTION_pmem_pm_mode=bogus srun true
	assert_failure
	assert_output --partial "unknown mode 'bogus'"
	assert_nothing_queued
}

@test "a job may be moved to another mode, not to a feature that does not exist" {
	submit_held -C pm_memory
	local job=$output
	run bench user scontrol update jobid="$job" features=pm_appdirect
	assert_success
	run job_field "$job" Features
	assert_output Features=pm_appdirect
	run bench user scontrol update jobid="$job" features=pm_bogus
	assert_failure
	run job_field "$job" Features
	assert_output Features=pm_appdirect
}

@test "a job that was submitted without a mode cannot get one later" {
	submit_held
	local job=$output
	run bench user scontrol update jobid="$job" features=pm_memory
	assert_failure
	run job_field "$job" Features
	assert_output 'Features=(null)'
	run bench user scontrol update jobid="$job" name=other
	assert_success
}
