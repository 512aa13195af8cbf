#!/usr/bin/env bats
# Flat memory that stays between jobs, on one node with its kernel: one set-up for an array, and who takes it back.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

setup_file() {
	load helpers
	load jobs
	load node_jobs
	use_mode n1 appdirect
	n1 'pmctl recover; cp /etc/slurm/pmem.conf /root/pmem.kept; echo SubstateIdleTime=300 >>/etc/slurm/pmem.conf'
}

setup() {
	load helpers
	load jobs
	load node_jobs
}

teardown_file() {
	n1 'cp /root/pmem.kept /etc/slurm/pmem.conf; pmctl recover'
}

# When the last change of the sub-state was.
changed() {
	n1 'stat -c %y /var/lib/slurm-pmem/substate.json'
}

mode_is() { [ "$(mode_of n1)" = "$1" ]; }

@test "twenty elements of an array in flat, one set-up" {
	local before
	run_sbatch 0 -w n1 --pm-mode=flat <<<"$WHERE"
	assert_output 'n1 flat restarts 0'
	wait_for 120 node_is n1 idle
	assert_equal "$(mode_of n1)" flat
	before=$(changed)
	run_user 0 sh -c 'rm -f idle.*.out; sbatch --wait -w n1 --array=1-20 --pm-mode=flat --output=idle.%a.out --wrap="pmctl mode"'
	assert_equal "$(on_head sh -c 'cat idle.*.out' | sort | uniq -c | tr -s ' ')" ' 20 flat'
	assert_equal "$(changed)" "$before"
}

@test "a job without a mode sees no flat memory, and it is set up again for the next one that asks" {
	run_sbatch 0 -w n1 --pm-mode=flat <<<"$WHERE"
	wait_for 120 node_is n1 idle
	run_sbatch 0 -w n1 <<<$'#!/bin/bash\nnumactl -H | grep -c "^node [0-9] size: [1-9]"; pmctl mode'
	assert_output $'2\nappdirect'
	wait_for 120 node_is n1 idle
	run_sbatch 0 -w n1 --pm-mode=flat <<<"$WHERE"
	assert_output --partial 'n1 flat'
}

@test "a job in appdirect takes it away, and its files are there" {
	wait_for 120 node_is n1 idle
	assert_equal "$(mode_of n1)" flat
	run_sbatch 0 -w n1 --pm-mode=appdirect <<<$'#!/bin/bash\npmctl mode; echo x >"$PM_DIR0/file" && cat "$PM_DIR0/file"'
	assert_output $'appdirect\nx'
}

@test "after the idle time it is wiped and removed by pm-reachable" {
	n1 'echo SubstateIdleTime=5 >>/etc/slurm/pmem.conf'
	wait_for 120 node_is n1 idle
	run_sbatch 0 -w n1 --pm-mode=flat <<<"$WHERE"
	wait_for 120 node_is n1 idle
	wait_for 200 mode_is appdirect
	wait_for 120 n1 '! test -e /run/slurm-pmem/idle.json'
	run -0 n1 'ndctl list -N'
	refute_output --partial slurm-flat
	run -0 n1 'cat /sys/kernel/mm/numa/demotion_enabled'
	assert_output false
}
