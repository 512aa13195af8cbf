#!/usr/bin/env bats
# Flat memory that stays between jobs, on one node with its kernel: one set-up for an array, who takes it back, and that
# no job finds a byte of an earlier one.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

# shellcheck disable=SC2034 # jobs.bash uses it
NODE=n1
STATE=/var/lib/slurm-pmem/substate.json
MARK=/run/slurm-pmem/idle.json

setup_file() {
	load helpers
	load jobs
	load node_jobs
	use_mode n1 appdirect
	pmtwin copy "${PM_BUILD:-$ROOT/build}/tests/pattern" n1:/usr/local/bin/pattern
	n1 'pmctl recover; cp /etc/slurm/pmem.conf /root/pmem.kept'
	idle_time 3600
}

setup() {
	load helpers
	load jobs
	load node_jobs
	wait_for 120 node_is n1 idle
}

teardown_file() {
	n1 'cp /root/pmem.kept /etc/slurm/pmem.conf; pmctl recover'
}

idle_time() { n1 "cp /root/pmem.kept /etc/slurm/pmem.conf; echo SubstateIdleTime=$1 >>/etc/slurm/pmem.conf"; }

# What a job leaves in the memory that it got, after it has looked for what others left there.
TAKE='#!/bin/bash
numactl --membind=$PM_NODE0 pattern take anon $((64 << 20)) && numactl --membind=$PM_NODE1 pattern take anon $((64 << 20))'

# A job in flat of user1 that leaves its bytes.
leave_flat() {
	job_of user1 --pm-mode=flat <<<"$TAKE"
	wait_for 120 node_is n1 idle
	assert_equal "$(mode_of n1)" flat
	n1 "test -e $MARK"
}

mode_is() { [ "$(mode_of n1)" = "$1" ]; }
is_gone() { n1 "! test -e $MARK && ! ndctl list -N | grep -q slurm-flat"; }

# How often pmctl's journal of the sub-state was written: every change of the memory is in it.
changed() { n1 "stat -c %y $STATE"; }
endings() { n1 "journalctl -t pmctl -o cat | grep -c 'flat memory stays for the next job'"; }

@test "twenty elements of an array in flat: one set-up, and no byte of an earlier one; another user finds none in all of it" {
	local before ends
	leave_flat
	before=$(changed)
	ends=$(endings)
	run timeout 1800 "$ROOT/twin/pmtwin" run -- sh -c \
		'cat >take.job; rm -f take.*.out; sbatch --wait -w n1 --array=1-20 --pm-mode=flat --output=take.%a.out take.job' <<<"$TAKE"
	assert_success
	assert_equal "$(on_head sh -c 'cat take.*.out' | sort | uniq -c | tr -s ' ')" ' 40 take anon: 0 of 67108864 bytes'
	wait_for 120 node_is n1 idle
	assert_equal "$(endings)" $((ends + 20))
	job_of user2 --pm-mode=flat <<<'#!/bin/bash
		for node in $PM_NODE0 $PM_NODE1; do
			free=$(sed -n "s/.*MemFree: *\([0-9]*\) kB/\1/p" /sys/devices/system/node/node$node/meminfo)
			numactl --membind=$node pattern blank anon $((free / 100 * 95 << 10)) &
		done
		wait -n && wait -n'
	assert_equal "$(grep -c 'blank anon: 0 of [1-9][0-9]\{9\} bytes' <<<"$output")" 2
	assert_equal "$(changed)" "$before"
}

@test "another user's job without a mode sees no flat memory and can read no device; a device is blank" {
	leave_flat
	job_of user2 <<<'#!/bin/bash
		numactl -H | grep -c "^node [0-9] size: [1-9]"; pmctl mode; for dax in /dev/dax*; do [ ! -r $dax ] || echo "can read $dax"; done'
	assert_output $'2\nappdirect'
	run -0 n1 "grep -c offline $MARK; pattern look /dev/dax0.0 0; true"
	assert_output --partial 'look /dev/dax0.0: '
	refute_output --partial 'look /dev/dax0.0: 0 of'
	job_of user2 --pm-mode=appdirect --pm-namespace=devdax <<<$'#!/bin/bash\npattern blank $PM_DAX0 0 && pattern blank $PM_DAX1 0'
	run n1 "test -e $MARK"
	assert_failure
}

@test "a job in appdirect of another user takes it away, and finds nothing of it in the blocks that it gets" {
	leave_flat
	job_of user2 --pm-mode=appdirect <<<'#!/bin/bash
		pmctl mode
		for dir in $PM_DIR0 $PM_DIR1; do
			fallocate -l 900M $dir/allocated && pattern blank $dir/allocated 0 &&
				truncate -s 900M $dir/sparse && pattern blank $dir/sparse 0 || exit 1
		done
		for place in /dev/pmem* /dev/dax*; do [ ! -r $place ] || echo "can read $place"; done'
	assert_line --index 0 appdirect
	assert_equal "$(grep -c ': 0 of 943718400 bytes' <<<"$output")" 4
	refute_output --partial 'can read'
	run n1 "test -e $MARK"
	assert_failure
}

@test "slurmd starts anew, a job is cancelled as it starts: the memory stays, and the next job in flat has it" {
	local before job
	leave_flat
	before=$(changed)
	n1 'systemctl restart slurmd'
	wait_for 120 node_is n1 idle
	run_user 0 sbatch --parsable -w n1 --pm-mode=flat --output=/dev/null --wrap='sleep 600'
	job=$output
	wait_for 60 n1 "test -e /run/slurm-pmem/jobs/$job -o ! -e $MARK"
	on_head scancel "$job"
	wait_for 120 node_is n1 idle
	wait_for 120 n1 "test -e $MARK"
	job_of user2 --pm-mode=flat <<<"$TAKE"
	assert_equal "$(grep -c ': 0 of' <<<"$output")" 2
	assert_equal "$(changed)" "$before"
}

@test "an administrator's daxctl: memory that is offline is set up again, and a job without a mode runs beside a device" {
	leave_flat
	n1 'daxctl offline-memory dax0.0'
	job_of user1 --pm-mode=flat <<<"$TAKE"
	assert_equal "$(grep -c ': 0 of' <<<"$output")" 2
	wait_for 120 node_is n1 idle
	n1 'daxctl reconfigure-device -m devdax -f dax1.0'
	job_of user2 <<<$'#!/bin/bash\nnumactl -H | grep -c "^node [0-9] size: [1-9]"'
	assert_output 2
}

@test "after the idle time it is wiped and removed by pm-reachable; the setting may change meanwhile" {
	leave_flat
	idle_time 5
	wait_for 300 mode_is appdirect
	wait_for 300 is_gone
	run -0 n1 'cat /sys/kernel/mm/numa/demotion_enabled'
	assert_output false
	idle_time 3600
}

@test "a job in memory mode has it taken back, and the node reboots once; nothing of it is there after the way back" {
	local boot
	leave_flat
	boot=$(boot_id n1)
	job_of user2 --pm-mode=memory <<<"$WHERE"
	assert_output 'n1 memory restarts 0'
	refute [ "$(boot_id n1)" = "$boot" ]
	use_mode n1 appdirect
	job_of user2 --pm-mode=appdirect --pm-namespace=devdax <<<$'#!/bin/bash\npattern blank $PM_DAX0 0 && pattern blank $PM_DAX1 0'
}

@test "a node that loses power with idle flat memory comes back without it, wiped" {
	leave_flat
	pmtwin power-cycle --wait 300 n1
	restore_node n1
	assert_equal "$(mode_of n1)" appdirect
	wait_for 300 is_gone
	job_of user2 --pm-mode=flat <<<"$TAKE"
	assert_equal "$(grep -c ': 0 of' <<<"$output")" 2
}
