#!/usr/bin/env bats
# slurmd 22.05 may start a requeued job without a prolog. What is left of that is made here: pmctl does nothing for the
# job, and the mark of its prolog is missing.

setup() {
	load helper
	clean_nodes
	put_in appdirect n1
	let_epilogs_end
	keep_pmctl
	MARKS=$(bench_dir)/n1/run/prologs
}

teardown() {
	put_pmctl_back
	cancel_jobs
}

skip_prolog_once() {
	local once=$BATS_TEST_TMPDIR/once
	rm -f "$once"
	pmctl_in_case "*'n1 job begin'*) [ -e $once ] || { touch $once; rm -r $MARKS; exit; } ;;"
}

# runs_of JOB: how often it has begun.
runs_of() {
	run job_field "$1" Restarts
	assert_output "Restarts=$2"
}

@test "a job in a mode that slurmd starts without its prolog is requeued before its script runs" {
	local wish out
	out=$(bench_dir)/home/skipped.out
	for wish in --pm-mode=appdirect --constraint=pm_appdirect; do
		skip_prolog_once
		run_client sbatch --parsable --wait -w n1 "$wish" --output="$out" --open-mode=append \
			--wrap='echo "ran in ${PM_MODE-no mode}"'
		runs_of "$output" 1
	done
	run grep ran "$out"
	assert_output $'ran in appdirect\nran in appdirect'
	assert grep -q 'slurmd has started job .* without its prolog' "$out"
	state_is n1 idle
}

@test "an interactive job ends then, with the sentence" {
	skip_prolog_once
	run bench srun -w n1 --constraint=pm_appdirect echo ran
	assert_failure
	refute_line ran
	assert_output --partial 'without its prolog'
	wait_for 20 state_is n1 idle
}

# start_waiting OPTION...: a job on n1 that runs a step when a file is there, and ends when it is gone again.
start_waiting() {
	go=$(bench_dir)/home/go
	out=$(bench_dir)/home/waiting.out
	rm -f "$go" "$out"
	run_client sbatch --parsable -w n1 "$@" --output="$out" --open-mode=append --wrap="while [ ! -e $go ]; do sleep 0.1; done
		srun sh -c 'echo \"place: \${PM_DIR-none}\"' && while [ -e $go ]; do sleep 0.1; done"
	job=$output
	wait_for 20 test -e "$MARKS/$job"
}

@test "a job without a mode runs without its mark, and Slurm is asked for it once" {
	start_waiting
	rm -r "$MARKS"
	touch "$go"
	wait_for 20 test -e "$MARKS/$job"
	wait_for 40 grep -q place: "$out"
	rm "$go"
	wait_for 20 job_is "$job" COMPLETED
}

# As if the earlier run's epilog had not run, either.
leave_view_of_earlier_run() {
	mkdir -p "$MARKS/../jobs"
	printf '%s\n' PM_JOB="$job" PM_UID=65534 PM_BOOT="$(boot_id n1)" PM_MODE=appdirect \
		PM_DIR0=/of/an/earlier/run PM_DIR0_SOCKET=0 >"$MARKS/../jobs/$job"
}

@test "nor does a job without a mode take for its own what an earlier run was given" {
	start_waiting
	leave_view_of_earlier_run
	rm -r "$MARKS"
	touch "$go"
	wait_for 40 eval '[ "$(job_field "$job" Restarts)" = Restarts=1 ]'
	wait_for 40 grep -q place: "$out"
	rm "$go"
	wait_for 20 job_is "$job" COMPLETED
	run grep place: "$out"
	assert_output 'place: none'
}

# No step behind it: slurmd 24.11 that was killed takes the job for unprepared, and refuses it.
@test "the mark of a job's prolog stays when slurmd is started anew, and goes with the job" {
	start_waiting --pm-mode=appdirect
	bench restart-slurmd n1
	[ -e "$MARKS/$job" ]
	bench scancel "$job"
	wait_for 20 no_jobs
	let_epilogs_end
	[ ! -e "$MARKS/$job" ]
}
