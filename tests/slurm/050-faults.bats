#!/usr/bin/env bats
# A node that is not in the job's mode: no task of the job runs there, the node drains with the
# shellcheck disable=SC2016 # the single quotes are for the shell in the job
# reason, a batch job runs elsewhere. A user's mistake drains nothing.

setup() {
	load helper
	clean_nodes
	put_in appdirect n1 n2
}

teardown() {
	[ ! -e "$BATS_TEST_TMPDIR/conf" ] || cp "$BATS_TEST_TMPDIR/conf" "$(bench_dir)/etc/pmem.conf"
	bench inject n1 none
	bench restart-slurmd n1
}

# A batch job for memory mode that starts on n1: n2 is kept for later.
submit_for_n1() {
	admin scontrol update nodename=n2 state=drain reason=test
	run_client sbatch --parsable --output="$(bench_dir)/home/fault.%j" "$@" --wrap \
		'echo "$SLURMD_NODENAME $(pmctl mode) $SLURM_RESTART_COUNT"'
	job=$output
}

job_state_is() {
	[[ $(admin scontrol -o show job "$job" | grep -o 'JobState=[A-Z]*') = "JobState=$1" ]]
}

is_drained() {
	[[ $(node_field "$1" %T) == drain* ]]
}

# The job comes to its end on n2, once requeued.
finish_on_n2() {
	wait_for 40 is_drained n1
	run admin scontrol -o show job "$job"
	refute_output --partial 'JobHeldAdmin'
	refute_output --partial 'Priority=0 '
	admin scontrol update nodename=n2 state=resume
	wait_for 60 job_state_is COMPLETED
	run cat "$(bench_dir)/home/fault.$job"
	assert_output "n2 $1 1"
}

with_config() {
	local conf=$1
	shift
	cp "$conf" "$BATS_TEST_TMPDIR/conf"
	printf '%s\n' "$@" >>"$conf"
}

has_active() {
	[[ ,$(node_field "$1" %b), == *,$2,* ]]
}

starts_of() {
	grep -c 'slurmd started' "$(bench_dir)/log/slurmd.$1.log"
}

started_after() {
	[ "$(starts_of "$1")" -gt "$2" ]
}

@test "a node in the wrong mode behind Slurm's back is found by the prolog" {
	change_behind n1 memory
	submit_for_n1 --pm-mode=appdirect
	finish_on_n2 appdirect
	assert_drained n1 'pm: prolog: '
	assert_drained n1 appdirect
	assert_drained n1 memory
}

@test "the same with srun, which ends with an error" {
	change_behind n1 memory
	run bench srun -w n1 -C pm_appdirect echo ran
	assert_failure
	refute_line ran
	assert_drained n1 'pm: prolog: '
}

@test "the firmware rejects the goal: the job runs elsewhere, the node drains with our reason" {
	bench inject n1 goal-rejected
	submit_for_n1 --pm-mode=memory
	finish_on_n2 memory
	assert_drained n1 'pm: '
}

@test "the firmware ignores the goal: the job runs elsewhere, the node drains with our reason" {
	bench inject n1 goal-ignored
	submit_for_n1 --pm-mode=memory
	finish_on_n2 memory
	assert_drained n1 'pm: '
}

@test "pmctl is missing on the node: jobs that ask for a mode go elsewhere, others run" {
	local conf
	conf=$(bench_dir)/etc/pmem.conf
	with_config "$conf" PmctlPath=/nonexistent/pmctl
	run_srun -w n1 true
	run bench srun -w n1 -C pm_appdirect echo ran
	cp "$BATS_TEST_TMPDIR/conf" "$conf"
	assert_failure
	assert_drained n1 '/nonexistent/pmctl'
}

@test "an odd or unmapped mode in the job's environment drains nothing" {
	# As without pmem.lua: the job asks by option, and no constraint says so.
	cp "$(bench_dir)/etc/job_submit.lua" "$BATS_TEST_TMPDIR/lua"
	cat >"$BATS_TEST_TMPDIR/none.lua" <<-END
		function slurm_job_submit() return slurm.SUCCESS end
		function slurm_job_modify() return slurm.SUCCESS end
		return slurm.SUCCESS
	END
	put_lua "$BATS_TEST_TMPDIR/none.lua"
	run bench srun -w n1 --pm-mode=memory echo ran
	local first=$output status_1=$status
	run bench user env SLURM_SPANK__SLURM_SPANK_OPTION_pmem_pm_mode= srun -w n1 echo ran
	put_lua "$BATS_TEST_TMPDIR/lua"
	[ "$status_1" -ne 0 ]
	[[ $first == *'this node is in mode appdirect, the task does not run'* ]]
	[[ $first != *ran* ]]
	wait_for 10 state_is n1 idle
	run grep 'is pmem.lua called by job_submit.lua' "$(bench_dir)/log/slurmd.n1.log"
	assert_success
}

@test "slurmd starts although the plugin's configuration is broken" {
	local conf before
	conf=$(bench_dir)/etc/pmem.conf
	before=$(starts_of n1)
	with_config "$conf" 'Mode=memory'
	bench restart-slurmd n1
	wait_for 10 started_after n1 "$before"
	cp "$BATS_TEST_TMPDIR/conf" "$conf"
	run grep -c 'error: pm: .*Mode.*not checking this node' "$(bench_dir)/log/slurmd.n1.log"
	assert_output 1
	run_srun -w n1 true
}

# The plugin gives a command of Slurm's ten seconds, and pmctl three, twice.
@test "slurmd starts in bounded time although neither pmctl nor the controller answers" {
	local conf before
	conf=$(bench_dir)/etc/pmem.conf
	before=$(starts_of n1)
	with_config "$conf" "PmctlPath=$(program unfit 'echo node is unfit >&2; exit 1')" \
		"ScontrolPath=$(program silent 'sleep 60')"
	bench restart-slurmd n1
	wait_for 20 started_after n1 "$before"
	cp "$BATS_TEST_TMPDIR/conf" "$conf"
	with_config "$conf" "PmctlPath=$(program silent 'sleep 60')"
	bench restart-slurmd n1
	wait_for 15 started_after n1 $((before + 1))
	cp "$BATS_TEST_TMPDIR/conf" "$conf"
}

@test "a node that pmctl declares unfit is drained when its slurmd starts" {
	local conf
	conf=$(bench_dir)/etc/pmem.conf
	with_config "$conf" "PmctlPath=$(program unfit 'echo "pmctl: health: node is unfit" >&2; exit 1')"
	bench restart-slurmd n1
	wait_for 10 is_drained n1
	cp "$BATS_TEST_TMPDIR/conf" "$conf"
	assert_drained n1 'pm: health: node is unfit'
}

@test "a node that failed to change tells the controller what it is in" {
	local conf log=$BATS_TEST_TMPDIR/scontrol.log
	conf=$(bench_dir)/etc/pmem.conf
	with_config "$conf" \
		"ScontrolPath=$(program scontrol "echo \"\$*\" >>$log; exec $(bench_dir)/bin/scontrol \"\$@\"")" \
		"PmctlPath=$(program pmctl "[ \$1 != health ] && exec $(bench_dir)/bin/pmctl \"\$@\"; echo unfit >&2; exit 1")"
	change_behind n1 memory
	bench restart-slurmd n1
	wait_for 10 is_drained n1
	cp "$BATS_TEST_TMPDIR/conf" "$conf"
	run cat "$log"
	assert_line 'update nodename=n1 state=drain reason=pm: unfit activefeatures=rack1,pm_memory'
}

@test "a mode that was changed by hand is known once slurmd starts, and serves" {
	change_behind n1 memory
	bench restart-slurmd n1
	wait_for 10 has_active n1 rack1
	wait_for 10 has_active n1 pm_memory
	wait_for 10 state_is n1 idle
	run node_field n1 %b
	refute_output --partial pm_appdirect
	local before
	before=$(boot_id n1)
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	assert_equal "$(boot_id n1)" "$before"
}
