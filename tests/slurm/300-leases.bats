#!/usr/bin/env bats
# What Slurm does with a pending job that has a StartTime of a short time ahead (a lease): docs/dev/leases.md. No program of
# ours sets one here, and no node changes its mode.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --accounting --owner $$ --build "$PM_BUILD" 3>&-
	load helper
	printf '%s\n' PriorityType=priority/multifactor PriorityWeightAge=100000 PriorityMaxAge=00:10:00 PriorityCalcPeriod=00:01:00 \
		Licenses=pm_wait:1000000 \
		>>"$(bench_dir)/etc/slurm.conf"
	admin sacctmgr -Q -i add account acc
	admin sacctmgr -Q -i add user nobody account=acc
	restart_all
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	clean_nodes
}

teardown() {
	cancel_jobs -f
	wait_for 30 no_jobs
	admin scontrol delete ReservationName=pm_wait >/dev/null 2>&1 || true
	restore_lua
	if [ -e "$BATS_TEST_TMPDIR/slurm.conf" ]; then
		replace "$BATS_TEST_TMPDIR/slurm.conf" "$(bench_dir)/etc/slurm.conf"
		bench restart-slurmctld
		wait_for 60 nodes_have_modes
	fi
	resume n1 n2
}

# submit OPTION...: its number is in $job.
submit() {
	run_client sbatch --parsable --output=/dev/null "$@"
	job=${lines[-1]}
}

# lease JOB UNTIL: as the service's user.
lease() {
	admin scontrol update JobId="$1" StartTime="$2"
}

is_eligible() {
	[ "$(job_field "$1" Reason)" != Reason=BeginTime ]
}

waits_for_its_time() {
	[ "$(job_field "$1" Reason)" = Reason=BeginTime ]
}

# All CPUs of the nodes, n1 and n2 unless named.
fill() {
	local node nodes=("$@")
	[ $# -gt 0 ] || nodes=(n1 n2)
	for node in "${nodes[@]}"; do
		submit --exclusive -w "$node" --wrap='sleep 600'
		wait_for 30 job_is "$job" RUNNING
	done
}

# records JOB: how many slurmctld has of an array.
records() {
	admin scontrol -o show job "$1" | grep -c JobId=
}

# task_field ARRAY TASK NAME
task_field() {
	admin scontrol -o show job "$1" | grep "ArrayTaskId=$2 " | grep -o "$3=[^ ]*"
}

first_tasks_run() {
	[ "$(bench squeue -h -j "$1" -t running -o %K | sort | paste -sd,)" = 0,1 ]
}

@test "a leased job waits beside idle nodes, and starts when its lease is dropped" {
	submit --begin=now+1hour --wrap=true
	wait_for 30 waits_for_its_time "$job"
	lease "$job" now
	wait_for 30 job_is "$job" COMPLETED
}

@test "a lease runs out by itself: nobody asks Slurm for anything, and the job starts" {
	submit --begin=now+1hour --wrap=true
	lease "$job" now+5
	wait_for 30 waits_for_its_time "$job"
	wait_for 90 job_is "$job" COMPLETED
}

@test "job_submit.lua sets the first lease: the job is in the queue before any pass of the scheduler can start it" {
	keep_lua
	printf '%s\n' 'function slurm_job_submit(job) job.begin_time = os.time() + 3600 return slurm.SUCCESS end' \
		'function slurm_job_modify() return slurm.SUCCESS end' 'return slurm.SUCCESS' >"$BATS_TEST_TMPDIR/lease.lua"
	put_lua "$BATS_TEST_TMPDIR/lease.lua"
	submit --wrap=true
	wait_for 30 waits_for_its_time "$job"
	lease "$job" now
	wait_for 30 job_is "$job" COMPLETED
}

@test "sacct has the end of the last lease as Eligible: the wait before it is not in Planned" {
	local submitted eligible
	fill
	submit --wrap=true
	wait_for 30 eval '[[ $(job_field "$job" Reason) =~ Resources|Priority ]]'
	submitted=$(job_field "$job" SubmitTime)
	sleep 2
	lease "$job" now+1
	cancel_jobs -t running
	wait_for 60 job_is "$job" COMPLETED
	wait_for 30 eval '[ -n "$(bench sacct -hXj "$job" -s CD -o Eligible)" ]'
	eligible=$(bench sacct -hXj "$job" -o Eligible | tr -d ' ')
	[[ $eligible > ${submitted#*=} ]]
}

# lease_once_counted LINE...: with these lines in slurm.conf, a job has been eligible and is leased then; its AccrueTime is
# in $before and $during.
lease_once_counted() {
	cp "$(bench_dir)/etc/slurm.conf" "$BATS_TEST_TMPDIR/slurm.conf"
	printf '%s\n' "$@" >>"$(bench_dir)/etc/slurm.conf"
	bench restart-slurmctld
	wait_for 60 nodes_have_modes
	fill
	submit --wrap=true
	wait_for 60 eval '[[ $(job_field "$job" AccrueTime) = AccrueTime=2* ]]'
	before=$(job_field "$job" AccrueTime)
	lease "$job" now+3600
	wait_for 30 waits_for_its_time "$job"
	during=$(job_field "$job" AccrueTime)
}

@test "without enforced limits a leased job keeps the time that its age counts from" {
	lease_once_counted PriorityFlags=SMALL_RELATIVE_TO_TIME
	assert_equal "$during" "$before"
}

@test "with enforced limits a leased job loses that time, and with ACCRUE_ALWAYS it does not" {
	lease_once_counted AccountingStorageEnforce=limits
	assert_equal "$during" AccrueTime=Unknown
	cancel_jobs
	wait_for 30 no_jobs
	replace "$BATS_TEST_TMPDIR/slurm.conf" "$(bench_dir)/etc/slurm.conf"
	lease_once_counted AccountingStorageEnforce=limits PriorityFlags=ACCRUE_ALWAYS
	assert_equal "$during" "$before"
}

@test "without ACCRUE_ALWAYS sprio leaves a leased job out, and it comes back with all its age" {
	local waiting
	fill
	submit --wrap=true
	waiting=$job
	wait_for 60 eval '[[ $(job_field "$waiting" AccrueTime) = AccrueTime=2* ]]'
	lease "$waiting" now+3600
	run admin sprio -h -j "$waiting" -o %i
	assert_output 'Unable to find jobs matching user/id(s) specified'
	lease "$waiting" now
	wait_for 30 eval '[ "$(admin sprio -h -j "$waiting" -o %i | tr -d " ")" = "$waiting" ]'
}

@test "a job of lower priority takes the nodes that Slurm had reserved for a leased one" {
	local high low
	fill n1
	submit -N2 --exclusive -t 5 --wrap=true
	high=$job
	admin scontrol update JobId="$high" Priority=900000
	wait_for 30 eval '[ "$(job_field "$high" Reason)" = Reason=Resources ]'
	submit -N1 --exclusive -t 60 --wrap='sleep 600'
	low=$job
	lease "$high" now+3600
	wait_for 60 job_is "$low" RUNNING
	job_is "$high" PENDING
}

@test "squeue --start tells a leased job's end of the lease, with the reason BeginTime" {
	fill
	submit -t 5 --wrap=true
	lease "$job" now+3600
	wait_for 30 waits_for_its_time "$job"
	wait_for 30 eval '[ "$(bench squeue -h --start -j "$job" -o %S)" = "$(job_field "$job" EligibleTime | cut -d= -f2)" ]'
}

@test "a lease overwrites a user's --begin, and a user's StartTime a lease" {
	local own
	submit --begin=now+2hours --wrap=true
	own=$(job_field "$job" EligibleTime)
	lease "$job" now+3600
	[ "$(job_field "$job" EligibleTime)" != "$own" ]
	run -0 bench user scontrol update JobId="$job" StartTime=now+2hours
	[[ $(job_field "$job" EligibleTime) > $own || $(job_field "$job" EligibleTime) = "$own" ]]
	run -0 bench user scontrol update JobId="$job" StartTime=now
	wait_for 30 job_is "$job" COMPLETED
}

@test "a lease does not release a hold" {
	submit --hold --wrap=true
	lease "$job" now
	sleep 3
	assert_equal "$(job_field "$job" Reason) $(job_field "$job" Priority)" 'Reason=JobHeldUser Priority=0'
}

@test "an array's lease by its pending tasks keeps one record of them; by some of them it makes one of each" {
	fill
	submit --array=0-9 --wrap=true
	lease "${job}_[0-9]" now+3600
	assert_equal "$(records "$job")" 1
	lease "${job}_[0-2]" now+3600
	assert_equal "$(records "$job")" 4
	lease "${job}_[0-9]" now+3600
	assert_equal "$(records "$job")" 4
}

@test "an array's bare number names its started tasks, too: they go on, and the update ends with an error" {
	local began
	fill n2
	submit --array=0-3 --wrap='sleep 600'
	wait_for 30 first_tasks_run "$job"
	began=$(task_field "$job" 1 StartTime)
	run -1 lease "$job" now+3600
	assert_output --partial 'no longer pending'
	assert_equal "$(task_field "$job" 1 StartTime)" "$began"
	wait_for 30 eval '[ "$(task_field "$job" 2-3 Reason)" = Reason=BeginTime ]'
}

@test "a job that is requeued has a begin time of Slurm's own" {
	submit --requeue --wrap='sleep 600'
	wait_for 30 job_is "$job" RUNNING
	admin scontrol requeue "$job"
	wait_for 30 job_is "$job" PENDING
	wait_for 30 waits_for_its_time "$job"
}

@test "a lease on a job with an open dependency is accepted, and the job waits for both" {
	local first second
	fill
	submit --wrap=true
	first=$job
	submit -d afterok:"$first" --wrap=true
	second=$job
	lease "$second" now+2
	sleep 4
	wait_for 30 eval '[ "$(job_field "$second" Reason)" = Reason=Dependency ]'
	lease "$first" now+3600
	cancel_jobs -t running
	wait_for 30 waits_for_its_time "$first"
	assert_equal "$(job_field "$second" Reason)" Reason=Dependency
	lease "$first" now
	wait_for 60 job_is "$second" COMPLETED
}

@test "a lease on a heterogeneous job's leader is on all components, one on a component on that alone" {
	local other
	fill
	printf '#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n1\ntrue\n' >"$(bench_dir)/home/het"
	submit "$(bench_dir)/home/het"
	other=$((job + 1))
	lease "$job" now+3600
	job_field "$other" EligibleTime
	assert_equal "$(admin scontrol -o show job "$job" | grep -o 'EligibleTime=[^ ]*' | uniq | wc -l)" 1
	lease "$job+1" now+1800
	assert_equal "$(admin scontrol -o show job "$job" | grep -o 'EligibleTime=[^ ]*' | uniq | wc -l)" 2
}

@test "a lease beyond a job's deadline is accepted: Slurm does not refuse what ends the job" {
	fill
	submit -t 1 --deadline=now+3minutes --wrap=true
	run -0 lease "$job" now+10minutes
	[[ $(job_field "$job" EligibleTime | cut -d= -f2) > $(job_field "$job" Deadline | cut -d= -f2) ]]
}

@test "a leased job whose reservation ends is held by Slurm" {
	admin scontrol create reservation ReservationName=short StartTime=now Duration=1 Users=nobody Nodes=n1
	submit --reservation=short --begin=now+1hour -t 1 --wrap=true
	lease "$job" now+3600
	wait_for 120 job_is "$job" RESV_DEL_HOLD
}

@test "the time of the first hold in AdminComment survives slurmctld, and a user does not change it" {
	fill
	submit --wrap=true
	admin scontrol update JobId="$job" StartTime=now+3600 AdminComment=held=1795469186
	run bench user scontrol update JobId="$job" AdminComment=other
	assert_output --partial 'permission denied'
	bench restart-slurmctld
	assert_equal "$(job_field "$job" AdminComment)" AdminComment=held=1795469186
	wait_for 30 waits_for_its_time "$job"
}

# dbd_starts: how many records of jobs slurmdbd has been sent.
dbd_starts() {
	admin sacctmgr show stats | sed -n 's/^.*DBD_JOB_START .*count:\([0-9]*\).*/\1/p'
}

grown_by() {
	[ $(($(dbd_starts) - $1)) -ge "$2" ]
}

@test "each update of a lease sends slurmdbd one record and calls slurm_job_modify; the same time again sends none" {
	local begin end log
	keep_lua
	printf '%s\n' 'function slurm_job_submit() return slurm.SUCCESS end' \
		'function slurm_job_modify() slurm.log_info("a lease is modified") return slurm.SUCCESS end' 'return slurm.SUCCESS' \
		>"$BATS_TEST_TMPDIR/counted.lua"
	put_lua "$BATS_TEST_TMPDIR/counted.lua"
	fill
	submit --wrap=true
	wait_for 30 eval '[[ $(job_field "$job" Reason) =~ Resources|Priority ]]'
	sleep 3
	begin=$(dbd_starts)
	log=$(bench_dir)/log/slurmctld.log
	for end in 3600 3601 3602; do
		lease "$job" "now+$end"
	done
	wait_for 30 grown_by "$begin" 3
	end=$(job_field "$job" EligibleTime)
	lease "$job" "${end#*=}"
	grep -q "new begin time identical to old begin time JobId=$job" "$log"
	sleep 3
	assert_equal "$(($(dbd_starts) - begin))" 3
	assert_equal "$(grep -c 'a lease is modified' "$log")" 4
}

# hold_licences SECONDS: nobody's job gets the licence for so long.
hold_licences() {
	admin scontrol create reservation ReservationName=pm_wait StartTime=now EndTime="now+$1" Users=root \
		Licenses=pm_wait:1000000 Flags=LICENSE_ONLY NodeCnt=0
}

waits_for_licence() {
	[ "$(job_field "$1" Reason)" = Reason=Licenses ]
}

@test "a reservation of a licence holds the jobs that ask for it, and their times and ages stay as they are" {
	local eligible
	hold_licences 3600
	submit -L pm_wait:1 --wrap=true
	wait_for 30 waits_for_licence "$job"
	eligible=$(job_field "$job" EligibleTime)
	assert_equal "${eligible#*=}" "$(job_field "$job" SubmitTime | cut -d= -f2)"
	wait_for 60 eval '[[ $(job_field "$job" AccrueTime) = AccrueTime=2* ]]'
	admin scontrol update ReservationName=pm_wait EndTime=now+7200
	admin scontrol update JobId="$job" Licenses=
	wait_for 30 job_is "$job" COMPLETED
	assert_equal "$(job_field "$job" EligibleTime)" "$eligible"
}

@test "a reservation of a licence runs out by itself, and the jobs start: as many as there are, at once" {
	hold_licences 5
	submit -L pm_wait:1 --array=0-3 --wrap=true
	wait_for 30 waits_for_licence "$job"
	wait_for 120 eval '[ -z "$(bench squeue -h -j "$job" 2>/dev/null)" ]'
	[ "$(admin scontrol show job "$job" | grep -c JobState=COMPLETED)" = 4 ]
}

@test "a pending job is given the licence beside its own, an array keeps one record, and a later job overtakes" {
	local array
	hold_licences 3600
	fill
	submit --array=0-9 --wrap=true
	array=$job
	admin scontrol update JobId="${array}_[0-9]" Licenses=pm_wait:1
	assert_equal "$(records "$array")" 1
	cancel_jobs -t running
	wait_for 30 waits_for_licence "$array"
	submit --nice=1000 --wrap=true
	wait_for 60 job_is "$job" COMPLETED
	waits_for_licence "$array"
}
