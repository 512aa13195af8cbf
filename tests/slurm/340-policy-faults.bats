#!/usr/bin/env bats
# HoldTime and limits of reboots while something fails: slurmctld, pm-controller, its files, pmem.conf, the clock. Nothing is
# lost, no job waits longer than its bound, no limit is passed. docs/dev/reboot-limits.md and leases.md have how.

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --owner $$ --build "$PM_BUILD" --nodes 4 3>&-
	load helper
	printf '%s\n' Licenses=pm_wait:1000000 'PartitionName=pair Nodes=n1,n2' 'PartitionName=hours Nodes=n1,n2' \
		'PartitionName=day Nodes=ALL' >>"$(bench_dir)/etc/slurm.conf"
	sed -i '/^ClusterName=/a MinJobAge=7200' "$(bench_dir)/etc/slurm.conf"
	cp "$(bench_dir)/etc/pmem.conf" "$(bench_dir)/etc/pmem.conf.plain"
	# Nodes and login nodes have a file of their own: it is the controller's that gets an error here.
	sed -i 's/config=[^ ]*/&.plain/' "$(bench_dir)/etc/plugstack.conf.d/pmem.conf"
	restart_all
	bench restart-slurmd n3
	bench restart-slurmd n4
	wait_for 60 all_have_modes
}

all_have_modes() { [ "$(admin sinfo -hN -p main -o %f | grep -c pm_memory)" = 4 ]; }

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	dir=$(bench_dir)
	conf=$dir/etc/pmem.conf
	log=$dir/log/pm-controller.out
	site HoldTime=0
	forget_reboots
	put_in appdirect n1 n2 n3 n4
	clean_nodes
}

teardown() {
	kill "$(cat "$BATS_TEST_TMPDIR/pid" 2>/dev/null)" 2>/dev/null || true
	[ ! -e "$BATS_TEST_TMPDIR/faked" ] || kill "$(bench_pids pm-controller)" || true
	in_bench umount "$dir/kept" 2>/dev/null || true
	rm -f "$dir"/n?/boot_s
	cancel_jobs -f
	site HoldTime=0
	wait_for 60 no_jobs
}

# in_bench COMMAND...: among the bench's mounts, which the host does not see.
in_bench() {
	nsenter --target "$(bench_pids munged | head -n 1)" --mount --root "$@"
}

# put_site LINE...: pmem.conf has these, whether or not they are good.
put_site() {
	{
		cat "$conf.plain"
		printf '%s\n' "$@"
	} >"$BATS_TEST_TMPDIR/pmem.conf"
	replace "$BATS_TEST_TMPDIR/pmem.conf" "$conf"
}

# site LINE...: and pm-controller has read it.
site() {
	put_site "$@"
	"$PM_BUILD/pmctl" check-config "$conf"
	bench service start
}

# submit OPTION...: its number is in $job.
submit() {
	run_client sbatch --parsable --output=/dev/null "$@"
	job=$(grep -oE '^[0-9]+' <<<"$output")
}

# n1 in mode memory runs a job, n2 is idle in mode appdirect.
occupy() {
	put_in memory n1
	reboots_cost_ten_minutes
	clean_nodes
	wait_for 60 lease_is_in_force
	submit -w n1 --pm-mode=memory --time=10 --wrap='sleep 500'
	occupant=$job
	wait_for 60 job_is "$occupant" RUNNING
	note_boots
}

boots() { boot_id n1 && boot_id n2 && boot_id n3 && boot_id n4; }
note_boots() { boots >"$BATS_TEST_TMPDIR/boots"; }
count_rebooted() { diff <(boots) "$BATS_TEST_TMPDIR/boots" | grep -c '^<' || true; }

# The service looks each 5 s, Slurm schedules within a few: a reboot would have begun.
looks_passed() { sleep 12; }

lease_is_in_force() {
	[[ $(admin scontrol show reservation pm_wait 2>/dev/null) == *'Licenses=pm_wait:1000000'* ]] &&
		grep -q '^slurm-pmem-leases 1 ' "$dir/run/controller/leases"
}

is_leased() { [ "$(job_field "$1" Reason)" = Reason=Licenses ] && [[ $(job_field "$1" Licenses) = *pm_wait* ]]; }
was_held() { [[ $(job_field "$1" AdminComment) =~ pm_hold=[0-9]+,[0-9]+ ]]; }

# Nine years of DelayBoot: it waits for a permit.
awaits_permit() { [[ $(job_field "$1" DelayBoot) =~ =328[5-9]- ]]; }
has_permit() { ! awaits_permit "$1"; }

node_of() { admin scontrol show job "$1" | sed -n 's/^ *NodeList=//p'; }

explained() {
	[[ $(bench user "$PM_BUILD/pmctl" --config "$conf" explain "$1" 2>&1) == *"$2"* ]]
}

# since MARK: the lines of the service's log behind those that mark_log has counted.
mark_log() { logged=$(wc -l <"$log"); }
new_log() { tail -n "+$((logged + 1))" "$log"; }
is_logged() { new_log | grep -q "$1"; }

parses() { python3 -c 'import json, sys; [json.load(open(name)) for name in sys.argv[1:]]' "$@"; }

@test "slurmctld dies and comes back: a held job and one that awaits its permit wait on, and get their nodes" {
	site HoldTime=60 "PartitionName=hours HoldTime=0 RebootHours=$(other_hours)"
	occupy
	submit -p pair --pm-mode=memory --time=5 --wrap=hostname
	local held=$job awaiting
	submit -p hours --pm-mode=mixed --time=5 --wrap=hostname
	awaiting=$job
	wait_for 60 was_held "$held"
	wait_for 60 awaits_permit "$awaiting"
	sleep 10 # slurmctld writes its jobs to the disk some seconds later
	kill -KILL "$(bench_pids slurmctld)"
	sleep 2
	bench restart-slurmctld
	wait_for 60 all_have_modes
	wait_for 60 is_leased "$held"
	looks_passed
	is_leased "$held"
	awaits_permit "$awaiting"
	job_is "$awaiting" PENDING
	assert_equal "$(count_rebooted)" 0
	admin scancel "$occupant"
	wait_for 120 job_is "$held" COMPLETED
	assert_equal "$(node_of "$held")" n1
	site HoldTime=60 'PartitionName=hours HoldTime=0 RebootHours=00:00-24:00'
	wait_for 120 job_is "$awaiting" COMPLETED
}

@test "pmem.conf gets an error: hours that begin and end, and HoldTime, hold for queued jobs as before; the log has the line" {
	local held awaiting late begin
	begin=$(date -d '3 minutes' +%H:%M)
	site HoldTime=2 "PartitionName=hours HoldTime=0 RebootHours=$begin-$(date -d '3 hours' +%H:%M)" \
		"PartitionName=day HoldTime=0 RebootHours=$(date -d '1 hour ago' +%H:%M)-$begin"
	occupy
	submit -p pair --pm-mode=memory --time=5 --wrap=hostname
	held=$job
	submit -p hours --pm-mode=mixed --time=5 --wrap=hostname
	awaiting=$job
	submit -p day --pm-mode=memory --time=5 -w n3 --begin="$begin" --wrap=hostname
	late=$job
	wait_for 60 was_held "$held"
	wait_for 60 explained "$awaiting" 'No node is rebooted for the job before'
	mark_log
	put_site HoldTime=2 RebootHours=never
	run_client sbatch 1 --pm-mode=memory --wrap=true
	assert_output --regexp "pm: .*/pmem.conf:[0-9]+: RebootHours='never'"
	run_srun true
	wait_for 90 is_logged "/pmem.conf:[0-9]*: RebootHours='never'.*; what it had before stays in force for queued jobs"
	[ "$(date +%H:%M)" = "$begin" ] || awaits_permit "$awaiting"
	wait_for 240 job_is "$held" COMPLETED
	refute [ "$(node_of "$held")" = n1 ]
	wait_for 240 job_is "$awaiting" COMPLETED
	awaits_permit "$late"
	job_is "$late" PENDING
	mark_log
	put_site HoldTime=0
	wait_for 90 is_logged "pmem.conf' can be read again"
	wait_for 90 job_is "$late" COMPLETED
}

# A reboot of the day is used up; $late is a job that would need another.
use_up_day() {
	site 'PartitionName=day RebootsPerDay=1'
	note_boots
	submit -p day --pm-mode=memory --time=5 --wrap=hostname
	wait_for 120 job_is "$job" COMPLETED
	assert_equal "$(count_rebooted)" 1
	submit -p day --pm-mode=mixed --time=5 --wrap=hostname
	late=$job
	wait_for 60 explained "$late" 'of 1 (RebootsPerDay'
}

# tear FILE: cut it at a random length, and now and then write garbage behind that.
tear() {
	[ -e "$1" ] || return 0
	truncate -s $((RANDOM % ($(stat -c %s "$1") + 1))) "$1"
	[ $((RANDOM % 3)) != 0 ] || head -c $((RANDOM % 200)) /dev/urandom >>"$1"
}

tear_all() {
	local file
	for file in "$dir"/kept/{reboots,turned-away}.json "$dir"/run/controller/{modes,leases,groups}; do
		tear "$file"
	done
}

# The number is still used up, all files are whole, and jobs of all modes are taken.
is_as_before() {
	wait_for 60 explained "$late" 'of 1 (RebootsPerDay'
	job_is "$late" PENDING
	run_client sbatch --parsable -p day --pm-mode=appdirect --time=5 --output=/dev/null --wrap=true
	wait_for 60 job_is "$output" COMPLETED
	assert_equal "$(count_rebooted)" 1
	nodes_are_in_service
}

@test "state files are torn while pm-controller is dead, 20 times: the day's number is used up, held jobs wait, files are whole again" {
	local i
	use_up_day
	for i in {1..20}; do
		bench service kill
		tear_all
		bench service start
		wait_for 30 explained "$late" 'of 1 (RebootsPerDay' || fail "in round $i: $(tail -n 5 "$log")"
	done
	is_as_before
	wait_for 40 grep -q '^slurm-pmem-modes 1 ' "$dir/run/controller/modes"
	wait_for 40 grep -qx 'slurm-pmem-leases 1 [0-9]*' "$dir/run/controller/leases"
	wait_for 90 grep -q '^slurm-pmem-groups 1' "$dir/run/controller/groups"
	grep -q "reboots.json' is malformed and was renamed to '.*reboots.json.unreadable'; starting with its copy" "$log"
	parses "$dir"/kept/*.json.copy
}

@test "state files are torn while pm-controller runs: it writes them again, and submissions and queued jobs are as before" {
	local i
	use_up_day
	for i in {1..20}; do
		tear_all
		run_client sbatch --parsable -p day --pm-mode=appdirect --time=5 --output=/dev/null --wrap=true
	done
	wait_for 60 grep -q '^slurm-pmem-modes 1 ' "$dir/run/controller/modes"
	wait_for 60 grep -qx 'slurm-pmem-leases 1 [0-9]*' "$dir/run/controller/leases"
	wait_for 90 grep -q '^slurm-pmem-groups 1' "$dir/run/controller/groups"
	is_as_before
	bench service kill
	bench service start
	is_as_before
}

@test "state files are missing, or cannot be read: their copies serve; without these pm-controller starts anew and says so" {
	use_up_day
	bench service kill
	rm -f "$dir"/kept/*.json "$dir"/run/controller/{modes,leases,groups}
	mark_log
	bench service start
	is_as_before
	is_logged "reboots.json' is missing; starting with its copy"
	bench service kill
	rm -f "$dir/kept/reboots.json"
	mkdir "$dir/kept/reboots.json"
	mark_log
	bench service start
	is_as_before
	is_logged 'reboots.json.*; starting with its copy'
	bench service kill
	rmdir "$dir/kept/reboots.json"
	echo torn | tee "$dir/kept/reboots.json" >"$dir/kept/reboots.json.copy"
	mark_log
	bench service start
	is_logged "reboots.json.unreadable'; starting with an empty list"
	wait_for 120 job_is "$late" COMPLETED
}

@test "the disk of the state files is full: limits hold, the log says so, and the files are written when there is room" {
	site 'PartitionName=day RebootsPerDay=1'
	bench service kill
	in_bench mount -t tmpfs -o size=64k,mode=700 tmpfs "$dir/kept"
	bench service start
	in_bench dd if=/dev/zero of="$dir/kept/full" bs=4096 status=none 2>/dev/null || true
	mark_log
	note_boots
	submit -p day --pm-mode=memory --time=5 --wrap=hostname
	wait_for 120 job_is "$job" COMPLETED
	submit -p day --pm-mode=mixed --time=5 --wrap=hostname
	late=$job
	wait_for 60 explained "$late" 'of 1 (RebootsPerDay'
	is_logged 'reboots.json.*No space left on device'
	in_bench rm "$dir/kept/full"
	put_in mixed n4 # a reboot of another line, at which the list is written
	wait_for 60 job_is "$late" COMPLETED
	bench service kill
	in_bench cat "$dir/kept/reboots.json" >"$BATS_TEST_TMPDIR/reboots"
	parses "$BATS_TEST_TMPDIR/reboots"
	bench service start
	submit -p day --pm-mode=mixed --time=5 -w n2 --wrap=hostname
	late=$job
	wait_for 60 explained "$late" 'of 1 (RebootsPerDay'
}

# set_clock HOURS: by how much pm-controller's clock is wrong, "+1h".
set_clock() {
	echo "$1" >"$BATS_TEST_TMPDIR/clock.new"
	mv "$BATS_TEST_TMPDIR/clock.new" "$BATS_TEST_TMPDIR/clock"
}

# pm-controller as the bench starts it, with that clock.
with_faked_service() {
	set_clock +0
	bench service kill
	LIMIT_S=900 admin env LD_PRELOAD=/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1 FAKETIME_NO_CACHE=1 \
		FAKETIME_TIMESTAMP_FILE="$BATS_TEST_TMPDIR/clock" FAKETIME_DONT_FAKE_MONOTONIC=1 \
		"$dir/lib/pm-controller" --run-dir="$dir/run/controller" --state-dir="$dir/kept" --config="$conf" \
		>"$BATS_TEST_TMPDIR/log" 2>&1 3>&- &
	touch "$BATS_TEST_TMPDIR/faked"
	wait_for 20 test -S "$dir/run/controller/socket"
}

@test "pm-controller's clock is set forward and back: hours begin by it, no job is held longer, no day is longer than a day" {
	local held awaiting
	site HoldTime=60 "PartitionName=hours HoldTime=0 RebootHours=$(other_hours)" 'PartitionName=day HoldTime=0 RebootsPerDay=1'
	occupy
	with_faked_service
	submit -p pair --pm-mode=memory --time=5 --wrap=hostname
	held=$job
	wait_for 60 was_held "$held"
	submit -p hours --pm-mode=mixed --time=5 --wrap=hostname
	awaiting=$job
	wait_for 60 awaits_permit "$awaiting"
	set_clock +12h
	wait_for 120 job_is "$held" COMPLETED
	wait_for 120 job_is "$awaiting" COMPLETED
	submit -p day --pm-mode=memory --time=5 -w n3 --wrap=hostname
	wait_for 120 job_is "$job" COMPLETED
	submit -p day --pm-mode=memory --time=5 -w n4 --wrap=hostname
	wait_for 60 explained "$job" 'of 1 (RebootsPerDay'
	set_clock +0
	wait_for 30 grep -Eq 'the clock was set by -(43199|43200|43201) s' "$BATS_TEST_TMPDIR/log"
	looks_passed
	awaits_permit "$job"
	wait_for 30 explained "$job" 'of 1 (RebootsPerDay'
	set_clock +25h
	wait_for 120 job_is "$job" COMPLETED
	nodes_are_in_service
}

# The first job of a boot is the one that its node was rebooted for: nothing else reboots nodes here, and jobs have them to
# themselves. Prints how many boots are of jobs of the partition.
boots_of() {
	sort -s -k 3,3 -k 6n "$ran" | awk -v partition="$1" -v before="$(tr '\n' ' ' <"$BATS_TEST_TMPDIR/boots")" '
		!($5 in seen) && !index(before, $5) { if ($2 == partition) count++ }
		{ seen[$5] = 1 }
		END { print count + 0 }'
}

# submit_random: a job of one of the partitions, whose number and mode go to the file of what is wanted.
submit_random() {
	local partitions=(pair hours day main) modes=(memory appdirect mixed) partition mode
	partition=${partitions[RANDOM % 4]} mode=${modes[RANDOM % 3]}
	submit -p "$partition" --pm-mode="$mode" --time=5 "$script"
	echo "$job $mode" >>"$wanted"
}

# Each second: which jobs have a lease whose time was over more than 30 s ago: a pass of Slurm, and the service's start.
watch_leases() {
	while sleep 1; do
		admin scontrol -o show job | grep 'JobState=PENDING.* Licenses=pm_wait' |
			sed -nE 's/^JobId=([0-9]+) .*AdminComment=pm_hold=1,([0-9]+).*/\1 \2/p' |
			awk -v now="$(date +%s)" 'now > $2 + 60 + 30 { print $1, now - $2 }' >>"$BATS_TEST_TMPDIR/late"
	done
}

# The records of the jobs in $wanted that ran twice, did not end by themselves, or have the licence still.
not_as_wanted() {
	admin scontrol -o show job | grep -wFf <(sed 's/^\([0-9]*\).*/JobId=\1/' "$wanted") |
		grep -E 'Restarts=[1-9]|JobState=[^C]|JobState=CANCELLED|Licenses=pm_wait' || true
}

# bats test_tags=long
@test "pm-controller is killed 100 times at random moments: each job runs once in its mode, no bound and no limit is passed" {
	local i node
	ran=$dir/home/ran wanted=$BATS_TEST_TMPDIR/wanted script=$dir/home/say
	: >"$ran"
	chmod 666 "$ran"
	cat >"$script" <<EOS
#!/bin/sh
echo \$SLURM_JOB_ID \$SLURM_JOB_PARTITION \$SLURMD_NODENAME \$(pmctl mode) \$(cat $dir/\$SLURMD_NODENAME/machine/root/proc/sys/kernel/random/boot_id) \$(date +%s%N) >>$ran
sleep \$((SLURM_JOB_ID % 4))
EOS
	chmod 755 "$script"
	site HoldTime=0 'PartitionName=pair,main HoldTime=1' 'PartitionName=day RebootsPerDay=5' \
		"PartitionName=hours RebootHours=$(other_hours)"
	forget_reboots
	put_in memory n1
	put_in mixed n3
	clean_nodes
	forget_reboots
	note_boots
	for node in n1 n2 n3 n4; do
		echo 8 >"$dir/$node/boot_s"
	done
	watch_leases 3>&- &
	echo $! >"$BATS_TEST_TMPDIR/pid"
	for i in {1..100}; do
		submit_random
		sleep "$((RANDOM % 4)).$((RANDOM % 10))"
		bench service kill
		bench service start
		if [ "$i" = 50 ]; then
			assert_equal "$(boots_of hours)" 0
			put_site HoldTime=0 'PartitionName=pair,main HoldTime=1' 'PartitionName=day RebootsPerDay=5' \
				'PartitionName=hours RebootHours=00:00-24:00'
		fi
	done
	# Jobs whose number of the day is used up need nodes in their mode.
	wait_for 900 eval '[ -z "$(bench squeue -h -p pair,hours,main)" ]'
	for i in memory mixed appdirect; do
		put_in "$i" n4
		sleep 15
	done
	wait_for 300 no_jobs
	assert_equal "$(awk '{ print $1, $4 }' "$ran" | sort -n)" "$(sort -n "$wanted")"
	assert_equal "$(wc -l <"$wanted")" 100
	admin scontrol -o show job | grep -q 'AdminComment=pm_hold=1,[0-9]' # the service got to hold jobs, and to let them go
	run cat "$BATS_TEST_TMPDIR/late"
	assert_output ''
	[ "$(boots_of day)" -le 5 ]
	[ "$(boots_of main)" -gt 0 ]
	run not_as_wanted
	assert_output ''
	parses "$dir"/kept/*.json "$dir"/kept/*.copy
	assert_equal "$(find "$dir/kept" -name '*.unreadable*' -newer "$wanted")" ''
	nodes_are_in_service
}
