#!/usr/bin/env bats
# What the plugin makes of pmctl's answers: refusals, forgotten jobs, reboots, and what a node can serve.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
	put_in appdirect n1
	log=$BATS_TEST_TMPDIR/log
	real=$(bench_dir)/bin
}

teardown() {
	cancel_jobs
	[ -z "${full-}" ] || in_bench umount "$full"
	[ ! -e "$real/pmctl.real" ] || mv "$real/pmctl.real" "$real/pmctl"
	restore_site
	restore_lua
	[ ! -e "$BATS_TEST_TMPDIR/kept" ] || cp "$BATS_TEST_TMPDIR/kept" "$(bench_dir)/n1/pmem.conf"
}

# with_pmctl LINES [KEY…]: a pmctl that does these first; $* is what it was asked. KEYs are of pmem.conf.
with_pmctl() {
	let_epilogs_end # those of the job that has put the node into its mode
	with_site "PmctlPath=$(program pmctl "echo \"\$*\" >>$log
$1
exec $real/pmctl \"\$@\"")" "${@:2}"
}

views() {
	ls "$(bench_dir)/n1/run/jobs"
}

has_no_views() {
	[ -z "$(views)" ]
}

has_available() {
	[[ ,$(node_field n1 %f), == *,$1,* ]]
}

lacks_available() {
	[[ ,$(node_field n1 %f), != *,$1,* ]]
}

has_no_comment() {
	[[ $(admin scontrol show node n1) != *Comment=* ]]
}

@test "pmctl learns the job, its user and what it expects, and that it is over" {
	with_pmctl ''
	run_srun -w n1 --pm-mode=appdirect --pm-size=1G true
	wait_for 10 grep -q 'job end' "$log"
	run cat "$log"
	assert_line --regexp \
		'^job begin --job=[0-9]+ --uid=65534 --gid=65534 --expect=appdirect --size=1G --run=[0-9T:.-]+$'
	assert_line --regexp '^job end --job=[0-9]+$'
	wait_for 5 has_no_views
}

@test "the option, then PM_MODE, then the partition's default say which mode of a feature it is" {
	with_pmctl '[ "$2" != begin ] || exit 0'
	bench srun -w n1 --pm-mode=flat true || true
	PM_MODE=flat bench srun -w n1 -C pm_appdirect true || true
	bench srun -w n1 -C pm_appdirect true
	run grep -o 'expect=[^ ]*' "$log"
	assert_line --index 0 expect=flat
	assert_line --index 1 expect=flat
	assert_line --index 2 expect=appdirect
}

@test "a job without a mode runs no pmctl" {
	touch "$log"
	let_epilogs_end
	with_pmctl ''
	run_srun -w n1 true
	sleep 1
	run cat "$log"
	assert_output ''
}

@test "what the node refuses the user is told, and nothing is drained" {
	run bench srun -w n1 --pm-mode=flat echo ran
	assert_failure
	refute_line ran
	assert_output --partial 'set up its persistent memory and offer no flat'
	run_sbatch 1 -w n1 --pm-mode=flat <<-END
		#!/bin/sh
		echo ran
	END
	refute_line ran
	wait_for 10 state_is n1 idle
	wait_for 5 has_no_views
}

@test "a job that is over and still holds the node is ended first" {
	with_pmctl "[ \$2 != begin ] || [ -e $log.ended ] ||
	{ echo holder=99999999; echo 'pmctl: job begin: job 99999999 holds the node' >&2; exit 3; }
[ \"\$*\" != 'job end --job=99999999' ] || { touch $log.ended; exit 0; }"
	run_srun -w n1 --pm-mode=appdirect echo ran
	assert_line ran
	run grep -c 'job begin' "$log"
	assert_output 2
}

@test "of many jobs that are over and still hold the node, each is ended, one after the other" {
	with_pmctl "for id in 1 2 3 4 5; do
	[ \$2 != begin ] || [ -e $log.9999999\$id ] ||
		{ echo holder=9999999\$id; echo \"pmctl: job begin: job 9999999\$id holds the node\" >&2; exit 3; }
done
case \$* in 'job end --job=9999999'*) touch $log.\${3#--job=}; exit 0 ;; esac"
	run_srun -w n1 --pm-mode=appdirect echo ran
	assert_line ran
	run grep -c 'job begin' "$log"
	assert_output 6
}

# What a user can write of a job, each with what 'scontrol show job' says of a living one.
LIE=$'x\n   JobState=RUNNING Reason=None\n JobState=RUNNING '

# A job with all of that, which is over; its number in $output.
submit_liar() {
	local folder
	folder=$(bench_dir)/home/$LIE
	mkdir -p "$folder"
	chmod 777 "$folder"
	run_client sbatch --parsable -w n2 --job-name="$LIE" --comment="$LIE" --account="$LIE" --wckey="$LIE" \
		--chdir="$folder" --output="$LIE" --wrap true
	wait_for 20 job_is_over "$output"
}

job_is_over() {
	[ "$(bench squeue -h -t all -j "$1" -o %T)" = COMPLETED ]
}

@test "a job that is over is not taken for alive by its name, comment, account or folder" {
	submit_liar
	with_pmctl "[ \$2 != begin ] || [ -e $log.ended ] ||
	{ echo holder=$output; echo 'pmctl: job begin: job $output holds the node' >&2; exit 3; }
[ \"\$*\" != 'job end --job=$output' ] || { touch $log.ended; exit 0; }"
	run_srun -w n1 --pm-mode=appdirect echo ran
	assert_line ran
}

@test "who holds the node is what pmctl says in its own line, not a number in a sentence" {
	with_pmctl "[ \$2 != begin ] ||
	{ echo 'pmctl: job begin: the namespace is called job 99999998' >&2; exit 3; }"
	run bench srun -w n1 --pm-mode=appdirect echo ran
	assert_failure
	run grep -c 'job end --job=99999998' "$log"
	assert_output 0
}

@test "a job that lost its nodes for itself gets no memory that is one job's alone, and says so" {
	submit_held -w n1 --pm-mode=flat --output="$(bench_dir)/home/shared.%j"
	admin scontrol update jobid="$output" oversubscribe=yes
	admin scontrol release "$output"
	local job=$output
	wait_for 20 is_failed "$job"
	run cat "$(bench_dir)/home/shared.$job"
	assert_output --partial "other jobs may be put on the job's nodes, but only one job at a time can have flat memory; submit the job again with --exclusive"
	wait_for 10 state_is n1 idle
}

is_failed() {
	[ "$(job_field "$1" JobState)" = JobState=FAILED ]
}

@test "without an answer from Slurm a job gets no memory that is one job's alone, others begin" {
	with_site "SqueuePath=$(program silent 'echo no answer >&2; exit 1')"
	run bench srun -w n1 --pm-mode=flat echo ran
	assert_failure
	refute_line ran
	assert_output --partial 'no answer'
	wait_for 10 state_is n1 idle
	run_srun -w n1 --pm-mode=appdirect echo ran
	assert_line ran
}

# job_with_view: a job on n1 that waits; its number in $job, its view in $view, the view's text in $good.
job_with_view() {
	run_client sbatch --parsable -w n1 -C pm_appdirect --wrap 'sleep 300'
	job=$output
	view=$(bench_dir)/n1/run/jobs/$job
	wait_for 20 test -s "$view"
	good=$(cat "$view")
}

state_of_job() {
	[ "$(job_field "$1" JobState)" = JobState="$2" ]
}

# A step of the job, with what is in its view now, must not run; with the good one it does.
refuse_view() {
	run bench srun --jobid="$job" --overlap echo ran
	rm -rf "$view"
	echo "$good" >"$view"
	chmod 644 "$view"
	[ "$status" -ne 0 ] || fail "ran with a view that is $1"
	refute_line ran
	assert_output --partial "$2"
}

@test "a task takes no view but its own job's, written by root in this boot" {
	local job view good
	job_with_view
	run_srun --jobid="$job" --overlap sh -c 'echo $PM_MODE'
	assert_output appdirect
	rm "$view"
	refuse_view missing 'this node has lost the job view of job'
	sed -i 's/^PM_JOB=.*/PM_JOB=1/' "$view"
	refuse_view "another job's" 'was not written for this job'
	sed -i 's/^PM_UID=.*/PM_UID=1/' "$view"
	refuse_view "another user's" 'was not written for this job'
	sed -i 's/^PM_BOOT=.*/PM_BOOT=5cb1b7d1-4b5b-4b0c-b0a5-0f5d5f5c8a11/' "$view"
	refuse_view "another boot's" 'was not written for this job'
	echo PM_MODE=appdirect >"$view"
	refuse_view "of an earlier version" 'was not written for this job'
	chown nobody "$view"
	refuse_view "the user's" "must be a regular file of root that group and others cannot write"
	chmod 666 "$view"
	refuse_view "for all to write" "must be a regular file of root that group and others cannot write"
	mv "$view" "$view.real"
	ln -s "$view.real" "$view"
	refuse_view "a link" 'symbolic link'
	rm "$view.real"
	: >"$view"
	refuse_view empty 'was not written for this job'
	printf 'PM_JOB=1' >"$view"
	refuse_view truncated 'not a job view'
	yes PM_JOB=1 | head -c 1000000 >"$view"
	refuse_view huge 'longer than'
	run_srun --jobid="$job" --overlap echo ran
	assert_output ran
}

@test "no task of any kind runs where the view is gone" {
	with_pmctl "[ \$2 != begin ] || { $real/pmctl \"\$@\"; rm $(bench_dir)/n1/run/jobs/*; exit 0; }"
	run_sbatch 1 -w n1 -C pm_appdirect --wrap 'echo ran' </dev/null
	refute_line ran
	run bench srun -w n1 -C pm_appdirect echo ran
	refute_line ran
	run bench salloc -w n1 -C pm_appdirect srun echo ran
	refute_line ran
	wait_for 10 state_is n1 idle
}

@test "a job that comes again without its mode finds nothing of its earlier run" {
	with_pmctl '[ $2 != end ] || [ -e '"$log.over"' ] || exit 0'
	run_client sbatch --parsable -w n1 -C pm_appdirect --output="$(bench_dir)/home/again.%j" --open-mode=append \
		--wrap 'echo "mode $PM_MODE"; [ "$SLURM_RESTART_COUNT" ] || sleep 300'
	local job=$output
	wait_for 20 grep -q appdirect "$(bench_dir)/home/again.$job"
	admin scontrol requeuehold "$job"
	wait_for 20 state_is n1 idle
	touch "$log.over"
	assert [ -e "$(bench_dir)/n1/run/jobs/$job" ]
	keep_lua
	without_lua
	admin scontrol update jobid="$job" features=
	admin scontrol release "$job"
	wait_for 60 state_of_job "$job" COMPLETED
	run cat "$(bench_dir)/home/again.$job"
	assert_line --index 0 'mode appdirect'
	assert_line 'mode '
	run ls "$(bench_dir)/n1/run/jobs" "$(bench_dir)/n1/state/jobs"
	refute_output --partial "$job"
}

@test "a job that comes again is told apart from its earlier run" {
	with_pmctl '[ $2 != end ] || [ -e '"$log.over"' ] || exit 0'
	run_client sbatch --parsable -w n1 -C pm_appdirect --wrap '[ "$SLURM_RESTART_COUNT" ] || sleep 300'
	local job=$output
	wait_for 20 state_of_job "$job" RUNNING
	admin scontrol requeue "$job"
	wait_for 60 state_of_job "$job" COMPLETED
	touch "$log.over"
	run grep -o "job begin --job=$job .*run=.*" "$log"
	assert_equal "$(sort -u <<<"$output" | wc -l)" 2
	bench node n1 "$real/pmctl" job end --job="$job"
}

@test "a living job that holds the node turns the other away" {
	run_client sbatch --parsable -w n2 --wrap 'sleep 60'
	with_pmctl "[ \$2 != begin ] ||
	{ echo holder=$output; echo 'pmctl: job begin: job $output holds the node' >&2; exit 3; }"
	run bench srun -w n1 --pm-mode=appdirect echo ran
	assert_failure
	refute_line ran
	assert_output --partial "holds the node"
	run grep -c '^job begin' "$log"
	assert_output 1
	wait_for 10 state_is n1 idle
}

@test "what cannot be taken away without a reboot reboots the node, which then serves" {
	local before
	before=$(boot_id n1)
	with_pmctl '[ $2 != end ] || { echo "pmctl: job end: memory stays" >&2; exit 5; }'
	run_srun -w n1 --pm-mode=appdirect true
	wait_for 40 is_rebooted n1 "$before"
	restore_site
	wait_for 60 state_is n1 idle # slurmctld looks again every 30 s
}

is_rebooted() {
	[ "$(boot_id "$1")" != "$2" ]
}

@test "what cannot be taken away drains the node with the reason" {
	with_pmctl '[ $2 != end ] || { printf "pmctl: job end: %s\\n" slow "cannot wipe" >&2; exit 1; }'
	run_srun -w n1 --pm-mode=appdirect true
	wait_for 10 drains n1
	restore_site
	assert_drained n1 'pm: epilog: job end: cannot wipe'
}

drains() {
	[[ $(node_field "$1" %T) == drain* ]]
}

@test "a node that cannot change is not chosen for another mode, says why, and serves its own" {
	local conf before
	conf=$(bench_dir)/n1/pmem.conf
	before=$(boot_id n1)
	cp "$conf" "$BATS_TEST_TMPDIR/n1.conf"
	sed -i "s|^PmctlPath=.*|PmctlPath=$(program held "[ \$1 != reachable ] ||
	{ echo pm_appdirect; echo 'pmctl: namespace0.0 is foreign' >&2; exit 0; }
exec $real/pmctl \"\$@\"")|" "$conf"
	wait_for 15 lacks_available pm_memory
	run admin scontrol show node n1
	assert_output --partial 'Comment=pm: namespace0.0 is foreign'
	assert_output --partial 'State=IDLE'
	run_srun --pm-mode=memory printenv SLURMD_NODENAME
	assert_output n2
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_output appdirect
	admin scontrol reconfigure
	sleep 1
	wait_for 15 lacks_available pm_memory
	bench restart-slurmd n1
	sleep 1
	wait_for 15 lacks_available pm_memory
	# As slurmd does from Slurm 24.05 on when the helper refuses.
	admin scontrol update nodename=n1 state=down "reason=Failed to set node feature(s): 'pm_memory'"
	wait_for 15 state_is n1 idle
	cp "$BATS_TEST_TMPDIR/n1.conf" "$conf"
	wait_for 15 has_available pm_memory
	wait_for 15 has_available rack1
	assert_equal "$(boot_id n1)" "$before"
	# slurmd may have brought the features itself, by registering: the comment goes with the next answer.
	wait_for 15 has_no_comment
}

# in_bench COMMAND...: where the bench's daemons see its mounts.
in_bench() {
	nsenter --mount --root --target "$(bench_pids slurmd SLURMD_NODENAME=n1 | head -n 1)" -- "$@"
}

@test "a full RunDir drains its node with the reason, and the job runs on another" {
	put_in appdirect n2
	full=$(bench_dir)/n1/run
	in_bench mount -t tmpfs -o size=64k,mode=755 none "$full"
	in_bench dd if=/dev/zero of="$full/fill" bs=4k status=none || true
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null --wrap=true
	wait_for 60 job_is "$output" COMPLETED
	run job_field "$output" ' NodeList'
	assert_output ' NodeList=n2'
	run bench status
	assert_line --regexp 'n1 +drained? .*No space left on device'
}

@test "a node that an admin took down stays down, whatever its comment says" {
	local conf fake asked=$BATS_TEST_TMPDIR/asked
	conf=$(bench_dir)/n1/pmem.conf
	fake=$(program scontrol "echo \"\$*\" >>$asked
[ \"\$2\" != show ] || cat <<-END
	NodeName=n1 Arch=x86_64
	   AvailableFeatures=pm_appdirect
	   ActiveFeatures=pm_appdirect
	   State=DOWN ThreadsPerCore=1
	   Comment=see State=DOWN Reason=Failed to set node feature(s): x
	   Reason=broken [root@2026-11-23T21:00:00]
	END")
	cp "$conf" "$BATS_TEST_TMPDIR/n1.conf"
	sed -i "s|^ScontrolPath=.*|ScontrolPath=$fake|; s|^PmctlPath=.*|PmctlPath=$(program held "echo pm_appdirect")|" "$conf"
	bench node n1 pm-reachable
	cp "$BATS_TEST_TMPDIR/n1.conf" "$conf"
	run cat "$asked"
	assert_line -- '--local show node n1'
	refute_output --partial 'state=resume'
}

@test "a mode comes back although reports overlap, and although slurmctld refused one" {
	local conf pinned=$BATS_TEST_TMPDIR/pinned
	conf=$(bench_dir)/n1/pmem.conf
	cp "$conf" "$BATS_TEST_TMPDIR/n1.conf"
	touch "$pinned"
	# While slurmctld is asked to remove the mode, the obstacle goes, and another report begins. Then slurmctld refuses
	# once to give the mode back.
	sed -i "s|^ScontrolPath=.*|ScontrolPath=$(program overlapping "case \"\$*\" in
	*availablefeatures=*pm_memory*) [ -e $log.refused ] || { touch $log.refused; exit 1; } ;;
	*availablefeatures=*) [ ! -e $pinned ] || { rm $pinned; timeout 3 pm-reachable; touch $log; } ;;
esac
exec $(command -v scontrol) \"\$@\"")|; s|^PmctlPath=.*|PmctlPath=$(program obstacle "[ \$1 != reachable ] || [ ! -e $pinned ] ||
	{ echo pm_appdirect; echo 'pmctl: namespace0.0 is foreign' >&2; exit 0; }
exec $real/pmctl \"\$@\"")|" "$conf"
	wait_for 15 test -e "$log"
	wait_for 15 test -e "$log.refused"
	wait_for 15 has_available pm_memory
	wait_for 15 has_no_comment
	cp "$BATS_TEST_TMPDIR/n1.conf" "$conf"
}

@test "a node that is chosen for a mode that something is in the way of is not drained" {
	local fake before job
	before=$(boot_id n1)
	fake=$(program refusing "[ \"\$SLURMD_NODENAME\" = n1 ] || exec $real/pmctl.real \"\$@\"
[ \"\$1 \$2\" != 'helper pm_memory' ] || { touch $log; exit 1; }
[ \"\$1\" != reachable ] || [ ! -e $log ] || { echo pm_appdirect; echo pinned >&2; exit 0; }
exec $real/pmctl.real \"\$@\"")
	admin scontrol update nodename=n2 state=drain reason=test
	mv "$real/pmctl" "$real/pmctl.real"
	cp "$fake" "$real/pmctl"
	run_client sbatch --parsable --pm-mode=memory --output="$(bench_dir)/home/chosen.%j" --wrap \
		'echo "$SLURMD_NODENAME $(pmctl mode)"'
	job=$output
	wait_for 40 lacks_available pm_memory
	wait_for 20 state_is n1 idle
	# From 24.05 on slurmd takes the node down, we resume it, and Slurm leaves the reason of a resumed node where it is.
	run node_field n1 %E
	if is_slurm 22.05; then assert_output none; else assert_output "Failed to set node feature(s): 'pm_memory'"; fi
	admin scontrol update nodename=n2 state=resume
	wait_for 60 job_is "$job" COMPLETED
	run cat "$(bench_dir)/home/chosen.$job"
	assert_output 'n2 memory'
	mv "$real/pmctl.real" "$real/pmctl"
	wait_for 20 has_available pm_memory
}


# The node's own settings are pmctl's, those of the site pm-reachable's: it may run with either.
keep_idle() {
	local conf
	conf=$(bench_dir)/n1/pmem.conf
	cp "$conf" "$BATS_TEST_TMPDIR/kept"
	echo SubstateIdleTime=3600 >>"$conf"
}

# leave_mark WORDS: as a flat job does that ends now; the bench has no such memory.
leave_mark() {
	local boot uptime
	boot=$(boot_id n1)
	uptime=$(</proc/uptime)
	printf '{"version": 1, "boot_id": "%s", "since_s": %s%s}' "$boot" "${uptime%%.*}" "$1" >"$(bench_dir)/n1/run/idle.json"
	chmod 600 "$(bench_dir)/n1/run/idle.json"
}

@test "idle flat memory is taken back before a job without a mode, once" {
	keep_idle
	with_pmctl '' SubstateIdleTime=3600
	leave_mark ''
	run_srun -w n1 true
	wait_for 30 grep -qsx 'job make-way' "$log"
	: >"$log"
	leave_mark ', "memory": "offline"'
	run_srun -w n1 true
	run ! grep -qx 'job make-way' "$log"
	rm "$(bench_dir)/n1/run/idle.json"
	wait_for 20 state_is n1 idle
}

@test "idle flat memory that the kernel keeps: the node reboots and the job without a mode runs" {
	local before job
	keep_idle
	with_pmctl '[ "$2" != make-way ] || { rm "'"$(bench_dir)"'/n1/run/idle.json"; echo "only a reboot removes it" >&2; exit 5; }' SubstateIdleTime=3600
	leave_mark ''
	before=$(boot_id n1)
	run_client sbatch --parsable -w n1 --requeue --output=/dev/null --wrap=true
	job=$output
	wait_for 60 grep -qsx 'job make-way' "$log" || fail "$(admin squeue) $(admin sinfo -R) $(admin scontrol show node n1)"
	wait_for 120 is_rebooted n1 "$before"
	wait_for 120 job_is "$job" COMPLETED
	run job_field "$job" Restarts
	assert_output Restarts=1
}
