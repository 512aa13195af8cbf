#!/usr/bin/env bats
# Jobs that get their mode.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
}

@test "a node is rebooted into the mode, and the next job finds it there" {
	put_in appdirect n1
	local before after
	before=$(boot_id n1)
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	after=$(boot_id n1)
	assert_not_equal "$before" "$after"
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	assert_equal "$(boot_id n1)" "$after"
}

@test "a node that is in the mode is preferred to one that would have to reboot" {
	put_in appdirect n1
	put_in memory n2
	let_epilogs_end
	local before
	before=$(boot_id n1)$(boot_id n2)
	run_srun --pm-mode=memory printenv SLURMD_NODENAME
	assert_output n2
	assert_equal "$(boot_id n1)$(boot_id n2)" "$before"
}

# slurm_second NODE NAME: a time that the controller has of a node, in seconds since the Epoch.
slurm_second() {
	local shown
	shown=$(admin scontrol -o show node "$1" | grep -o "\b$2=[^ ]*")
	date -d "${shown#*=}" +%s
}

slurmd_started_after() {
	[ "$(slurm_second "$1" SlurmdStartTime)" -gt "$2" ]
}

# slurmctld subtracts the uptime from the second in which it reads the registration, which may be one later than the
# second in which slurmd asked for the uptime. A slurmd that starts some seconds after the boot leaves no doubt.
@test "to slurmctld a node has booted since its reboot was ordered, and before its slurmd was started again" {
	put_in appdirect n1
	local ordered started booted
	ordered=$(date +%s)
	put_in memory n1
	started=$(slurm_second n1 SlurmdStartTime)
	sleep 2
	bench restart-slurmd n1
	wait_for 20 slurmd_started_after n1 "$started"
	booted=$(slurm_second n1 BootTime)
	[ "$booted" -ge "$ordered" ]
	[ "$booted" -lt "$(slurm_second n1 SlurmdStartTime)" ]
}

@test "a plain constraint is served the same" {
	put_in appdirect n1
	run_srun -w n1 -C pm_memory pmctl mode
	assert_output memory
}

@test "salloc returns when its nodes are in the mode" {
	put_in appdirect n1
	run_salloc -w n1 --pm-mode=memory env SLURMD_NODENAME=n1 pmctl mode
	assert_line memory
}

@test "a batch job with a #SBATCH line" {
	put_in appdirect n1
	run_sbatch -w n1 <<-END
		#!/bin/sh
		#SBATCH --pm-mode=memory
		pmctl mode
		srun pmctl mode
	END
	assert_line --index 0 memory
	assert_line --index 1 memory
}

@test "a job on two nodes has both in the mode" {
	put_in appdirect n1
	put_in memory n2
	run_srun -N2 --pm-mode=memory sh -c 'echo $SLURMD_NODENAME $(pmctl mode)'
	assert_line 'n1 memory'
	assert_line 'n2 memory'
}

@test "a step that asks for another mode is refused, and drains nothing" {
	run_salloc -w n1 --pm-mode=memory sh -c 'srun --pm-mode=appdirect true; echo status=$?'
	assert_output --partial 'pm: --pm-mode=appdirect: this job runs in mode memory'
	assert_line status=1
	wait_for 10 state_is n1 idle
}

@test "a step's mode is compared with the node's when the job did not ask by option" {
	run_salloc -w n1 -C pm_memory sh -c 'srun --pm-mode=appdirect true; echo status=$?'
	assert_output --partial \
		'pm: --pm-mode=appdirect: this node is in mode memory, the task does not run'
	refute_line status=0
	wait_for 10 state_is n1 idle
	run_salloc -w n1 -C pm_memory srun --pm-mode=memory pmctl mode
	assert_line memory
}

# A batch job: an srun that waits for its nodes has slurmctld look at them, too.
@test "the job starts as soon as its node is back, not at slurmctld's next pass" {
	local mode
	for mode in appdirect memory appdirect; do
		run_sbatch -w n1 --pm-mode=$mode <<-'END'
			#!/bin/sh
			pmctl mode
			echo "$SLURM_JOB_ID"
		END
		assert_line --index 0 $mode
		started_at_once "${lines[1]}"
	done
}
