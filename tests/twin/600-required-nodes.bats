#!/usr/bin/env bats
# Jobs that name their nodes while these run, or complete, a job in another mode: they wait, and get what they named.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

setup() {
	load helpers
	load jobs
}

teardown_file() {
	load helpers
	pmtwin exec head -- scancel -u user1
}

# shellcheck disable=SC2016 # expanded in the job
HERE='echo "$SLURMD_NODENAME $SLURM_JOB_NODELIST $(pmctl mode)"'

job_field() { pmtwin exec head -- scontrol -o show job "$1" | grep -o " $2=[^ ]*"; }
job_is() { [[ $(job_field "$1" JobState) == " JobState=$2" ]]; }
was_looked_at() { [[ $(job_field "$1" Reason) != ' Reason=None' ]]; }

# occupy NODE: a job in App Direct that ends only when it is killed, KillWait after it was cancelled. Its number is in $occupant.
occupy() {
	run_user 0 sbatch --parsable -w "$1" --pm-mode=appdirect --output=/dev/null \
		--wrap="trap '' TERM; while :; do sleep 1; done"
	occupant=$output
	wait_for 300 job_is "$occupant" RUNNING
}

@test "a batch job is not held behind one in another mode that runs, and srun waits for one that completes" {
	local job
	occupy n1
	run_user 0 sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap=true
	job=$output
	wait_for 90 was_looked_at "$job"
	assert_equal "$(job_field "$job" Reason)" ' Reason=Resources'
	on_head scancel "$occupant"
	run_user 0 srun -w n1 --pm-mode=memory sh -c "$HERE"
	assert_output 'n1 n1 memory'
	wait_for 60 job_is "$job" COMPLETED
	assert_equal "$(job_field "$job" NodeList)" ' NodeList=n1'
}

@test "two named nodes, one of them completing a job in another mode, are both got" {
	occupy n1
	on_head scancel "$occupant"
	run_user 0 salloc -w n1,n2 --pm-mode=memory srun sh -c "$HERE"
	assert_line 'n1 n[1-2] memory'
	assert_line 'n2 n[1-2] memory'
}
