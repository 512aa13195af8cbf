#!/usr/bin/env bats
# Preemption, suspension and gang scheduling: docs/admin/compatibility.md has a row for each.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
}

teardown() {
	cancel_jobs -f
	restore_site
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
# Slurm calls a job RUNNING before its script has begun again and truncated the file with the line of its first end.
begins_again() { writes_lines && ! grep --quiet 'DUE TO PREEMPTION' "$lines_of"; }
goes_on() { [ "$(wc -l <"$lines_of")" -gt "$1" ]; }

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
	wait_for 20 begins_again
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

# suspend_job OPTION...: a job as of start_job that an operator suspends; nothing of it runs when this returns.
suspend_job() {
	start_job "$@"
	admin scontrol suspend "$job"
	wait_for 20 job_is "$job" SUSPENDED
	wait_for 20 stands_still
	stood=$(wc -l <"$lines_of")
}

stands_still() {
	local count
	count=$(wc -l <"$lines_of")
	sleep 2
	[ "$(wc -l <"$lines_of")" = "$count" ]
}

submit_other_mode() {
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	other=$output
}

refused_for() {
	grep -q "job $1 is suspended on this node: the node's mode is not changed until that job has ended" \
		"$(bench_dir)"/log/slurmd.n1.*
}

# The order to change has come, was refused, and slurmctld waits for no boot any more.
refused_and_back() {
	refused_for "$1" && ! node_is_booting && [ "$(node_field n1 %b | grep -c pm_memory)" = 1 ]
}

node_is_booting() { [[ $(admin scontrol -o show node n1) == *State=*POWERING_UP* ]]; }

@test "an operator's suspension: a job of another mode waits until the suspended one has ended, which goes on in its mode" {
	put_in memory n1
	: >"$(bench_dir)/log/slurmd.n1.log"
	before=$(boot_id n1)
	suspend_job -w n1 --pm-mode=memory
	submit_other_mode
	wait_for 30 refused_and_back "$job"
	wait_for 30 job_is "$other" PENDING
	job_is "$job" SUSPENDED
	nodes_are_in_service
	run node_field n1 '%f'
	refute_output --partial pm_appdirect
	bench restart-slurmd n1
	wait_for 30 state_is n1 idle
	sleep 3
	job_is "$other" PENDING
	admin scontrol resume "$job"
	wait_for 20 goes_on "$stood"
	assert_equal "$(boot_id n1)" "$before"
	run job_field "$job" Restarts
	assert_output Restarts=0
	assert_equal "$(sort -u "$lines_of")" 'memory memory'
	admin scancel "$job"
	wait_for 90 job_is "$other" COMPLETED
	assert [ "$(boot_id n1)" != "$before" ]
	nodes_are_in_service
}

is_held() { job_is "$1" PENDING && [ "$(job_field "$1" Priority)" = Priority=0 ]; }

@test "an operator's suspension of a job for which its node reboots: it is requeued and held, and runs in its mode when released" {
	with_slurm_conf 's/^SlurmdDebug=.*/SlurmdDebug=debug2/'
	put_in appdirect n1
	bench inject n1 hang
	run_client sbatch --parsable -w n1 --pm-mode=memory --output="$(bench_dir)/home/began" --wrap='pmctl mode'
	job=${output##*$'\n'}
	wait_for 20 boot_hangs n1
	admin scontrol suspend "$job"
	wait_for 30 is_held "$job"
	run grep "^job $job was suspended while its nodes boot, before it began: requeued and held" "$(bench_dir)/log/pm-controller.out"
	assert_success
	bench power-cycle n1
	wait_for 60 state_is n1 idle
	release_suspended "$job"
	assert_equal "$(cat "$(bench_dir)/home/began")" memory
	nodes_are_in_service
}

@test "an operator's suspension: a job of another mode takes another node" {
	put_in memory n1 n2
	suspend_job -w n1 --pm-mode=memory
	run_client sbatch --parsable --pm-mode=appdirect --output="$(bench_dir)/home/elsewhere" --wrap='echo $SLURMD_NODENAME'
	other=$output
	wait_for 90 job_is "$other" COMPLETED
	run cat "$(bench_dir)/home/elsewhere"
	assert_output n2
	job_is "$job" SUSPENDED
	admin scontrol resume "$job"
	wait_for 20 goes_on "$stood"
	assert_equal "$(sort -u "$lines_of")" 'memory memory'
}

@test "an operator's suspension of a salloc without a step: its node keeps the mode, too" {
	local held
	put_in memory n1
	: >"$(bench_dir)/log/slurmd.n1.log"
	before=$(boot_id n1)
	held=$(bench_dir)/home/held
	rm -f "$held" "$held".*
	bench salloc -w n1 --pm-mode=memory sh -c "echo \$SLURM_JOB_ID >$held; until [ -e $held.go ]; do sleep 0.2; done; srun pmctl mode >$held.mode" 3>&- &
	wait_for 40 test -s "$held"
	job=$(cat "$held")
	admin scontrol suspend "$job"
	wait_for 20 job_is "$job" SUSPENDED
	submit_other_mode
	wait_for 30 refused_and_back "$job"
	admin scontrol resume "$job"
	wait_for 20 job_is "$job" RUNNING
	assert_equal "$(boot_id n1)" "$before"
	touch "$held.go"
	wait_for 40 job_is_over "$job"
	run cat "$held.mode"
	assert_output memory
	wait_for 90 job_is "$other" COMPLETED
	nodes_are_in_service
}

# slurmd tells of its boot within a second: it may be that of the submission.
@test "a suspended job ends while a job of another mode waits: the node is not at fault, and that job gets its mode" {
	local booted=$BATS_TEST_TMPDIR/booted
	put_in memory n1
	: >"$(bench_dir)/log/slurmd.n1.log"
	suspend_job -w n1 --pm-mode=memory
	with_site "ScontrolPath=$(program scontrol "$(bench_dir)/bin/scontrol \"\$@\" | sed \"s/BootTime=[^ ]*/BootTime=\$(cat $booted)/\"")"
	submit_other_mode
	job_field "$other" SubmitTime | cut -d= -f2 >"$booted"
	wait_for 30 refused_for "$job"
	admin scancel "$job"
	wait_for 40 turned_away_for_its_mode
	restore_site
	wait_for 90 job_is "$other" COMPLETED
	nodes_are_in_service
}

turned_away_for_its_mode() {
	grep -q 'job expects appdirect, node is in memory .*, turning the job away' "$(bench_dir)/log/slurmd.n1.log"
}

job_is_over() { [[ $(job_field "$1" JobState) =~ COMPLETED|FAILED ]]; }

@test "two suspended jobs: the node keeps their mode until both have ended" {
	local first
	put_in memory n1
	before=$(boot_id n1)
	suspend_job -w n1 --pm-mode=memory
	first=$job
	suspend_job -w n1 --pm-mode=memory
	submit_other_mode
	wait_for 30 refused_and_back "[0-9]*"
	admin scancel "$job"
	sleep 8
	job_is "$first" SUSPENDED
	job_is "$other" PENDING
	assert_equal "$(boot_id n1)" "$before"
	admin scancel "$first"
	wait_for 90 job_is "$other" COMPLETED
	nodes_are_in_service
}

@test "srun --overlap into a suspended job starts nothing; when that job goes on, it runs in its mode" {
	local ran
	put_in memory n1
	before=$(boot_id n1)
	suspend_job -w n1 --pm-mode=memory
	ran=$(bench_dir)/home/overlap
	rm -f "$ran"
	LIMIT_S=10 run bench srun --overlap --jobid="$job" sh -c "pmctl mode >$ran"
	assert_equal "$status" 124
	[ ! -e "$ran" ]
	job_is "$job" SUSPENDED
	nodes_are_in_service
	admin scontrol resume "$job"
	wait_for 20 goes_on "$stood"
	run_srun --overlap --jobid="$job" sh -c 'echo $(pmctl mode) $PM_MODE'
	assert_line 'memory memory'
	assert_equal "$(boot_id n1)" "$before"
	nodes_are_in_service
}

@test "scontrol reboot waits for a suspended job" {
	put_in memory n1
	before=$(boot_id n1)
	suspend_job -w n1 --pm-mode=memory
	admin scontrol reboot n1
	sleep 8
	assert_equal "$(boot_id n1)" "$before"
	job_is "$job" SUSPENDED
	admin scontrol resume "$job"
	wait_for 20 goes_on "$stood"
	admin scancel "$job"
	wait_for 60 boots_anew
}

boots_anew() { [ "$(boot_id n1)" != "$before" ] && state_is n1 idle; }

@test "PreemptMode=SUSPEND: pm-controller says at its start what becomes of modes" {
	local log
	log=$(bench_dir)/log/pm-controller.out
	: >"$log"
	restart_controller
	run grep PreemptMode= "$log"
	assert_failure
	with_preemption SUSPEND,GANG OverSubscribe=FORCE:1
	wait_for 20 grep -q '^PreemptMode=SUSPEND: a node with suspended jobs stays in their mode' "$log"
}
