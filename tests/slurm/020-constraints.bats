#!/usr/bin/env bats
# The controller's side: constraints beside the mode, and what is refused there.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
	keep_lua
}

teardown() {
	restore_lua
}

# use_state LINE: of the file that the controller service writes.
use_state() {
	printf 'slurm-pmem-modes 1 %s\n%s\n' "$(date +%s)" "$1" >"$BATS_TEST_TMPDIR/modes"
	chmod 755 "$BATS_TEST_TMPDIR"
	sed "s|^pm.config_file = .*|&\npm.state_file = \"$BATS_TEST_TMPDIR/modes\"|" \
		"$BATS_TEST_TMPDIR/site.lua" >"$BATS_TEST_TMPDIR/state.lua"
	put_lua "$BATS_TEST_TMPDIR/state.lua"
}

@test "--pm-mode becomes a feature, and the job takes whole nodes" {
	submit_held --pm-mode=memory
	run job_field "$output" '\(Features\|OverSubscribe\)'
	assert_line Features=pm_memory
	assert_line OverSubscribe=NO
}

@test "a plain constraint on a mode takes whole nodes too" {
	submit_held -C pm_memory
	run job_field "$output" '\(Features\|OverSubscribe\)'
	assert_line Features=pm_memory
	assert_line OverSubscribe=NO
}

@test "a job without a mode is left as it is" {
	submit_held
	run job_field "$output" '\(Features\|OverSubscribe\)'
	assert_line 'Features=(null)'
	assert_line OverSubscribe=OK
}

@test "the mode is added to the user's own constraint" {
	run_srun -C rack2 --pm-mode=memory sh -c 'echo $SLURMD_NODENAME; pmctl mode'
	assert_line n2
	assert_line memory
}

@test "the same feature written beside the option is not added twice" {
	submit_held -C 'rack1&pm_memory' --pm-mode=memory
	run job_field "$output" Features
	assert_output 'Features=rack1&pm_memory'
}

@test "a constraint on another mode than the option's is refused" {
	run_srun 1 -C pm_appdirect --pm-mode=memory true
	assert_output --partial \
		'pm: --pm-mode=memory contradicts --constraint=pm_appdirect, leave one of them out'
	assert_nothing_queued
}

@test "a constraint that this Slurm cannot combine with a mode is refused" {
	local constraint='[rack1|rack2]'
	! is_slurm 22.05 || constraint='(rack1|rack2)'
	run_srun 1 -C "$constraint" --pm-mode=memory true
	assert_output --partial "pm: --pm-mode=memory cannot be combined with --constraint=$constraint"
	assert_nothing_queued
}

@test "from 23.02 on a mode is combined with '|', once the site says its version" {
	! is_slurm 22.05 || skip 'needs Slurm 23.02'
	run_srun -w n1 -C 'rack1|rack2' --pm-mode=memory pmctl mode
	assert_output memory
}

@test "an unknown feature that looks like a mode is refused" {
	run_srun 1 -C pm_bogus true
	assert_output --partial \
		"pm: --constraint: unknown feature 'pm_bogus', valid features are pm_memory, pm_appdirect, pm_mixed"
	assert_nothing_queued
}

@test "what the client lets through the controller still checks" {
	run bench user env SLURM_SPANK__SLURM_SPANK_OPTION_pmem_pm_mode=bogus srun true
	assert_failure
	assert_output --partial "unknown mode 'bogus'"
	assert_nothing_queued
}

@test "a job may be moved to another mode, not to a feature that does not exist" {
	submit_held -C pm_memory
	local job=$output
	run bench user scontrol update jobid="$job" features=pm_appdirect
	assert_success
	run job_field "$job" Features
	assert_output Features=pm_appdirect
	run bench user scontrol update jobid="$job" features=pm_bogus
	assert_failure
	run job_field "$job" Features
	assert_output Features=pm_appdirect
}

@test "a job that was submitted without a mode cannot get one later" {
	submit_held
	local job=$output
	run bench user scontrol update jobid="$job" features=pm_memory
	assert_failure
	run job_field "$job" Features
	assert_output 'Features=(null)'
	run bench user scontrol update jobid="$job" name=other
	assert_success
}

@test "names as only slurm.conf takes them: a hyphen, c++" {
	run_srun -C rack-2 --pm-mode=memory sh -c 'echo $SLURMD_NODENAME; pmctl mode'
	assert_line n2
	assert_line memory
	submit_held -C 'c++,rack-2' --pm-mode=memory
	run job_field "$output" Features
	assert_output 'Features=c++&rack-2&pm_memory'
}

# refused_at 'CHARACTER' SENTENCE OPTION...: the sentence says which and where, and nothing is queued.
refused_at() {
	local sentence=$1
	shift
	run_srun 1 "$@" true
	assert_output --partial "$sentence"
	assert_nothing_queued
}

@test "a constraint that cannot be read is refused, with which character it is and where" {
	refused_at "pm: cannot read --constraint=pm_memory&&rack1: a feature expected at character 11, not '&'" \
		-C 'pm_memory&&rack1'
	refused_at "a feature expected at character 1, not '!'" -C '!pm_memory'
	refused_at "'&' or '|' expected at character 6, not ' '" -C 'rack1 &pm_memory'
	refused_at "a feature expected at character 1, not '\"'" -C '"rack1"' --pm-mode=memory
	refused_at "'(' and ')' around the alternatives expected at character 16, not '&'" \
		-C 'pm_memory|rack1&pm_appdirect'
	refused_at "beside a mode Slurm refuses '*' (character 10)" -C 'pm_memory*2'
	refused_at "pm_memory|rack1 leaves open whether the job has a mode" -C 'pm_memory|rack1'
	refused_at "pm_memory&pm_appdirect asks for several modes at once" -C 'pm_memory&pm_appdirect'
}

@test "either of two modes: one is taken, and no idle node is rebooted for nothing" {
	local boot
	put_in appdirect n1 n2
	boot=$(boot_id n1)$(boot_id n2)
	use_state "main pm_memory=0 pm_appdirect=2 pm_mixed=0"
	run_srun -C '(pm_memory|pm_appdirect)&rack1' sh -c 'echo $SLURMD_NODENAME; pmctl mode'
	assert_line n1
	assert_line appdirect
	[ "$boot" = "$(boot_id n1)$(boot_id n2)" ]
	submit_held -C 'rack1&(pm_memory|pm_appdirect)'
	run job_field "$output" Features
	assert_output 'Features=rack1&pm_appdirect'
}

@test "either of two modes, and nobody knows what is idle: the site's first" {
	use_state ''
	rm "$BATS_TEST_TMPDIR/modes"
	submit_held -C 'pm_appdirect|pm_memory'
	run job_field "$output" Features
	assert_output Features=pm_memory
}

@test "a preference for another mode than the job's is refused" {
	put_in memory n2
	refused_at "pm: --prefer=pm_memory prefers another mode than the job's, which is appdirect: leave it out, or write --constraint='pm_appdirect|pm_memory' for either" \
		-C pm_appdirect --prefer=pm_memory
	refused_at 'which is memory: leave it out' --pm-mode=memory --prefer='rack2&pm_appdirect'
	refused_at "cannot read --prefer=pm_memory&: a feature expected at character 11, not the end" \
		--prefer='pm_memory&'
}

@test "a preference for a mode by a job that has none is refused" {
	refused_at 'pm: --prefer=pm_memory: a node would be rebooted for what the job can do without' --prefer=pm_memory
	run_srun --prefer=rack2 sh -c 'echo $SLURMD_NODENAME'
	assert_output n2
}

@test "a preference that names no mode does not take the job's away" {
	put_in memory n2
	run_srun -C pm_appdirect --prefer=rack2 sh -c 'echo $SLURMD_NODENAME; pmctl mode'
	assert_line n2
	assert_line appdirect
}

# update JOB FIELD=VALUE...: then it is let go, and what its one line says is in $output.
update_and_run() {
	local job=$1
	shift
	bench user scontrol update jobid="$job" "$@"
	bench user scontrol release "$job"
	wait_for 60 grep -q . "$(bench_dir)/home/$job.out"
	run cat "$(bench_dir)/home/$job.out"
}

submit_mode_job() {
	run_client sbatch --parsable --hold --output="$(bench_dir)/home/%j.out" "$@" --wrap='pmctl mode'
}

@test "a new constraint replaces the preference for the old mode" {
	put_in memory n2
	submit_mode_job -C pm_memory --prefer=rack2
	update_and_run "$output" features=pm_appdirect
	assert_output appdirect
}

@test "a new preference does not take the job's mode away" {
	put_in memory n2
	submit_mode_job -C pm_appdirect
	local job=$output
	run bench user scontrol update jobid="$job" prefer=pm_memory
	assert_failure
	update_and_run "$job" prefer=rack2
	assert_output appdirect
}

@test "a new constraint without a mode does not take the job's away" {
	put_in memory n2
	submit_mode_job --pm-mode=appdirect
	update_and_run "$output" features=rack2
	assert_output appdirect
	submit_mode_job -C 'rack2&pm_memory'
	update_and_run "$output" features=
	assert_output memory
}

@test "a preference that is cleared leaves the job its mode" {
	put_in memory n2
	submit_mode_job -C pm_appdirect --prefer=rack2
	update_and_run "$output" prefer=
	assert_output appdirect
}

@test "one description changes all parts of a job: none gets the mode of another" {
	submit_held --array=1-2 -C pm_memory
	local job=$output
	run bench user scontrol update jobid="$job" features=rack1
	assert_failure
	submit_held -C pm_memory --wrap=true : -C pm_appdirect
	run bench user scontrol update jobid="$output" features=rack1
	assert_failure
	run admin squeue -h -o %f
	assert_output "$(printf '%s\n' pm_appdirect pm_memory pm_memory)"
	run bench user scontrol update jobid="$job" features='rack1&pm_memory'
	assert_success
	run job_field "$job" Features
	assert_output --partial 'Features=rack1&pm_memory'
}

# nothing_runs OPTION...: in no way of starting a task; pmem.lua is not called. $output is what srun said.
nothing_runs() {
	local out said
	out=$(mktemp -u "$(bench_dir)/home/ran.XXXXXX")
	run bench srun "$@" -w n1 touch "$out.srun"
	said=$output
	bench sbatch --wait "$@" -w n1 --output=/dev/null --wrap="touch $out.batch; srun touch $out.step" || true
	bench salloc "$@" -w n1 srun touch "$out.salloc" || true
	wait_for 20 no_jobs
	run compgen -G "$out.*"
	assert_output ''
	wait_for 20 state_is n1 idle
	run ls "$(bench_dir)/n1/run/jobs"
	assert_output ''
	# shellcheck disable=SC2034 # as after run
	output=$said
}

@test "a job of which constraint and option differ runs nowhere, and the node stays" {
	put_in appdirect n1
	without_lua
	nothing_runs --pm-mode=memory -C pm_appdirect
	assert_output --partial "job was submitted with --pm-mode=memory, but its constraint 'pm_appdirect' asks for another mode: submit it again"
	nothing_runs --pm-mode=memory -C rack1
	assert_output --partial 'job asks for mode memory, but its constraint does not: this node is in mode appdirect'
}

@test "a job of which PM_MODE never became a constraint runs nowhere, and the node stays" {
	put_in appdirect n1
	without_lua
	export PM_MODE=memory
	nothing_runs
	assert_output --partial 'job asks for mode memory, but its constraint does not: this node is in mode appdirect'
	nothing_runs -C rack1
	assert_output --partial 'this node is in mode appdirect, the task does not run'
}
