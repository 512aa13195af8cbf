#!/usr/bin/env bats
# What --pm-mode and PM_MODE accept, and who wins.

setup() {
	load helper
	clean_nodes
}

teardown() {
	restore_site
}

@test "--help of srun, sbatch and salloc lists the option with the modes" {
	for command in srun sbatch salloc; do
		run_client $command --help
		assert_output --partial '--pm-mode=MODE'
		assert_output --partial '[pm] run on nodes with persistent memory in this'
		assert_output --regexp 'memory, appdirect, flat, mixed'
		assert_output --partial '--pm-size=SIZE'
		assert_output --partial '--pm-namespace=KIND'
		assert_output --partial '--pm-report'
	done
}

@test "an unknown mode is refused by srun, salloc and sbatch, and nothing is queued" {
	for command in srun salloc; do
		run_client $command 255 --pm-mode=bogus true
		assert_output \
			"$command: error: pm: --pm-mode: unknown mode 'bogus', valid modes are memory, appdirect, flat, mixed"
		assert_nothing_queued
	done
	run_client sbatch 255 --pm-mode=bogus --wrap=true
	assert_output \
		"sbatch: error: pm: --pm-mode: unknown mode 'bogus', valid modes are memory, appdirect, flat, mixed"
	assert_nothing_queued
}

@test "an unknown mode in a #SBATCH line is refused" {
	run_sbatch 255 <<-END
		#!/bin/sh
		#SBATCH --pm-mode=bogus
		true
	END
	assert_output --partial "unknown mode 'bogus', valid modes are memory, appdirect, flat, mixed"
	assert_nothing_queued
}

@test "an empty mode and one in upper case are refused" {
	run_srun 255 --pm-mode= true
	assert_output --partial "unknown mode ''"
	run_srun 255 --pm-mode=Memory true
	assert_output --partial "unknown mode 'Memory', did you mean memory? Valid modes are memory, appdirect, flat, mixed"
}

@test "the same mode twice is fine, of two different ones the last counts" {
	run_srun --pm-mode=memory --pm-mode=memory -w n1 pmctl mode
	assert_output memory
	let_epilogs_end
	run_srun --pm-mode=memory --pm-mode=appdirect -w n1 pmctl mode
	assert_output appdirect
}

@test "the command line wins over the #SBATCH line" {
	run_sbatch -w n1 --pm-mode=appdirect <<-END
		#!/bin/sh
		#SBATCH --pm-mode=memory
		pmctl mode
	END
	assert_output appdirect
}

@test "PM_MODE asks for a mode as the option does" {
	put_in appdirect n1
	PM_MODE=memory run_srun -w n1 pmctl mode
	assert_output memory
	PM_MODE=appdirect run_sbatch -w n1 <<-END
		#!/bin/sh
		pmctl mode
	END
	assert_output appdirect
	PM_MODE=memory run_salloc -w n1 srun pmctl mode
	assert_line memory
}

@test "an unknown mode in PM_MODE is refused, an empty PM_MODE is none" {
	PM_MODE=bogus run_srun 1 true
	assert_output --partial "pm: PM_MODE: unknown mode 'bogus', valid modes are memory, appdirect, flat, mixed"
	assert_nothing_queued
	PM_MODE='' run_srun true
}

@test "the option wins over PM_MODE, whatever that says" {
	PM_MODE=memory run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_output appdirect
	PM_MODE=bogus run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
}

@test "a constraint wins over PM_MODE" {
	PM_MODE=memory run_srun -w n1 -C pm_appdirect pmctl mode
	assert_output appdirect
}

@test "the task finds its mode in PM_MODE" {
	run_srun -w n1 --pm-mode=memory printenv PM_MODE
	assert_output memory
}

@test "none opts out of the site's default and of PM_MODE, and goes with no constraint of a mode" {
	with_site DefaultMode=memory
	submit_held
	assert_equal "$(job_field "$output" Features)" Features=pm_memory
	submit_held --pm-mode=none
	assert_equal "$(job_field "$output" Features)" 'Features=(null)'
	PM_MODE=none submit_held
	assert_equal "$(job_field "$output" Features)" 'Features=(null)'
	PM_MODE=memory submit_held --pm-mode=none
	assert_equal "$(job_field "$output" Features)" 'Features=(null)'
	run_client sbatch 1 --hold --pm-mode=none -C pm_memory --wrap=true
	assert_output --partial 'pm: --pm-mode=none contradicts --constraint=pm_memory, leave one of them out'
	PM_MODE=none submit_held -C pm_appdirect
	assert_equal "$(job_field "$output" Features)" Features=pm_appdirect
	restore_site
	cancel_jobs -f
	put_in appdirect n1
	let_epilogs_end
	# shellcheck disable=SC2016
	PM_MODE=memory run_srun -w n1 --pm-mode=none sh -c 'echo "$(pmctl mode) <$PM_MODE$PM_DIR>"'
	assert_line 'appdirect <>'
	run_sbatch -w n1 --pm-mode=none <<-END
		#!/bin/sh
		srun --pm-mode=memory true
		srun pmctl mode
	END
	assert_line --partial 'this job runs in mode none and a step cannot change it'
	assert_line appdirect
}
