#!/usr/bin/env bats
# What slurmctld ordered and the node never heard, or forgot, slurmd finds out when it starts: no job is lost by it.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
	put_in appdirect n1
	let_epilogs_end
	keep_pmctl
}

teardown() {
	put_pmctl_back
	cancel_jobs
}

is_powering_up() {
	[[ $(admin scontrol -o show node n1) == *State=*POWERING_UP* ]]
}

# n1 boots for a job that is then cancelled; the boot goes on when its power is cut.
leave_booting() {
	bench inject n1 hang
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap=true
	job=$output
	wait_for 20 is_powering_up
	wait_for 20 eval '[ ! -e "$(bench_dir)/n1/fault" ]'
	bench scancel "$job"
	wait_for 20 no_jobs
	is_powering_up
}

end_boot_soon() {
	(sleep 3; bench power-cycle n1) 3>&- >/dev/null &
}

@test "salloc gets its mode on a node that boots for a job which is gone" {
	leave_booting
	end_boot_soon
	run_salloc -w n1 --pm-mode=mixed sh -c 'srun pmctl mode'
	assert_line mixed
}

@test "srun too" {
	leave_booting
	end_boot_soon
	run_srun -w n1 --pm-mode=mixed pmctl mode
	assert_line mixed
}

@test "a batch job is not requeued for it" {
	leave_booting
	end_boot_soon
	run_client sbatch --parsable -w n1 --pm-mode=mixed --output=/dev/null --wrap=true
	job=$output
	wait_for 60 job_is "$job" COMPLETED
	run job_field "$job" Restarts
	assert_output Restarts=0
}

@test "a job in the mode that the node boots into finds it there" {
	local before
	leave_booting
	before=$(boot_id n1)
	end_boot_soon
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_line memory
	[ "$(boot_id n1)" != "$before" ]
}

@test "a slurmd that is restarted while it changes the mode changes it all the same" {
	local once=$BATS_TEST_TMPDIR/once
	pmctl_in_case "*'helper pm_memory'*) [ -e $once ] || { touch $once; exec sleep 600; } ;;"
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap=true
	job=$output
	wait_for 20 test -e "$once"
	bench restart-slurmd n1
	wait_for 30 job_is "$job" COMPLETED
	run job_field "$job" Restarts
	assert_output Restarts=0
}

@test "a node that cannot make the change turns the job away" {
	leave_booting
	pmctl_in_case "*'helper pm_mixed'*) echo 'pmctl: data is in the way' >&2; exit 1 ;;"
	end_boot_soon
	run bench salloc -w n1 --pm-mode=mixed echo ran
	assert_failure
	refute_line ran
	assert_output --partial 'job expects mixed, node is in memory'
	wait_for 20 state_is n1 idle
}

# forget_prolog CLIENT...: slurmd starts anew while n1 prepares the job, which only the first time takes long.
forget_prolog() {
	local once=$BATS_TEST_TMPDIR/once
	pmctl_in_case "*'n1 job begin'*) [ -e $once ] || { touch $once; exec sleep 600; } ;;"
	(wait_for 20 test -e "$once"; bench restart-slurmd n1) 3>&- >/dev/null &
	run bench "$@"
}

@test "a batch job that loses its prolog with slurmd is requeued" {
	forget_prolog sbatch --wait -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	assert_success
}

@test "an srun or salloc job that does ends, and says why" {
	local client
	for client in srun salloc; do
		rm -f "$BATS_TEST_TMPDIR/once"
		forget_prolog "$client" -w n1 --pm-mode=appdirect echo ran
		assert_failure
		refute_line ran
		assert_output --partial 'pm: n1: slurmd was restarted'
		wait_for 20 no_jobs
		wait_for 20 state_is n1 idle
	done
}

# While slurmd is gone the prolog that it has left behind may not have marked the job yet.
hide_mark() {
	local once=$BATS_TEST_TMPDIR/once run
	run=$(bench_dir)/n1/run
	wait_for 20 test -e "$once"
	mv "$run/prologs" "$run/hidden"
	bench restart-slurmd n1
	mv "$run/hidden" "$run/prologs"
}

@test "nor is an interactive job kept by a prolog that slurmd has left behind, and that begins later" {
	local once=$BATS_TEST_TMPDIR/once
	pmctl_in_case "*'n1 job begin'*) [ -e $once ] || { touch $once; exec sleep 600; } ;;"
	hide_mark 3>&- >/dev/null &
	run bench salloc -w n1 --pm-mode=appdirect echo ran
	assert_failure
	refute_line ran
	assert_output --partial 'pm: n1: slurmd was restarted'
	wait_for 20 state_is n1 idle
}

@test "a prolog that lasts while slurmd looks again is waited for" {
	local once=$BATS_TEST_TMPDIR/once
	pmctl_in_case "*'n1 job begin'*) [ -e $once ] || { touch $once; sleep 25; } ;;"
	bench restart-slurmd n1
	run bench salloc -w n1 --pm-mode=appdirect echo ran
	assert_success
	assert_line ran
}

# Slurm's own slurmd would then wait for an order that it has had.
@test "a job with its prolog over on this node and running on another is requeued, and runs" {
	put_in appdirect n2
	pmctl_in_case "*'n2 job begin'*) sleep 6 ;;"
	run_client sbatch --parsable -N2 --pm-mode=appdirect --output=/dev/null --wrap=true
	job=$output
	wait_for 20 test -e "$(bench_dir)/n1/run/jobs/$job"
	bench restart-slurmd n1
	put_pmctl_back
	wait_for 60 job_is "$job" COMPLETED
	run job_field "$job" Restarts
	assert_output Restarts=1
}

# slurmctld tries an order for 10 s (MessageTimeout).
start_slurmd_when_orders_are_lost() {
	(sleep 13; bench restart-slurmd n1) 3>&- >/dev/null &
}

stop_slurmd() {
	local pid
	for pid in $(bench_pids slurmd SLURMD_NODENAME=n1); do
		kill -KILL "$pid"
	done
}

@test "an interactive job is not kept by an order that slurmd never got" {
	stop_slurmd
	start_slurmd_when_orders_are_lost
	run bench salloc -w n1 --pm-mode=appdirect echo ran
	assert_failure
	refute_line ran
	assert_output --partial 'pm: n1: slurmd was restarted'
	wait_for 20 state_is n1 idle
}

@test "a change of mode that slurmd has not heard of, and missed at its start, is made all the same" {
	local first=$BATS_TEST_TMPDIR/first second=$BATS_TEST_TMPDIR/second
	touch "$first" "$second" # slurmd's start asks twice
	pmctl_in_case "'n1 mode') ! rm $first 2>/dev/null || exit 1; ! rm $second 2>/dev/null || exit 1 ;;"
	stop_slurmd
	start_slurmd_when_orders_are_lost
	run_salloc -w n1 --pm-mode=mixed sh -c 'srun pmctl mode'
	assert_line mixed
}

# As where slurmd 24.11 takes the launch and gives way to a new slurmd. Slurm itself misses such a job at one of the node's next
# registrations, unless that is soon after the job's start.
@test "a batch job that lost its launch with slurmd is requeued, and runs" {
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null \
		--wrap='[ -n "$SLURM_RESTART_COUNT" ] || sleep 600'
	job=$output
	wait_for 20 pgrep -f "^slurmstepd: \[$job.batch\]"
	pkill -KILL -f "^slurmstepd: \[$job.batch\]"
	bench restart-slurmd n1
	wait_for 90 job_is "$job" COMPLETED
	grep -q "pm: the launch of job $job was lost here, requeuing it" "$(bench_dir)/log/slurmd.n1.log"
}

@test "a batch job that goes on under a new slurmd is left alone" {
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap='sleep 35'
	job=$output
	wait_for 20 pgrep -f "^slurmstepd: \[$job.batch\]"
	bench restart-slurmd n1
	wait_for 90 job_is "$job" COMPLETED
	run job_field "$job" Restarts
	assert_output Restarts=0
}
