#!/usr/bin/env bats
# A job that a node turns away begins on no node: neither its tasks, nor salloc's command, nor its batch script.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
	put_in appdirect n1 n2
	let_epilogs_end
	keep_pmctl
}

teardown() {
	put_pmctl_back
	cancel_jobs
}

# n2_turns_away [SECONDS]: what pmctl says there, as late as that.
n2_turns_away() {
	pmctl_in_case "*'n2 job begin'*) sleep ${1:-0}; echo 'pmctl: another has the devices' >&2; exit 3 ;;"
}

# ends CLIENT OPTION...: with an error, the sentence, and before its command.
ends() {
	run bench "$@" sh -c 'echo ran'
	assert_failure
	refute_line ran
	assert_output --regexp 'pm: n2: another has the devices, so job [0-9]+ ends'
	wait_for 20 no_jobs
	wait_for 10 state_is n1 idle
	wait_for 10 state_is n2 idle
}

@test "salloc on a node that turns its job away gives no shell, says why and fails" {
	n2_turns_away
	ends salloc -w n2 --pm-mode=appdirect
}

@test "srun says why and fails" {
	n2_turns_away
	ends srun -w n2 --pm-mode=appdirect
}

@test "where one of two nodes turns a job away nothing of it runs on the other" {
	n2_turns_away 1
	ends srun -N2 --pm-mode=appdirect
	ends salloc -N2 --pm-mode=appdirect
}

@test "nor does another component of a heterogeneous job" {
	n2_turns_away 1
	ends srun -w n1 --pm-mode=appdirect sh -c 'echo ran' : -w n2 --pm-mode=appdirect
	ends salloc -w n1 --pm-mode=appdirect : -w n2 --pm-mode=appdirect
}

@test "an allocation without a client ends" {
	n2_turns_away
	run timeout 5 "$TOP/tests/cluster/bench" salloc --no-shell -w n2 --pm-mode=appdirect 3>&-
	wait_for 20 no_jobs
	wait_for 10 state_is n2 idle
}

# Slurm would begin a script when the prolog of its own node is over.
@test "a batch script begins when all of its nodes are ready, not before" {
	n2_turns_away 2
	run_client sbatch --parsable -N2 --pm-mode=appdirect --output="$(bench_dir)/home/script.%j" --wrap 'echo ran'
	wait_for 30 eval '[ "$(job_field "$output" Restarts)" = Restarts=1 ]'
	[ ! -e "$(bench_dir)/home/script.$output" ]
}

@test "a batch job that may not be requeued begins on no node either, or fails with the sentence" {
	n2_turns_away 1
	run_client sbatch --parsable --no-requeue -N2 --pm-mode=appdirect --output="$(bench_dir)/home/two" --wrap 'echo ran'
	wait_for 30 eval '[ "$(job_field "$output" JobState)" = JobState=CANCELLED ]'
	wait_for 20 no_jobs
	[ ! -e "$(bench_dir)/home/two" ]
	run bench sbatch --wait --no-requeue -w n2 --pm-mode=appdirect --output="$(bench_dir)/home/one" --wrap 'echo ran'
	assert_failure
	run cat "$(bench_dir)/home/one"
	refute_line ran
	assert_output --partial 'pm: another has the devices'
}

@test "two nodes, and the one without the script is in another mode: the script does not begin" {
	change_behind n2 memory
	pmctl_in_case "*'n2 job begin'*) sleep 2 ;;"
	run_client sbatch --parsable -N2 --pm-mode=appdirect --output="$(bench_dir)/home/mode.%j" --wrap 'echo ran'
	job=$output
	wait_for 30 eval '[ "$(job_field "$job" Restarts)" = Restarts=1 ]'
	[ ! -e "$(bench_dir)/home/mode.$job" ]
	assert_drained n2 'pm: prolog: '
	bench scancel "$job"
	change_behind n2 appdirect
}

# After a failed prolog of a job that is over slurmd 22.05 would say so each 15 s, which drains the node again.
@test "a node that is resumed after a fault stays in service" {
	pmctl_in_case "*'n2 job begin'*) echo 'pmctl: make a file system: broken' >&2; exit 1 ;;"
	run bench srun -w n2 --pm-mode=appdirect true
	assert_failure
	assert_drained n2 'pm: prolog: '
	put_pmctl_back
	resume n2
	sleep 20
	state_is n2 idle
}

@test "a job that a node with a fault has sent elsewhere is not started anew there" {
	pmctl_in_case "*'n2 job begin'*) echo 'pmctl: make a file system: broken' >&2; exit 1 ;;"
	admin scontrol update nodename=n1 state=drain reason=test
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null --wrap='sleep 20'
	job=$output
	wait_for 20 eval '[[ $(node_field n2 %T) == drain* ]]'
	put_pmctl_back
	admin scontrol update nodename=n1 state=resume
	wait_for 60 job_is "$job" COMPLETED
	run job_field "$job" Restarts
	assert_output Restarts=1
	resume n2
}

# For slurmctld a prolog that fails is over as well: it would begin the job on its other nodes.
@test "where one of two nodes has a fault nothing runs on the other" {
	local client
	pmctl_in_case "*'n2 job begin'*) sleep 1; echo 'pmctl: make a file system: broken' >&2; exit 1 ;;"
	for client in srun salloc; do
		run bench "$client" -N2 --pm-mode=appdirect sh -c 'echo ran'
		assert_failure
		refute_line ran
		assert_output --regexp 'pm: n2: make a file system: broken, so job [0-9]+ ends'
		assert_drained n2 'pm: prolog: '
		wait_for 20 no_jobs
		resume n1 n2
	done
}
