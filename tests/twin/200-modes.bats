#!/usr/bin/env bats
# Jobs of an ordinary user change the nodes' mode; real Slurm, ipmctl, kernel and firmware model.
# shellcheck disable=SC2154 # output and status are set by run

setup() {
	load helpers
	load jobs
}

@test "a #SBATCH line reboots a node into memory mode and the job runs there" {
	use_mode n1 appdirect
	before=$(boot_id n1)
	run_sbatch 0 -w n1 <<-END
		#!/bin/bash
		#SBATCH --pm-mode=memory
		#SBATCH -N1
		free -g; ipmctl show -memoryresources 2>/dev/null || true; pmctl mode
	END
	assert_line memory
	assert [ "$(total_gib <<<"$output")" -ge 7 ]
	assert [ "$(boot_id n1)" != "$before" ]
	run pmtwin exec n1 -- ipmctl show -system -capabilities
	assert_line --partial 'CurrentVolatileMode=2LM'
}

@test "the next job of that mode starts without a reboot" {
	use_mode n1 memory
	before=$(boot_id n1)
	run_user 0 srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	assert_equal "$(boot_id n1)" "$before"
}

@test "a job of two nodes reboots only the one that needs it" {
	use_mode n1 memory
	use_mode n2 appdirect
	before=$(boot_id n1)
	run_sbatch 0 -N2 --pm-mode=memory <<-'END'
		#!/bin/bash
		srun -l pmctl mode | sort
	END
	assert_line '0: memory'
	assert_line '1: memory'
	assert_equal "$(boot_id n1)" "$before"
}

@test "srun takes the node back to App Direct" {
	use_mode n1 memory
	run_user 0 srun -w n1 --pm-mode=appdirect sh -c 'pmctl mode; free -g'
	assert_line appdirect
	assert [ "$(total_gib <<<"$output")" -le 2 ]
	run pmtwin exec n1 -- ndctl list -R
	assert_line --partial '"dev":"region1"'
}

# bats test_tags=long
@test "salloc with the plain feature waits for the reboot" {
	use_mode n1 appdirect
	run_user 0 salloc -w n1 -C pm_memory srun pmctl mode
	assert_line memory
}

# bats test_tags=long
@test "sbatch and srun with the plain feature are served the same" {
	use_mode n1 memory
	run_sbatch 0 -w n1 -C pm_memory <<<"$WHERE"
	assert_output 'n1 memory restarts 0'
	run_user 0 srun -w n1 -C pm_memory pmctl mode
	assert_output memory
}

@test "a job without an option runs in any mode and reboots nothing" {
	before=$(boot_id n1)$(boot_id n2)
	run_user 0 srun -N2 hostname
	assert_equal "$(boot_id n1)$(boot_id n2)" "$before"
}

@test "an unknown mode is refused at once, by every command, and nothing is queued" {
	local refusal="unknown mode 'bogus', valid modes are memory, appdirect, flat, mixed"
	run_user 1+ srun --pm-mode=bogus hostname
	assert_output --partial "$refusal"
	run_user 1+ salloc --pm-mode=bogus true
	assert_output --partial "$refusal"
	run_user 1+ sbatch --pm-mode=bogus --wrap hostname
	assert_output --partial "$refusal"
	run_sbatch 1+ <<-END
		#!/bin/bash
		#SBATCH --pm-mode=bogus
		hostname
	END
	assert_output --partial "$refusal"
	run_user 0 squeue -h
	assert_output ''
}

@test "a slip in pmem.conf stops pmctl and the plugin with file and line" {
	pmtwin exec head -- sh -c 'cp /etc/slurm/pmem.conf /run/pmem.conf; echo Mode=memory >>/etc/slurm/pmem.conf'
	run on_head srun --pm-mode=memory hostname
	local plugin=$output plugin_status=$status
	run pmtwin exec head -- pmctl show-config
	local agent=$output agent_status=$status
	run on_head srun hostname
	local plain_status=$status
	pmtwin exec head -- cp /run/pmem.conf /etc/slurm/pmem.conf
	[ "$plugin_status" -ne 0 ]
	[ "$agent_status" -ne 0 ]
	[ "$plain_status" -eq 0 ]
	[[ $plugin =~ /etc/slurm/pmem.conf:[0-9]+:.*Mode ]]
	[[ $agent =~ /etc/slurm/pmem.conf:[0-9]+:.*Mode ]]
}
