#!/usr/bin/env bats
# A job's memory in each mode, on one node with 2 GiB of DRAM and 8 GiB of persistent memory: what it may ask for, what it gets,
# and how it ends that uses more, alone and beside another job.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

setup() {
	load helpers
	load jobs
	load node_jobs
	load reconfigure
	load limits
}

teardown() {
	on_head scancel --user=user1 || true
	restore_site
	restore_node n1
}

# share_nodes: jobs in a mode share nodes, until restore_site.
share_nodes() {
	for_both 'cp -p /etc/slurm/pmem.conf /root/pmem.kept; echo Exclusive=no >>/etc/slurm/pmem.conf'
}

restore_site() {
	for_both '[ ! -e /root/pmem.kept ] || mv /root/pmem.kept /etc/slurm/pmem.conf'
}

oom_kills() { n1 'journalctl --dmesg --output=cat | grep -c "Memory cgroup out of memory"' || true; }
node_oom_kills() { n1 'journalctl --dmesg --output=cat | grep -c "^Out of memory: Killed"' || true; }

# The job's own limit, in MiB, as the kernel has it.
LIMIT='group=$(cut -d: -f3 /proc/self/cgroup); echo limit $(($(cat /sys/fs/cgroup${group%%/step*}/memory.max) >> 20))'

@test "three times the node's DRAM: in memory mode the job runs, in flat it is refused where its budget of DRAM cannot hold" {
	run_sbatch 0 -w n1 --pm-mode=memory --mem=7G --time=20 <<<$'#!/bin/bash\npmctl mode; /usr/bin/python3 -c \''"$FILL"$'\' 6144'
	assert_output $'memory\nfilled'
	run_user 1 sbatch -w n1 --pm-mode=flat --mem=7G --pm-dram=6G --wrap=true
	assert_output --partial 'pm: --pm-dram=6G needs 6144M on a node, one in mode flat has 1600M, take at most 1600M a rank'
	run_user 1 sbatch -w n1 --pm-mode=appdirect --mem=7G --wrap=true
	assert_output --partial 'pm: --mem=7168M is more than a node has in mode appdirect (1600M), take --pm-mode=memory (7300M) or --pm-mode=flat (9000M)'
	run_user 1 sbatch -w n1 --pm-mode=flat --mem=10G --wrap=true
	assert_output --partial 'more than a node has in mode flat (9000M), ask for less'
}

@test "--mem=0 and no request: all memory of the mode, by Slurm's record and by the kernel's limit" {
	local mode size
	for mode in memory:7300 appdirect:1600 flat:9000; do
		size=${mode#*:} mode=${mode%:*}
		run_sbatch 0 -w n1 --pm-mode="$mode" --mem=0 <<<$'#!/bin/bash\npmctl mode\n'"$LIMIT"$'\nscontrol -o show job $SLURM_JOB_ID | grep -o MinMemoryNode=[^\\ ]*'
		assert_line --index 0 "$mode"
		assert_line --index 1 "limit $size"
		assert_line --index 2 --regexp "^MinMemoryNode=($size|$size.00)M$"
	done
	run_sbatch 0 -w n1 --pm-mode=flat <<<$'#!/bin/bash\n'"$LIMIT"
	assert_output 'limit 9000'
}

@test "two jobs share a node in memory mode: one outgrows its limit and dies by its own cgroup, the other runs on" {
	local neighbour node_kills kills
	use_mode n1 memory
	share_nodes
	node_kills=$(node_oom_kills) kills=$(oom_kills)
	run_user 0 sbatch --parsable -w n1 -n1 --pm-mode=memory --mem=3G --output=neighbour.out \
		--wrap="exec /usr/bin/python3 -c '$FILL
import time
time.sleep(900)' 2048"
	neighbour=$output
	wait_for 300 on_head grep -q filled neighbour.out
	dies_beside() {
		run_user 0 sbatch --parsable -w n1 -n1 --pm-mode=memory --mem=3G --output=fill.out --wrap="exec /usr/bin/python3 -c '$FILL' 4000"
		wait_for 600 has_state "$output" OUT_OF_MEMORY
	}
	dies_beside
	has_state "$neighbour" RUNNING
	run n1 'ps -C python3 -o rss='
	[ "$output" -gt $((2000 * 1024)) ]
	[ "$(oom_kills)" -gt "$kills" ]
	assert_equal "$(node_oom_kills)" "$node_kills"
	# A third has no room beside the first, though the node has a core for it.
	run_user 0 sbatch --parsable -w n1 -n1 --pm-mode=memory --mem=5G --output=third.out --wrap='pmctl mode'
	local third=$output
	sleep 25
	has_state "$third" PENDING
	on_head scancel "$neighbour"
	wait_for 300 has_state "$third" COMPLETED
	run node_state n1
	refute_output --regexp 'drain|down'
}

@test "a job that outgrows its limit dies by its cgroup in each mode, and the node stays" {
	local before node_kills
	before=$(drains) node_kills=$(node_oom_kills)
	dies_at_its_limit memory
	dies_at_its_limit appdirect
	dies_at_its_limit flat 'numactl --membind=$PM_NODE0'
	assert_equal "$(drains) $(node_oom_kills)" "$before $node_kills"
}
