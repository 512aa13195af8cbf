#!/usr/bin/env bats
# The extern step (PrologFlags=Contain), which pam_slurm_adopt puts a user's logins into: it runs nothing of the
# user's, begins right behind the prolog, and takes no part in the job's mode. Slurm says that adopting wants proctrack/cgroup;
# the step itself does not, and the bench has none.
# shellcheck disable=SC2016 # the single quotes are for the shell in the programs

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --owner $$ --build "$PM_BUILD" 3>&-
	load helper
	sed -i 's/^PrologFlags=.*/PrologFlags=Alloc,DeferBatch,Contain/' "$(bench_dir)/etc/slurm-pmem.conf"
	admin scontrol reconfigure
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	clean_nodes
	put_in appdirect n1
	real=$(bench_dir)/bin
}

teardown() {
	cancel_jobs
	restore_site
	wait_for 20 no_jobs
}

# begin_with LINES: once the job's view is written; $view is its name.
begin_with() {
	with_site "PmctlPath=$(program pmctl "[ \"\$2\" = begin ] || exec $real/pmctl \"\$@\"
$real/pmctl \"\$@\" || exit
asked=\$*
job=\${asked#*--job=}
view=$(bench_dir)/n1/run/jobs/\${job%% *}
cp \"\$view\" '$BATS_TEST_TMPDIR/good'
$1")"
}

# On the node: the controller lists the step in any case.
has_extern() {
	admin scontrol listpids "$job" n1 | grep -Eq "^[0-9]+ +$job +extern "
}

# A job on n1 of which only the extern step runs; in $job.
allocate() {
	run_client salloc --no-shell -w n1 "$@"
	[[ $output =~ allocation\ ([0-9]+) ]] || fail "$output"
	job=${BASH_REMATCH[1]}
	wait_for 20 has_extern
}

# With such a view the extern step and the job are there and the node serves; with the good one a task runs in the
# job's mode, and with the bad one it does not. Nothing is left of the job.
is_of_no_account() {
	local job
	begin_with "$1"
	allocate --pm-mode=appdirect
	run bench srun --jobid="$job" --overlap echo ran
	refute_line ran
	has_extern
	rm -rf "$(bench_dir)/n1/run/jobs/${job:?}"
	cp "$BATS_TEST_TMPDIR/good" "$(bench_dir)/n1/run/jobs/$job"
	run_srun --jobid="$job" --overlap sh -c 'echo "$PM_MODE"'
	assert_line appdirect
	bench scancel "$job"
	wait_for 20 state_is n1 idle
	run node_field n1 %E
	assert_output none
	run ls "$(bench_dir)/n1/run/jobs"
	refute_output --partial "$job"
}

@test "a job with an extern step changes the node's mode, and its tasks have their places" {
	local job
	allocate --pm-mode=memory
	run_srun --jobid="$job" sh -c 'echo "$PM_MODE"; pmctl mode'
	assert_line --index 0 memory
	assert_line --index 1 memory
	bench scancel "$job"
	wait_for 20 state_is n1 idle
}

@test "an extern step without a view drains no node and ends no job" {
	is_of_no_account 'rm "$view"'
}

@test "nor does one with another job's view" {
	is_of_no_account 'sed -i "s/^PM_JOB=.*/PM_JOB=1/" "$view"'
}

@test "nor one with a view of the user's" {
	is_of_no_account 'chown nobody "$view"; echo PM_MODE=memory >>"$view"'
}

@test "nor one with a view that is not one" {
	is_of_no_account 'rm "$view"; mkdir "$view"'
}

@test "nor one with a view without end" {
	is_of_no_account 'yes PM_JOB=1 | head -c 1000000 >"$view"'
}

@test "an extern step does not drain its node if pmem.conf is broken there by then" {
	local job conf
	conf=$(bench_dir)/etc/pmem.conf
	begin_with "echo Nonsense >>'$conf'"
	allocate -C pm_appdirect
	restore_site
	bench scancel "$job"
	wait_for 20 state_is n1 idle
}
