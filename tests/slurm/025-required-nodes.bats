#!/usr/bin/env bats
# Jobs that name their nodes, while these complete or run a job in another mode: they wait as any job does, and get what they
# named. How lists are read and which jobs are rewritten: tests/lua/test_nodes.lua.
# shellcheck disable=SC2154 # output and status are set by run

setup() {
	load helper
	clean_nodes
	put_in appdirect n1 n2
}

teardown() {
	local partition
	cancel_jobs
	wait_for 20 no_jobs
	for partition in other third; do # a node of two is listed twice
		admin scontrol delete partition=$partition >/dev/null 2>&1 || true
	done
	clean_nodes
}

FIELDS='\(ReqNodeList\|ExcNodeList\|NumNodes\)'
# shellcheck disable=SC2016 # expanded in the job
WHERE='echo "$SLURMD_NODENAME $SLURM_JOB_NODELIST $(pmctl mode)"'

# occupy SECONDS NODES: a job in another mode that runs there.
occupy() {
	run_client sbatch --parsable -w "$2" --pm-mode=appdirect --output=/dev/null --wrap="sleep $1"
	occupant=$output
	wait_for 20 job_runs "$occupant"
}

was_looked_at() { [ "$(job_field "$1" Reason)" != Reason=None ]; }
job_runs() { [ "$(job_field "$1" JobState)" = JobState=RUNNING ]; }
job_ended() { [ "$(job_field "$1" JobState)" = JobState=COMPLETED ]; }
completing() { [[ $(bench sinfo -hN -n "$1" -o %T) == *completing* ]]; }

# leave_completing NODE: by a job in another mode that was cancelled, and ends only when it is killed.
leave_completing() {
	run_client sbatch --parsable -w "$1" --pm-mode=appdirect --output=/dev/null \
		--wrap="trap '' TERM; while :; do sleep 0.1; done"
	wait_for 20 job_runs "$output"
	sleep 0.5 # the shell must have set its trap
	admin scancel "$output"
	wait_for 5 completing "$1"
}

@test "srun and salloc on a node that is allocated in another mode wait for it" {
	occupy 3 n1
	run_srun -w n1 --pm-mode=memory sh -c "$WHERE"
	assert_line 'n1 n1 memory'
	occupy 3 n1
	run_salloc -w n1 -N1 --pm-mode=mixed srun sh -c "$WHERE"
	assert_line 'n1 n1 mixed'
}

@test "sbatch on a node that is allocated in another mode waits for it, and is not held" {
	local job
	occupy 60 n1
	run_client sbatch --parsable -w n1 -n2 --pm-mode=memory --output=/dev/null --wrap=true
	job=$output
	wait_for 20 was_looked_at "$job"
	assert_equal "$(job_field "$job" Reason)" Reason=Resources
	admin scancel "$occupant"
	wait_for 40 job_ended "$job"
	assert_equal "$(job_field "$job" ' NodeList')" ' NodeList=n1'
}

@test "a node that completes a job in another mode is waited for by srun, salloc and sbatch" {
	local mode=memory
	for client in srun salloc; do
		leave_completing n2
		run bench "$client" -w n2 --pm-mode=$mode true
		assert_success
		put_in appdirect n2
		mode=mixed
	done
	leave_completing n2
	run_sbatch -w n2 --pm-mode=memory <<-EOF
		#!/bin/sh
		$WHERE
	EOF
	assert_output 'n2 n2 memory'
}

@test "several named nodes, one of them allocated, are all got" {
	occupy 3 n2
	run_srun -w n1,n2 --pm-mode=memory sh -c "$WHERE"
	assert_line 'n1 n[1-2] memory'
	assert_line 'n2 n[1-2] memory'
}

@test "each task of an array waits for the named node" {
	local job task
	occupy 60 n1
	run_client sbatch --parsable --array=0-1 -w n1 --pm-mode=memory --output=/dev/null --wrap=true
	job=$output
	wait_for 20 was_looked_at "$job"
	assert_equal "$(job_field "$job" Reason)" Reason=Resources
	admin scancel "$occupant"
	for task in 0 1; do
		wait_for 40 job_ended "${job}_$task"
		assert_equal "$(job_field "${job}_$task" ' NodeList')" ' NodeList=n1'
	done
}

@test "a heterogeneous job gets the nodes that its parts name" {
	run_srun -w n2 --pm-mode=memory sh -c "$WHERE" : -w n1 --pm-mode=appdirect sh -c "$WHERE"
	assert_line 'n2 n[1-2] memory'
	assert_line 'n1 n[1-2] appdirect'
}

@test "what names only some of the job's nodes, and jobs without a mode, are left as they are" {
	local request
	for request in '-w n1 -N2 --pm-mode=memory' '-w n1 -N1-2 --pm-mode=memory' '-w n1 -n4 --pm-mode=memory' '-w n1'; do
		# shellcheck disable=SC2086 # several words
		submit_held $request
		assert_equal "$(job_field "$output" ReqNodeList)" ReqNodeList=n1
		assert_equal "$(job_field "$output" ExcNodeList)" 'ExcNodeList=(null)'
	done
}

@test "an unknown node, one of no partition of the job's, and one that is excluded as well are refused by Slurm" {
	admin scontrol create partition=other nodes=n2 state=up
	local request
	for request in '-w n9' '-w n1 -p other' '-w n1 -x n1'; do
		# shellcheck disable=SC2086 # several words
		run bench sbatch $request --pm-mode=memory --wrap=true
		assert_failure
	done
}

@test "other nodes come for a queued job by its owner's update" {
	submit_held -w n1 --pm-mode=memory
	local job=$output
	run job_field "$job" "$FIELDS"
	assert_line 'ReqNodeList=(null)'
	assert_line ExcNodeList=n2
	assert_line NumNodes=1-1
	run ! bench user scontrol update jobid="$job" reqnodelist=n1,n2 # n2 would stay excluded
	bench user scontrol update jobid="$job" reqnodelist=n1,n2 excnodelist=
	run job_field "$job" "$FIELDS"
	assert_line 'ReqNodeList=(null)'
	assert_line 'ExcNodeList=(null)'
	assert_line NumNodes=2-2
	bench user scontrol update jobid="$job" reqnodelist=n2
	run job_field "$job" "$FIELDS"
	assert_line 'ReqNodeList=(null)'
	assert_line ExcNodeList=n1
	bench user scontrol release "$job"
	wait_for 40 job_ended "$job"
	assert_equal "$(job_field "$job" ' NodeList')" ' NodeList=n2'
}

@test "a list that an update takes away or makes a part of the job's nodes is what Slurm holds then" {
	submit_held -w n1 -x n2 --pm-mode=memory
	local job=$output
	bench user scontrol update jobid="$job" reqnodelist= excnodelist=
	run job_field "$job" "$FIELDS"
	assert_line 'ReqNodeList=(null)'
	assert_line 'ExcNodeList=(null)'
	submit_held -w n1 --pm-mode=memory
	job=$output
	bench user scontrol update jobid="$job" reqnodelist=n2 numnodes=2 excnodelist=
	run job_field "$job" "$FIELDS"
	assert_line ReqNodeList=n2
	assert_line 'ExcNodeList=(null)'
	assert_line NumNodes=2-2
}

# moves_to PARTITION JOB: by an update. Slurm 24.11 without accounting looks in vain for the job's association, and ends the
# update with the errno of an earlier call of that thread, often EAGAIN (job_mgr.c of 24.11.5, _retrieve_new_assoc).
moves_to() {
	run bench user scontrol update jobid="$2" partition="$1"
	[ "$status" -eq 0 ] || assert_output "Resource temporarily unavailable for job $2"
	return "$status"
}

@test "an update that would lose the named nodes is refused" {
	local change
	admin scontrol create partition=other nodes=n2 state=up
	admin scontrol create partition=third nodes=n1 state=up
	submit_held -w n1 --pm-mode=memory
	local job=$output
	for change in excnodelist=n1 excnodelist= numnodes=2 partition=other; do
		run ! bench user scontrol update jobid="$job" $change
	done
	bench user scontrol update jobid="$job" numnodes=1
	wait_for 20 moves_to third "$job"
	run job_field "$job" "$FIELDS"
	assert_line ExcNodeList=n2
	assert_line NumNodes=1-1
}
