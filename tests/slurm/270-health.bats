#!/usr/bin/env bats
# The site's health check beside ours, its prologs and epilogs beside ours: docs/admin/compatibility.md has a row for each.
# nhc_stand_in does what NHC does; it reads the memory of the emulated machine.
# shellcheck disable=SC2016 # the single quotes are for the shells of others

setup() {
	load helper
	dir=$(bench_dir)
	clean_nodes
	cp "$dir/n1/pmem.conf" "$BATS_TEST_TMPDIR/n1.conf"
	cp "$BATS_TEST_DIRNAME/nhc_stand_in" "$dir/bin"
	cp /usr/bin/sleep "$dir/bin/hang"
	: >"$dir/nhc.conf"
	: >"$dir/nhc.log"
}

teardown() {
	[ ! -e "$BATS_TEST_TMPDIR/pmctl.kept" ] || put_pmctl_back
	[ ! -e "$BATS_TEST_TMPDIR/reachable.kept" ] || replace "$BATS_TEST_TMPDIR/reachable.kept" "$dir/bin/pm-reachable"
	replace "$BATS_TEST_TMPDIR/n1.conf" "$dir/n1/pmem.conf"
	for pid in $(pgrep -f "^$dir/bin/hang "); do
		kill "$pid" 2>/dev/null || true
	done
	bench inject n1 none
	cancel_jobs -f
	restore_site
	restore_slurm_conf
	wait_for 60 nodes_have_modes
	wait_for 60 no_jobs
}

# with_check COMMAND: as n1's SiteHealthCheckProgram.
with_check() {
	{ cat "$BATS_TEST_TMPDIR/n1.conf"; echo "SiteHealthCheckProgram=$1"; } >"$BATS_TEST_TMPDIR/n1.next"
	replace "$BATS_TEST_TMPDIR/n1.next" "$dir/n1/pmem.conf"
}

# with_nhc LINE...: of nhc.conf.
with_nhc() {
	printf '* || %s\n' "$@" >"$dir/nhc.next"
	mv "$dir/nhc.next" "$dir/nhc.conf"
	with_check "$dir/bin/nhc_stand_in $dir/nhc.conf $dir/nhc.log $dir/n1/machine/root/proc/meminfo"
}

memory_of_n1() {
	awk '/^MemTotal:/ { print $2 }' "$dir/n1/machine/root/proc/meminfo"
}

# range_in MODE: sets $range to a line of nhc.conf for n1's memory in this mode.
range_in() {
	local is
	put_in "$1" n1
	is=$(memory_of_n1)
	range="[[ \$PM_MODE != $1 ]] || check_hw_physmem $is $is"
}

has_run() { grep -q "^n1 $1 [0-9]* $2" "$dir/nhc.log"; }

# runs_of WHAT: how many lines of it the log has.
runs_of() { grep -c "^n1 [a-z]* [0-9]* $1" "$dir/nhc.log"; }

runs_again() { [ "$(runs_of "$1")" -gt "$2" ]; }

log_of_slurmd() { tail -n "+$since" "$dir/log/slurmd.n1.log"; }

slurmd_said() { log_of_slurmd | grep -q "$1"; }

mark_log() { since=$(($(wc -l <"$dir/log/slurmd.n1.log") + 1)); }

was_never_drained() {
	run sed -n "$1,\$p" "$dir/log/slurmctld.log"
	refute_output --regexp 'n1 reason set to|n1 state set to (DRAIN|DOWN)'
}

now_in_slurmctld_log() { echo $(($(wc -l <"$dir/log/slurmctld.log") + 1)); }

reachable() { bench node n1 pm-reachable; }

@test "NHC's memory check before, during and after changes of mode: PM_MODE has its range, no node is offlined" {
	local memory appdirect mixed begin mode
	range_in memory && memory=$range
	range_in mixed && mixed=$range
	range_in appdirect && appdirect=$range
	with_nhc "$memory" "$mixed" "$appdirect"
	begin=$(now_in_slurmctld_log)
	for mode in memory appdirect mixed memory mixed appdirect; do
		run_srun -w n1 --pm-mode="$mode" pmctl mode
		assert_output "$mode"
		wait_for 30 has_run "$mode" memory
	done
	was_never_drained "$begin"
	run grep -E 'failed| (none|unknown|flat) ' "$dir/nhc.log"
	assert_output ''
}

@test "NHC that knows one mode's memory drains the node in another, and resumes it when it is right" {
	range_in appdirect
	with_nhc "${range#*|| }"
	wait_for 30 has_run appdirect end
	run_client sbatch -w n1 --pm-mode=memory --output=/dev/null --wrap=true # whose node is drained as it comes back
	wait_for 60 has_run memory failed
	assert_drained n1 'NHC: Health check failed:'
	with_nhc "check_hw_physmem 1 999999999999"
	wait_for 30 state_is n1 idle
}

@test "while pmctl changes the node, the site's check is not run; our own report is made" {
	put_in appdirect n1
	with_nhc true
	wait_for 30 has_run appdirect end
	exec {lock}<"$dir/n1/state/lock"
	flock "$lock"
	: >"$dir/nhc.log"
	run reachable
	assert_success
	assert_output 'SiteHealthCheckProgram was not run: pmctl changes the node'
	run cat "$dir/nhc.log"
	assert_output ''
	exec {lock}<&-
	wait_for 30 has_run appdirect end
}

@test "nor is it run from the order of a reboot until the node has verified its mode" {
	put_in appdirect n1
	with_nhc true
	wait_for 30 has_run appdirect end
	bench node n1 pmctl helper pm_memory # as for a job
	run reachable
	assert_output 'SiteHealthCheckProgram was not run: the node changes to mode memory'
	bench inject n1 hang
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap='pmctl mode'
	wait_for 30 boot_hangs n1
	: >"$dir/nhc.log"
	run reachable
	assert_success
	assert_output --regexp "SiteHealthCheckProgram was not run: (the node changes to mode memory|the node's mode is not verified.*)"
	run cat "$dir/nhc.log"
	assert_output ''
	bench power-cycle n1
	wait_for 60 job_is "$(job_of_n1)" COMPLETED
	wait_for 30 has_run memory end
}

job_of_n1() { admin scontrol -o show job | grep -o 'JobId=[0-9]*' | tail -n 1 | cut -d= -f2; }

@test "an administrator's goal that waits for a reboot keeps no check from running" {
	put_in appdirect n1
	with_nhc true
	bench node n1 pmctl set memory
	: >"$dir/nhc.log"
	wait_for 30 has_run appdirect end
	bench power-cycle n1
	wait_for 60 has_run memory end
}

@test "a check that hangs is ended when a job begins and when its node changes, with its children, and holds up neither" {
	local pid
	put_in appdirect n1
	with_nhc "[[ \$PM_MODE != appdirect ]] || $dir/bin/hang 7777"
	wait_for 30 hanging
	mark_log
	pid=$(hanging)
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_output appdirect
	run ! lives "$pid"
	wait_for 30 hanging
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	run grep 'appdirect.* end' "$dir/nhc.log"
	assert_output ''
	run ! slurmd_said 'health_check failed'
	wait_for 30 state_is n1 idle
}

# What is dead may wait for its parent.
lives() { [[ $(ps -o stat= -p "$1") == [^Z]* ]]; }

hanging() { pgrep -x -f "$dir/bin/hang 7777" | head -n 1 | grep .; }

@test "what a check has begun in a session of its own lives on, and later checks run" {
	put_in appdirect n1
	with_nhc "setsid --fork $dir/bin/hang 8888 >/dev/null 2>&1"
	wait_for 30 runs_again end 1
	run_srun -w n1 --pm-mode=appdirect true
	pid=$(pgrep -x -f "$dir/bin/hang 8888" | head -n 1)
	lives "$pid"
	with_nhc true
	for pid in $(pgrep -x -f "$dir/bin/hang 8888"); do
		kill "$pid"
	done
}

# fails_with PROGRAM SENTENCE: in slurmd's log; the node stays in service.
fails_with() {
	mark_log
	with_check "$1"
	wait_for 30 slurmd_said "health_check failed: rc:1 output:pm-reachable: SiteHealthCheckProgram: $2"
	wait_for 30 state_is n1 idle
}

@test "a check that fails, is missing, or that others could change is a sentence in slurmd's log, and drains nothing" {
	local begin
	put_in appdirect n1
	begin=$(now_in_slurmctld_log)
	printf '#!/bin/sh\necho fan 3 stands; exit 4\n' >"$dir/bin/failing"
	install -m 755 "$dir/bin/failing" "$dir/bin/open"
	chmod 755 "$dir/bin/failing"
	chmod 777 "$dir/bin/open"
	fails_with "$dir/bin/failing -q" "'$dir/bin/failing -q' ended with status 4, printed: 'fan 3 stands"
	fails_with /no/such "use '/no/such': look at '/no': No such file or directory"
	fails_with "$dir/bin/open" "use '$dir/bin/open' as root: '$dir/bin/open' is writable by group or others (mode 0777)"
	was_never_drained "$begin"
}

@test "a check that hangs is killed before slurmd would kill ours, and says so in slurmd's log" {
	put_in appdirect n1
	mark_log
	with_nhc "$dir/bin/hang 7777"
	wait_for 100 slurmd_said "health_check failed: rc:1 output:pm-reachable: SiteHealthCheckProgram: run '.*': it did not end within .* ms and was killed"
	wait_for 30 state_is n1 idle
	with_nhc true
}

@test "slurmd kills pm-reachable after 60 s: the site's check ends with it, and the next one ends its children" {
	local child
	put_in appdirect n1
	mark_log
	cp "$dir/bin/pm-reachable" "$BATS_TEST_TMPDIR/reachable.kept"
	sed '2i sleep 15' "$dir/bin/pm-reachable" >"$BATS_TEST_TMPDIR/slow" # as a slurmctld that does not answer
	chmod 755 "$BATS_TEST_TMPDIR/slow"
	replace "$BATS_TEST_TMPDIR/slow" "$dir/bin/pm-reachable"
	with_nhc "$dir/bin/hang 7777"
	wait_for 60 has_run appdirect begin
	wait_for 20 hanging
	child=$(hanging)
	wait_for 100 slurmd_said 'health_check killed by signal'
	replace "$BATS_TEST_TMPDIR/reachable.kept" "$dir/bin/pm-reachable"
	with_nhc true
	: >"$dir/nhc.log"
	wait_for 60 has_run appdirect end
	run ! lives "$child"
	wait_for 30 state_is n1 idle
}

# says_at_start SED SENTENCE: pm-controller does, with slurm.conf changed so.
says_at_start() {
	with_slurm_conf "$1"
	: >"$dir/log/pm-controller.out"
	bench service start
	wait_for 20 grep -qF "$2" "$dir/log/pm-controller.out"
	restore_slurm_conf
}

@test "pm-controller says at its start with which HealthCheck settings ours does not run where it must" {
	with_slurm_conf '$aHealthCheckNodeState=IDLE,CYCLE'
	: >"$dir/log/pm-controller.out"
	bench service start
	run grep HealthCheck "$dir/log/pm-controller.out"
	assert_failure
	restore_slurm_conf
	says_at_start '$aHealthCheckProgram=/usr/sbin/nhc' 'HealthCheckProgram=/usr/sbin/nhc: unless it runs pm-reachable, jobs are sent to nodes that cannot change to their mode; write pm-reachable as HealthCheckProgram into slurm.conf, and SiteHealthCheckProgram=/usr/sbin/nhc into pmem.conf'
	says_at_start '$aHealthCheckInterval=0' 'HealthCheckInterval=0: pm-reachable does not run'
	says_at_start '$aHealthCheckNodeState=ALLOC,MIXED' 'HealthCheckNodeState has no IDLE: pm-reachable does not run on idle nodes'
	is_slurm 22.05 || says_at_start '$aHealthCheckNodeState=NONDRAINED_IDLE' 'HealthCheckNodeState has NONDRAINED_IDLE and not IDLE: a node that slurm-pmem has drained for a reboot may stay drained'
}

@test "pm-controller says at its start that PrologEpilogTimeout is too short for a change of mode" {
	with_slurm_conf '$aPrologEpilogTimeout=40'
	: >"$dir/log/pm-controller.out"
	bench service start
	run grep PrologEpilogTimeout "$dir/log/pm-controller.out"
	assert_failure
	restore_slurm_conf
	says_at_start '$aPrologEpilogTimeout=39' "PrologEpilogTimeout=39 is below ResumeTimeout=40: Slurm ends slurm-pmem's prologs while nodes change their mode or wipe memory"
}

@test "HealthCheckNodeState of idle nodes alone, in a cycle: the site's check runs there, and modes change" {
	put_in appdirect n1
	with_slurm_conf '$aHealthCheckNodeState=IDLE,CYCLE'
	with_nhc true
	wait_for 60 has_run appdirect end
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	wait_for 60 has_run memory end
}

# script NAME LINE...: for Slurm's daemons, whatever user they change to.
script() {
	local name=$1
	shift
	printf '%s\n' '#!/bin/bash' 'export PATH=/usr/bin:/bin' "$@" >"$dir/bin/$name"
	chmod 755 "$dir/bin/$name"
	echo "$dir/bin/$name"
}

# left_of JOB: what n1 has of it.
left_of() {
	find "$dir/n1/state/jobs" "$dir/n1/run/jobs" "$dir/n1/run/prologs" -name "$1*" 2>/dev/null
}

nothing_left_of() { [ -z "$(left_of "$1")" ]; }

is_out() { [[ $(node_field "$1" '%T %E') == dr*"$2"* ]]; }

# The next job gets its mode on n1, and has its node to itself.
serves_again() {
	resume n1
	run_srun -w n1 --pm-mode="$1" pmctl mode
	assert_output "$1"
}

@test "a site's Prolog comes behind ours, its Epilog too, and its TaskProlog has the job's variables" {
	local seen=$dir/home/seen
	: >"$seen"
	chmod 666 "$seen"
	put_in appdirect n1
	with_slurm_conf "\$aProlog=$(script prolog "echo prolog \${PM_MODE-none} \$(ls $dir/n1/run/jobs | grep -c \"^\$SLURM_JOB_ID\") >>$seen")
\$aEpilog=$(script epilog "echo epilog \${PM_MODE-none} \$(ls $dir/n1/run/jobs | grep -c \"^\$SLURM_JOB_ID\") >>$seen")
\$aTaskProlog=$(script taskprolog "echo task \${PM_MODE-none} >>$seen" 'echo export SITE=here')"
	run_srun -w n1 --pm-mode=appdirect bash -c 'echo "$SITE $PM_MODE"'
	assert_output 'here appdirect'
	wait_for 30 grep -q epilog "$seen"
	run cat "$seen"
	assert_output "$(printf '%s\n' 'prolog none 1' 'task appdirect' 'epilog none 0')"
}

@test "a site's Prolog that fails: Slurm drains the node and requeues the job; nothing of it is left, and the next one gets its mode" {
	put_in appdirect n1
	with_slurm_conf "\$aProlog=$(script prolog "rm $dir/home/fail 2>/dev/null || exit 0" 'exit 1')"
	touch "$dir/home/fail"
	chmod 777 "$dir/home/fail"
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	job=$output
	wait_for 60 is_out n1 'rolog'
	bench scancel "$job"
	wait_for 30 no_jobs
	wait_for 30 nothing_left_of "$job"
	serves_again memory
}

@test "a site's Epilog that fails: Slurm drains the node; nothing is left, and the next job gets its mode" {
	put_in appdirect n1
	with_slurm_conf "\$aEpilog=$(script epilog "rm $dir/home/fail 2>/dev/null || exit 0" 'exit 1')"
	touch "$dir/home/fail"
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	job=$output
	wait_for 60 is_out n1 'pilog'
	wait_for 30 nothing_left_of "$job"
	serves_again memory
}

@test "a site's Prolog and Epilog that hang until PrologEpilogTimeout: as if they had failed" {
	local which
	put_in appdirect n1
	with_slurm_conf "\$aPrologEpilogTimeout=8
\$aProlog=$(script prolog "rm $dir/home/prolog 2>/dev/null || exit 0" 'sleep 600')
\$aEpilog=$(script epilog "rm $dir/home/epilog 2>/dev/null || exit 0" 'sleep 600')"
	for which in prolog epilog; do
		touch "$dir/home/$which"
		run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
		job=$output
		wait_for 90 is_out n1 "${which#?}"
		bench scancel "$job"
		wait_for 60 no_jobs
		wait_for 30 nothing_left_of "$job"
		serves_again appdirect
	done
	serves_again memory
}

@test "a site's TaskProlog that fails ends the task, and leaves the node in service" {
	put_in appdirect n1
	with_slurm_conf "\$aTaskProlog=$(script taskprolog 'exit 3')"
	run bench srun -w n1 --pm-mode=appdirect true
	wait_for 20 no_jobs
	run node_field n1 '%T %E'
	refute_output --partial drain
	restore_slurm_conf
	serves_again memory
}
