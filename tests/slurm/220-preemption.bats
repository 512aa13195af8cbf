#!/usr/bin/env bats
# Preemption, suspension and gang scheduling: docs/admin/compatibility.md has a row for each.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
}

teardown() {
	admin scancel -f -u nobody
	wait_for 30 no_jobs
	resume n1 n2
	[ ! -e "$BATS_TEST_TMPDIR/slurm.conf" ] || cp "$BATS_TEST_TMPDIR/slurm.conf" "$(bench_dir)/etc/slurm.conf"
	restart_controller
}

restart_controller() {
	bench restart-slurmctld
	bench service start
	wait_for 60 nodes_have_modes
}

# with_preemption MODE [OPTION-OF-PARTITIONS]: a partition urgent, before whose jobs those of main give way.
with_preemption() {
	local conf
	conf=$(bench_dir)/etc/slurm.conf
	cp "$conf" "$BATS_TEST_TMPDIR/slurm.conf"
	sed -i "s/^PartitionName=main .*/& PriorityTier=1 ${2-}/" "$conf"
	printf '%s\n' PreemptType=preempt/partition_prio PreemptMode="$1" \
		"PartitionName=urgent Nodes=ALL PriorityTier=10 ${2-} State=UP" >>"$conf"
	restart_controller
	resume n1 n2
}

# start_job OPTION...: of the low partition; it writes a line a second. Its number is in $job, the file in $lines_of.
start_job() {
	lines_of=$(bench_dir)/home/lines.$BATS_TEST_NUMBER
	rm -f "$lines_of"
	run_client sbatch --parsable "$@" --output="$lines_of" --open-mode=truncate \
		--wrap='while :; do echo $(pmctl mode) $PM_MODE; sleep 1; done'
	job=$output
	wait_for 40 writes_lines
}

writes_lines() { [ -s "$lines_of" ]; }
goes_on() { [ "$(wc -l <"$lines_of")" -gt "$1" ]; }

nodes_are_in_service() {
	run bench sinfo -hN -o '%T %E'
	refute_output --partial drain
	refute_output --partial down
}

user_pmctl() {
	bench user "${PM_BUILD:-$TOP/build}/pmctl" --config "$(bench_dir)/etc/pmem.conf" "$@"
}

@test "REQUEUE: a job of the same mode preempts at once, and the other starts again in its mode" {
	put_in memory n1
	with_preemption REQUEUE
	start_job -w n1 --requeue --pm-mode=memory
	run_srun -p urgent -w n1 --pm-mode=memory pmctl mode
	assert_line memory
	wait_for 60 job_is "$job" RUNNING
	run job_field "$job" Restarts
	assert_output Restarts=1
	nodes_are_in_service
}

@test "CANCEL: a job of the same mode, or of none, preempts at once" {
	put_in memory n1
	with_preemption CANCEL
	start_job -w n1 --pm-mode=memory
	run_srun -p urgent -w n1 --pm-mode=memory pmctl mode
	assert_line memory
	wait_for 20 job_is "$job" PREEMPTED
	start_job -w n1 --pm-mode=memory
	run_srun -p urgent -w n1 --exclusive pmctl mode
	assert_line memory
	wait_for 20 job_is "$job" PREEMPTED
	nodes_are_in_service
}

@test "REQUEUE: a job of another mode preempts, too: the node reboots, and again for the job that was requeued" {
	local urgent
	put_in memory n1
	with_preemption REQUEUE
	start_job -w n1 --requeue --pm-mode=memory
	run_client sbatch --parsable -p urgent -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	urgent=$output
	wait_for 90 job_is "$urgent" COMPLETED
	wait_for 90 job_is "$job" RUNNING
	wait_for 20 writes_lines
	assert_equal "$(sort -u "$lines_of")" 'memory memory'
	nodes_are_in_service
}

@test "SUSPEND and gang: a job of the same mode suspends the other, which goes on in its mode" {
	local count
	put_in memory n1
	with_preemption SUSPEND,GANG OverSubscribe=FORCE:1
	start_job -w n1 --pm-mode=memory
	run_client sbatch --parsable -p urgent -w n1 --pm-mode=memory --output=/dev/null --wrap='sleep 6'
	wait_for 40 job_is "$job" SUSPENDED
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	count=$(wc -l <"$lines_of")
	wait_for 40 job_is "$job" RUNNING
	wait_for 20 goes_on "$count"
	assert_equal "$(sort -u "$lines_of")" 'memory memory'
	nodes_are_in_service
}

@test "gang scheduling: jobs of one mode take turns on a node" {
	local count first
	put_in memory n1
	with_preemption SUSPEND,GANG OverSubscribe=FORCE:2
	sed -i '$aSchedulerTimeSlice=5' "$(bench_dir)/etc/slurm.conf"
	restart_controller
	resume n1 n2
	start_job -w n1 --pm-mode=memory
	first=$job
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap='sleep 60'
	wait_for 60 job_is "$first" SUSPENDED
	count=$(wc -l <"$lines_of")
	wait_for 60 goes_on "$count"
	assert_equal "$(sort -u "$lines_of")" 'memory memory'
	nodes_are_in_service
}

@test "an operator's suspension on drained nodes: no job of another mode takes them, and the job goes on" {
	local count
	put_in memory n1
	start_job -w n1 --pm-mode=memory
	admin scontrol update nodename=n1 state=drain reason='job is suspended'
	admin scontrol suspend "$job"
	wait_for 20 job_is "$job" SUSPENDED
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	count=$(wc -l <"$lines_of")
	sleep 5
	job_is "$output" PENDING
	admin scontrol resume "$job"
	admin scontrol update nodename=n1 state=resume
	wait_for 20 goes_on "$count"
	assert_equal "$(sort -u "$lines_of")" 'memory memory'
}

@test "PreemptMode=SUSPEND: pm-controller says at its start that modes do not go with it" {
	local log
	log=$(bench_dir)/log/pm-controller.out
	: >"$log"
	restart_controller
	run grep PreemptMode= "$log"
	assert_failure
	with_preemption SUSPEND,GANG OverSubscribe=FORCE:1
	wait_for 20 grep -q '^PreemptMode=SUSPEND: Slurm takes a node with suspended jobs only for idle' "$log"
}
