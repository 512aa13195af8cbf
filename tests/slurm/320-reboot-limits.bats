#!/usr/bin/env bats
# RebootHours, RebootsPerDay, LeastNodes and MostNodes: for which jobs nodes may be rebooted, and when.
# docs/dev/reboot-limits.md has how.

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --accounting --owner $$ --build "$PM_BUILD" 3>&-
	load helper
	printf '%s\n' Licenses=pm_wait:1000000 'PartitionName=second Nodes=ALL' >>"$(bench_dir)/etc/slurm.conf"
	cp "$(bench_dir)/etc/pmem.conf" "$(bench_dir)/etc/pmem.conf.plain"
	admin sacctmgr -Q -i add account acc,other
	admin sacctmgr -Q -i add user nobody account=acc
	admin sacctmgr -Q -i add user nobody account=other
	restart_all
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	site
	put_in appdirect n1
	put_in appdirect n2
	clean_nodes
	boot1=$(boot_id n1) boot2=$(boot_id n2)
}

teardown() {
	cancel_jobs -f
	wait_for 60 no_jobs
}

# site LINE...: pmem.conf has these, and pm-controller has read it.
site() {
	{
		cat "$(bench_dir)/etc/pmem.conf.plain"
		printf '%s\n' "$@"
	} >"$(bench_dir)/etc/pmem.conf"
	"$PM_BUILD/pmctl" check-config "$(bench_dir)/etc/pmem.conf"
	bench service start # reads it now, not within a minute
}

# submit OPTION...: its number is in $job.
submit() {
	run_client sbatch --parsable --output=/dev/null "$@"
	job=$(grep -oE '^[0-9]+' <<<"$output")
}

# The service looks each 5 s, Slurm schedules within a few: a reboot would have begun.
looks_passed() {
	sleep 12
}

nothing_rebooted() {
	assert_equal "$(boot_id n1) $(boot_id n2)" "$boot1 $boot2"
}

# How many of the two nodes have been rebooted since the test began.
count_rebooted() {
	local count=0
	[ "$(boot_id n1)" = "$boot1" ] || count=$((count + 1))
	[ "$(boot_id n2)" = "$boot2" ] || count=$((count + 1))
	echo "$count"
}

explained() {
	[[ $(bench user "$PM_BUILD/pmctl" --config "$(bench_dir)/etc/pmem.conf" explain "$1" 2>&1) == *"$2"* ]]
}

@test "outside of RebootHours a job waits for a node of its mode; another one starts meanwhile; then a node reboots" {
	site "RebootHours=$(other_hours)"
	submit --pm-mode=memory --time=5 --wrap=hostname
	assert_output --partial 'others are rebooted for the job as far as RebootHours='
	waiting=$job
	submit --pm-mode=appdirect --time=5 --wrap=hostname
	wait_for 60 job_is "$job" COMPLETED
	looks_passed
	job_is "$waiting" PENDING
	nothing_rebooted
	wait_for 30 explained "$waiting" 'No node is rebooted for the job before'
	site RebootHours=00:00-24:00
	wait_for 120 job_is "$waiting" COMPLETED
}

@test "outside of RebootHours a job runs at once on a node of its mode" {
	site "RebootHours=$(other_hours)"
	submit --pm-mode=appdirect --time=5 --wrap=hostname
	wait_for 60 job_is "$job" COMPLETED
	nothing_rebooted
}

@test "a user's updates of DelayBoot and of the time limit, and hold and release, do not get around RebootHours" {
	site "RebootHours=$(other_hours)"
	submit --pm-mode=memory --time=5 --wrap=hostname
	bench user scontrol update JobId="$job" DelayBoot=0
	bench user scontrol update JobId="$job" TimeLimit=4
	bench user scontrol hold "$job"
	bench user scontrol release "$job"
	looks_passed
	job_is "$job" PENDING
	nothing_rebooted
}

@test "a job that names its node, and one of an array, wait as well" {
	site "RebootHours=$(other_hours)"
	submit --pm-mode=memory --time=5 -w n1 --wrap=hostname
	submit --pm-mode=memory --time=5 --array=1-3 --wrap=hostname
	looks_passed
	nothing_rebooted
	assert_equal "$(admin squeue -h -r -t PD | wc -l)" 4
}

@test "a job that may take one node alone has it rebooted, though another node in its mode is idle" {
	local options
	put_in memory n1
	for options in '-w n2' '-x n1' '-C pm_memory&rack2'; do
		put_in appdirect n2
		site RebootHours=00:00-24:00
		# shellcheck disable=SC2086
		submit --pm-mode=memory $options --time=5 --wrap=hostname
		wait_for 120 job_is "$job" COMPLETED
		site
	done
}

@test "a job that was queued before the hours ended has no node rebooted" {
	site RebootHours=00:00-24:00
	submit --exclusive -N2 --pm-mode=appdirect --time=5 --wrap='sleep 300'
	running=$job
	wait_for 60 job_is "$running" RUNNING
	submit --pm-mode=memory --time=5 --wrap=hostname
	site "RebootHours=$(other_hours)"
	wait_for 30 explained "$job" 'No node is rebooted for the job before'
	admin scancel "$running"
	looks_passed
	job_is "$job" PENDING
	nothing_rebooted
}

@test "RebootsPerDay: one of three jobs has a node rebooted; a line of its own has a number of its own" {
	site RebootsPerDay=1 'Account=other RebootsPerDay=1'
	forget_reboots
	submit -A acc --pm-mode=memory --time=5 --array=1-3 --wrap=hostname
	wait_for 120 tasks_are 3 COMPLETED
	assert_equal "$(count_rebooted)" 1
	submit -A acc --pm-mode=mixed --time=5 --wrap=hostname
	wait_for 30 explained "$job" 'of 1 (RebootsPerDay'
	looks_passed
	job_is "$job" PENDING
	submit -A other --pm-mode=mixed --time=5 --wrap=hostname
	wait_for 120 job_is "$job" COMPLETED
}

@test "MostNodes: no more nodes get into a mode; LeastNodes: no more leave one" {
	site MostNodes=memory:1
	submit --pm-mode=memory --time=5 --array=1-3 --wrap='sleep 5'
	wait_for 180 tasks_are 3 COMPLETED
	assert_equal "$(count_rebooted)" 1
	site LeastNodes=appdirect:1
	submit --pm-mode=mixed --time=5 -N2 --wrap=hostname
	wait_for 30 explained "$job" 'LeastNodes=appdirect:1'
	looks_passed
	job_is "$job" PENDING
}

@test "LeastNodes: a job of two partitions with the same nodes counts each node once" {
	site LeastNodes=appdirect:1
	submit -p main,second --pm-mode=mixed --time=5 -N2 --wrap=hostname
	wait_for 30 explained "$job" 'LeastNodes=appdirect:1'
	looks_passed
	job_is "$job" PENDING
	nothing_rebooted
}

@test "while pm-controller is dead nothing more is permitted" {
	site RebootHours=00:00-24:00
	bench service kill
	submit --pm-mode=memory --time=5 --wrap=hostname
	looks_passed
	job_is "$job" PENDING
	nothing_rebooted
	bench service start
	wait_for 120 job_is "$job" COMPLETED
}

@test "limits that are taken out of pmem.conf keep no job" {
	site "RebootHours=$(other_hours)"
	submit --pm-mode=memory --delay-boot=1 --time=5 --wrap=hostname
	site
	wait_for 180 job_is "$job" COMPLETED
}
