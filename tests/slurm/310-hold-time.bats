#!/usr/bin/env bats
# HoldTime: jobs wait for nodes of their mode in place of a reboot, by the licence pm_wait. docs/dev/leases.md has how.

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --accounting --owner $$ --build "$PM_BUILD" 3>&-
	load helper
	printf '%s\n' Licenses=pm_wait:1000000,matlab:5 >>"$(bench_dir)/etc/slurm.conf"
	printf '%s\n' HoldTime=60 'QOS=urgent HoldTime=0' 'QOS=slow AllowNow=no' >>"$(bench_dir)/etc/pmem.conf"
	admin sacctmgr -Q -i add account acc
	admin sacctmgr -Q -i add qos urgent,slow
	admin sacctmgr -Q -i add user nobody account=acc
	admin sacctmgr -Q -i modify user nobody set qos=normal,urgent,slow
	restart_all
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	clean_nodes
	wait_for 60 lease_is_in_force
}

teardown() {
	cancel_jobs -f
	wait_for 60 no_jobs
	restore_site
}

lease_is_in_force() {
	[[ $(admin scontrol show reservation pm_wait 2>/dev/null) == *'Licenses=pm_wait:1000000'* ]]
}

# submit OPTION...: its number is in $job.
submit() {
	run_client sbatch --parsable --output=/dev/null "$@"
	job=$(grep -oE '^[0-9]+' <<<"$output")
}

# n1 runs a job in mode memory, n2 is idle in mode appdirect.
occupy() {
	put_in memory n1
	put_in appdirect n2
	reboots_cost_ten_minutes
	clean_nodes
	submit -w n1 --pm-mode=memory --time=10 --wrap='sleep 500'
	occupant=$job
	wait_for 60 job_is "$occupant" RUNNING
	boot=$(boot_id n2)
}

waits() {
	[ "$(job_field "$1" Reason)" = Reason=Licenses ]
}

is_free() {
	[[ $(job_field "$1" Licenses) != *pm_wait* ]]
}

# The node that the job ran on.
node_of() {
	admin scontrol show job "$1" | sed -n 's/^ *NodeList=//p'
}

was_held() {
	[[ $(job_field "$1" AdminComment) =~ pm_hold=60,[0-9]+ ]]
}

@test "a job waits for the node of its mode, and runs there; the idle node is not rebooted" {
	occupy
	submit --pm-mode=memory --time=5 -L matlab:1 --wrap='hostname'
	wait_for 60 waits "$job"
	wait_for 60 was_held "$job"
	admin scancel "$occupant"
	wait_for 60 job_is "$job" COMPLETED
	assert_equal "$(node_of "$job")" n1
	assert_equal "$(boot_id n2)" "$boot"
	assert_equal "$(job_field "$job" Licenses)" Licenses=matlab:1
}

@test "a job that has waited for HoldTime has a node rebooted" {
	occupy
	submit --pm-mode=memory --time=5 --wrap='hostname'
	wait_for 60 was_held "$job"
	admin scontrol update JobId="$job" AdminComment="pm_hold=60,$(($(date +%s) - 3600))"
	wait_for 120 job_is "$job" COMPLETED
	assert_equal "$(node_of "$job")" n2
	refute [ "$(boot_id n2)" = "$boot" ]
}

@test "--pm-now and a QOS without HoldTime wait for nothing; where AllowNow=no, --pm-now is refused" {
	occupy
	submit --pm-mode=memory --pm-now --time=5 --wrap='hostname'
	is_free "$job"
	wait_for 120 job_is "$job" COMPLETED
	assert_equal "$(node_of "$job")" n2
	put_in appdirect n2
	submit --pm-mode=memory --qos=urgent --time=5 --wrap='hostname'
	is_free "$job"
	[[ $(job_field "$job" AdminComment) != *pm_hold* ]]
	wait_for 120 job_is "$job" COMPLETED
	run_client sbatch 1 --pm-mode=memory --pm-now --qos=slow --wrap=true
	assert_output --partial 'pm: --pm-now is not allowed here'
}

@test "an array's tasks run one after the other on the node of their mode" {
	put_in memory n1
	put_in appdirect n2
	reboots_cost_ten_minutes
	clean_nodes
	boot=$(boot_id n2)
	submit --pm-mode=memory --time=5 --array=0,1 --wrap='sleep 1'
	wait_for 180 eval '[ -z "$(bench squeue -h -j "$job" 2>/dev/null)" ]'
	[ "$(admin scontrol show job "$job" | grep -c JobState=COMPLETED)" = 2 ]
	[ "$(admin scontrol show job "$job" | grep -c '^ *NodeList=n1')" = 2 ]
	assert_equal "$(boot_id n2)" "$boot"
}

@test "pm-controller dies: its lease runs out, and Slurm serves the job as without HoldTime" {
	occupy
	submit --pm-mode=memory --time=5 --wrap='hostname'
	wait_for 60 was_held "$job"
	bench service kill
	wait_for 240 job_is "$job" COMPLETED
	assert_equal "$(node_of "$job")" n2
	bench service start
}

@test "jobs that name nodes, wait for others or for a time, are parts of one, or need it at once are never held" {
	local options
	occupy
	for options in '-w n2' '-d afterok:1' '--begin=now+1hour'; do
		# shellcheck disable=SC2086
		submit --pm-mode=memory $options --time=5 --wrap=true
		is_free "$job"
		admin scancel "$job"
	done
	submit --pm-mode=memory --time=5 : --pm-mode=memory --time=5 --wrap=true
	[[ $(admin scontrol show job "$job" | grep -c pm_wait) = 0 ]]
	admin scancel "$job"
	wait_for 60 state_is n2 idle # it may have begun to reboot for the first of them
	# srun tells slurmctld of no seconds: --immediate=60 is held like others.
	run_client srun --immediate --pm-mode=memory --time=5 hostname
}

@test "updates of a job by its user leave its note, and the job waits on" {
	occupy
	submit --pm-mode=memory --time=5 --wrap=true
	wait_for 60 was_held "$job"
	run bench user scontrol update JobId="$job" TimeLimit=4
	assert_success
	run bench user scontrol update JobId="$job" QOS=urgent
	assert_success
	was_held "$job"
	wait_for 60 waits "$job"
}

@test "a job without a mode that asks for the licence is let go" {
	submit -L pm_wait:1 --time=5 --wrap=true
	wait_for 60 job_is "$job" COMPLETED
}

@test "pmctl explain tells a job that waits why, until when, and how to skip it" {
	occupy
	submit --pm-mode=memory --time=5 --wrap=true
	wait_for 60 was_held "$job"
	run bench user "$PM_BUILD/pmctl" --config "$(bench_dir)/etc/pmem.conf" explain "$job"
	assert_output --partial 'waits for nodes in mode memory'
	assert_output --partial '--pm-now'
}

@test "HoldTime is taken out of pmem.conf: jobs that wait start" {
	occupy
	submit --pm-mode=memory --time=5 --wrap=hostname
	wait_for 60 was_held "$job"
	with_site HoldTime=0
	wait_for 180 job_is "$job" COMPLETED
	assert_equal "$(node_of "$job")" n2
	is_free "$job"
	restore_site
	bench service start # reads pmem.conf now, not within a minute
}

@test "the licence is gone from slurm.conf: pm-controller takes it off the jobs" {
	occupy
	submit --pm-mode=memory --time=5 --wrap=hostname
	wait_for 60 was_held "$job"
	cp "$(bench_dir)/etc/slurm.conf" "$BATS_TEST_TMPDIR/slurm.conf"
	sed -i 's/^Licenses=.*/Licenses=matlab:5/' "$(bench_dir)/etc/slurm.conf"
	admin scontrol reconfigure
	wait_for 180 is_free "$job"
	cp "$BATS_TEST_TMPDIR/slurm.conf" "$(bench_dir)/etc/slurm.conf"
	admin scontrol reconfigure
	wait_for 120 job_is "$job" COMPLETED
}
