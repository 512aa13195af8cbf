#!/usr/bin/env bats
# Faults of a node's firmware: the job never runs on that node, the node drains with the reason, the job runs elsewhere.
# shellcheck disable=SC2154 # output and status are set by run

setup() {
	load helpers
	load jobs
}

# What an admin does once the fault is mended.
teardown() {
	pmtwin inject n1 none
	pmtwin exec n1 -- true 2>/dev/null || pmtwin power-cycle --wait 120 n1
	pmtwin exec --wait 60 n1 -- pmctl health --clear || true
	restore_node n1
	restore_node n2
}

is_rebooted() {
	local now
	now=$(pmtwin exec "$1" -- cat /proc/sys/kernel/random/boot_id 2>/dev/null) && [ "$now" != "$2" ]
}

is_out() {
	[[ $(node_state "$1") =~ drain|down|inval ]]
}

node_answers() {
	[[ $(node_state "$1") =~ ^[a-z]+$ ]] && ! node_is "$1" inval
}

has_ended() {
	[ -z "$(on_head squeue -h -j "$1" 2>/dev/null)" ]
}

# Out of service, or it has told the controller already that it cannot change.
cannot_serve() {
	is_out "$1" || [[ $(pmtwin exec head -- sinfo -hN -n "$1" -o %f) != *pm_memory* ]]
}

# A job for memory mode that n1, in another mode, gets first; n2, which is in that mode, serves only once n1 does not.
run_on_n2_after_n1() {
	local job name=fault.$BATS_TEST_NUMBER
	pmtwin exec head -- scontrol update nodename=n2 state=drain reason=kept
	run_user 0 sbatch --parsable --pm-mode=memory --output="$name" --error="$name.err" <<<"$WHERE"
	job=$output
	wait_for 300 cannot_serve n1
	pmtwin exec head -- scontrol update nodename=n2 state=resume
	wait_for 120 has_ended "$job"
	run on_head cat "$name"
}

# bats test_tags=long
@test "the firmware rejects the goal: the job takes another node, which reboots for it" {
	use_modes n1 appdirect n2 appdirect
	pmtwin inject n1 goal-rejected
	run_sbatch 0 --pm-mode=memory <<<"$WHERE"
	assert_output 'n2 memory restarts 1'
	assert_drained n1 'was rejected by the firmware'
	assert_drained n1 'node is in appdirect'
	assert_equal "$(mode_of n1)" appdirect
}

# bats test_tags=long
@test "the firmware ignores the goal" {
	use_modes n1 appdirect n2 memory
	pmtwin inject n1 goal-ignored
	run_on_n2_after_n1
	assert_output 'n2 memory restarts 1'
	assert_drained n1 'was not applied at reboot'
	assert_drained n1 'node is in appdirect'
	run pmtwin exec n1 -- ipmctl show -goal
	assert_output --partial 'There are no goal configs'
}

@test "a namespace on the node is not destroyed" {
	use_modes n1 appdirect n2 memory
	# A job that was there before has left a namespace of ours, which takes all of the region.
	pmtwin exec n1 -- pmctl provision empty
	pmtwin exec n1 -- ndctl create-namespace -m devdax -r region0 -n results
	before=$(pmtwin exec n1 -- ndctl list -N)
	run pmtwin exec n1 -- pmctl set memory
	assert_failure
	assert_output --partial "named 'results'"
	run_on_n2_after_n1
	# None, when n1 has said in time that it cannot change: it looks every minute.
	assert_output --regexp '^n2 memory restarts [01]$'
	run pmtwin exec --wait 60 n1 -- ndctl list -N
	assert_output "$before"
	pmtwin exec n1 -- ndctl destroy-namespace -f "$(grep -o 'namespace[0-9.]*' <<<"$before")"
	# Slurm 24.05 and later hold it for a node in memory mode until its slurmd says otherwise.
	pmtwin exec n1 -- systemctl restart slurmd
	wait_for 60 node_answers n1
}

# bats test_tags=long
@test "a node with a mode that was changed behind Slurm's back serves no job that asked for another" {
	local before
	use_mode n1 appdirect
	before=$(boot_id n1)
	pmtwin exec n1 -- pmctl set memory
	pmtwin exec n1 -- pmctl reboot
	wait_for 180 is_rebooted n1 "$before"
	run_sbatch 0 --pm-mode=appdirect <<<"$WHERE"
	assert_output --regexp '^n[12] appdirect restarts [01]$'
}

# bats test_tags=long
@test "the node does not come back: ResumeTimeout ends it" {
	use_modes n1 appdirect n2 memory
	pmtwin inject n1 boot-hang
	run_on_n2_after_n1
	assert_output 'n2 memory restarts 1'
	run node_state n1
	assert_output --partial down
	run node_reason n1
	assert_output --partial 'reboot timed out'
}

# 1e999 is out of range, which has strtod() set the errno that up to 24.11 any earlier call may have left.
set_percent() {
	pmtwin exec head -- sed -i "s/node_reg_mem_percent=.*/node_reg_mem_percent=$1/" /etc/slurm/slurm-pmem.conf
}

# bats test_tags=long
@test "nodes that slurmctld takes for too small, having misread the percentage, are given back" {
	use_mode n1 appdirect
	# slurmctld keeps the reason of a node that is in service, and writes none of its own then.
	pmtwin exec head -- scontrol update nodename=n1 reason='of an earlier time'
	pmtwin exec head -- systemctl start pm-reregister # it has seen n1 in service
	set_percent 1e999
	pmtwin exec head -- systemctl restart slurmctld
	wait_for 60 node_is n1 inval # 22.05 reads its configuration behind the end of restart
	set_percent 5
	pmtwin exec head -- systemctl start pm-reregister
	wait_for 120 node_is n1 idle
	wait_for 60 node_is n2 idle
}
