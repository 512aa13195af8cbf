#!/usr/bin/env bats
# What --pm-mode and PM_MODE accept, and who wins.

setup() {
	load helper
	clean_nodes
}

@test "--help of srun, sbatch and salloc lists the option with the modes" {
	for command in srun sbatch salloc; do
		run_client $command --help
		assert_output --partial '--pm-mode=MODE'
		assert_output --partial '[pm] run on nodes with persistent memory in this'
		assert_output --regexp 'memory, appdirect, flat, mixed'
		assert_output --partial '--pm-size=SIZE'
		assert_output --partial '--pm-namespace=KIND'
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
