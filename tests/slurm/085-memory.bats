#!/usr/bin/env bats
# Nodes that jobs share, where Slurm hands out memory: it knows that of the largest mode, the node that of its own.
# Each has 1984 MiB in App Direct, 7936 MiB in Memory Mode.
# shellcheck disable=SC2016 # expanded in the job

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --owner $$ --build "$PM_BUILD" --consume-memory \
		--hardware 'CPUs=4 RealMemory=7900' 3>&-
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	clean_nodes
	put_in appdirect n1
	with_site Exclusive=no
}

teardown() {
	cancel_jobs
	restore_site
	wait_for 20 no_jobs
}

# A batch job on n1 with so much memory; its number in $job.
submit() {
	run_client sbatch --parsable -n1 -w n1 --output="$(bench_dir)/home/memory.%j" --open-mode=append --mem="$1" "${@:2}"
	job=$output
}

runs() {
	[ "$(job_field "$1" JobState)" = JobState=RUNNING ]
}

is_over() {
	[ "$(job_field "$1" JobState)" = JobState=COMPLETED ]
}

was_turned_away() {
	[[ $(job_field "$1" Restarts) = Restarts=[1-9]* ]]
}

# What was said to be the reason, and that it is not the node's fault.
assert_said() {
	run grep -F "$1" "$(bench_dir)/log/slurmd.n1.log"
	assert_success
	run node_field n1 %E
	assert_output none
}

@test "of two jobs that Memory Mode could hold, an App Direct node takes the first, then the second" {
	submit 1200 --pm-mode=appdirect --wrap 'sleep 300'
	local first=$job
	wait_for 20 runs "$first"
	submit 1200 --pm-mode=appdirect --wrap 'pmctl mode'
	wait_for 20 was_turned_away "$job"
	assert_said "job $job needs 1200 MiB of memory; the node has 1984 MiB in mode appdirect, and other jobs hold 1200 MiB"
	runs "$first"
	admin scancel "$first"
	wait_for 60 is_over "$job"
	run cat "$(bench_dir)/home/memory.$job"
	assert_line appdirect
}

@test "two that fit share the node" {
	submit 900 --pm-mode=appdirect --wrap 'sleep 300'
	wait_for 20 runs "$job"
	run_srun -n1 -w n1 --mem=900 --pm-mode=appdirect pmctl mode
	assert_line appdirect
}

@test "a job by itself that is larger than the mode is turned away" {
	submit 3000 --pm-mode=appdirect --wrap 'true'
	wait_for 20 was_turned_away "$job"
	assert_said "job $job has 3000 MiB of memory here, the node has 1984 MiB in mode appdirect; ask for less with --mem"
	admin scancel "$job"
	run bench srun -n1 -w n1 --mem-per-cpu=1000 -c 3 --pm-mode=appdirect echo ran
	assert_failure
	refute_line ran
	assert_output --partial 'has 3000 MiB of memory here'
}

@test "all memory is that of the mode" {
	run_srun -n1 -w n1 --mem=0 --pm-mode=appdirect pmctl mode
	assert_line appdirect
	run_srun -n1 -w n1 --pm-mode=appdirect pmctl mode
	assert_line appdirect
}

@test "jobs without a mode count" {
	submit 1200 --wrap 'sleep 300'
	local first=$job
	wait_for 20 runs "$first"
	submit 1200 --pm-mode=appdirect --wrap true
	wait_for 20 was_turned_away "$job"
	assert_said 'jobs hold 2400 MiB of memory of this node, which has 1984 MiB in mode appdirect'
	admin scancel "$first"
	wait_for 60 is_over "$job"
}

@test "of jobs that start at once one runs after the other, and none waits for ever" {
	local jobs=() lock
	lock=$(bench_dir)/home/lock
	for _ in 1 2 3; do
		submit 1200 --pm-mode=appdirect --hold --wrap "mkdir $lock || echo overlap; sleep 1; rmdir $lock"
		jobs+=("$job")
	done
	admin scontrol release "${jobs[@]}"
	for job in "${jobs[@]}"; do
		wait_for 120 is_over "$job"
		run cat "$(bench_dir)/home/memory.$job"
		refute_output --partial overlap
	done
}
