#!/usr/bin/env bats
# Power saving: docs/admin/compatibility.md has a row for each. The site's programs turn the bench's nodes off and on, as a BMC
# does: what is to be turned on and is on already stays as it is.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup_file() {
	load helper
	local etc bin
	etc=$(bench_dir)/etc bin=$(bench_dir)/bin
	cp "$etc"/*.conf "$BATS_FILE_TMPDIR"
	site_program off >"$bin/site-suspend"
	site_program on >"$bin/site-resume"
	chmod 755 "$bin"/site-*
	printf '%s\n' "SuspendProgram=$bin/site-suspend" "ResumeProgram=$bin/pm-resume" SuspendTime=100000 SuspendTimeout=3 \
		SuspendRate=0 ResumeRate=0 DebugFlags=NodeFeatures,Power >>"$etc/slurm.conf"
	sed -i '/^DebugFlags=NodeFeatures$/d' "$etc/slurm.conf"
	sed -i 's/^SlurmctldParameters=.*/&,power_save_interval=1,power_save_min_interval=0/' "$etc/slurm-pmem.conf"
	echo "SiteResumeProgram=$bin/site-resume" >>"$etc/pmem.conf"
	cp "$etc/slurm.conf" "$BATS_FILE_TMPDIR/power.conf"
	restart_all
}

teardown_file() {
	load helper
	wake n1 n2 # the last test may have left them off
	cp "$BATS_FILE_TMPDIR/slurm.conf" "$BATS_FILE_TMPDIR/slurm-pmem.conf" "$BATS_FILE_TMPDIR/pmem.conf" "$(bench_dir)/etc"
	restart_all
}

setup() {
	load helper
	wake n1 n2
	clean_nodes
	: >"$(power_log)"
}

teardown() {
	[ ! -e "$BATS_TEST_TMPDIR/pmctl.kept" ] || put_pmctl_back
	cancel_jobs -f
	rm -f "$(bench_dir)"/fail-*
	restore_site
	rm -f "$(bench_dir)/bin/slurmctld"
	if ! cmp -s "$BATS_FILE_TMPDIR/power.conf" "$(bench_dir)/etc/slurm.conf"; then
		cp "$BATS_FILE_TMPDIR/power.conf" "$(bench_dir)/etc/slurm.conf"
		restart_all
	fi
	wait_for 60 no_jobs
}

# site_program off|on: a line in the log for each call. The file fail-off or fail-on makes it fail.
site_program() {
	cat <<-EOF
		#!/bin/bash
		export PATH=/usr/bin:/bin PM_BENCH=$(bench_dir)/pointer SLURM_CONF=$(bench_dir)/etc/slurm.conf
		echo "$1 \$*\${SLURM_JOB_ID:+ job \$SLURM_JOB_ID}" >>$(power_log)
		[ ! -e $(bench_dir)/fail-$1 ] || exit 1
		for node in \$(scontrol show hostnames "\$1"); do
			$TOP/tests/cluster/bench power $1 "\$node"
		done
	EOF
}

power_log() { echo "$(bench_dir)/log/power.log"; }

was_called() { grep -qx "$1" "$(power_log)"; }

# with_power SED: slurm.conf with power saving, changed.
with_power() {
	sed "$1" "$BATS_FILE_TMPDIR/power.conf" >"$(bench_dir)/etc/slurm.conf"
	restart_all
}

# How often n1 has changed its mode at the start of slurmd.
changes_at_boot() { grep -c 'it is back in another mode: changing it again' "$(bench_dir)/log/slurmd.n1.log"; }

node_is() {
	[[ $(admin scontrol -o show node "$1") =~ \ State=[A-Z_+]*"$2" ]]
}

# Suspended by Slurm, and off.
suspend() {
	local node
	for node in "$@"; do
		admin scontrol update nodename="$node" state=power_down
	done
	for node in "$@"; do
		wait_for 30 node_is "$node" POWERED_DOWN
	done
}

# A test that failed may have left a node in any state.
wake() {
	local node
	for node in "$@"; do
		if node_is "$node" IDLE+POWERED_DOWN; then
			admin scontrol update nodename="$node" state=power_up
		else
			! node_is "$node" DOWN || bench power off "$node"
			bench power on "$node"
		fi
		wait_for 60 is_awake "$node"
	done
}

is_awake() {
	! node_is "$1" POWER && ! node_is "$1" NOT_RESPONDING && ! node_is "$1" REBOOT || return 1
	! node_is "$1" DOWN || admin scontrol update nodename="$1" state=resume
}

no_node_is_out() {
	run bench sinfo -hN -o '%T %E'
	refute_output --regexp '(drain|inval|(^|[^_])down)' # not powered_down
}

# submit OPTION...: a job that writes its mode. Its number is in $job, the file in $out.
submit() {
	out=$(bench_dir)/home/mode.$BATS_TEST_NUMBER
	rm -f "$out"
	run_client sbatch --parsable "$@" --output="$out" --open-mode=append --wrap='echo "$(pmctl mode) $PM_MODE"'
	job=${output##*$'\n'} # behind remarks
}

@test "a node that is on changes its mode: the site's programs turn it off and on" {
	put_in appdirect n1
	: >"$(power_log)"
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_line memory
	was_called 'off n1 job [0-9]*'
	was_called 'on n1 pm_memory job [0-9]*'
	no_node_is_out
}

@test "a node that is off wakes in its mode for a job of that mode" {
	local before
	put_in memory n1
	suspend n1
	before=$(changes_at_boot)
	: >"$(power_log)"
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_line memory
	was_called 'on n1.*'
	assert_equal "$(changes_at_boot)" "$before"
	no_node_is_out
}

@test "a node that is off wakes for a job of another mode, and changes it before the job starts" {
	put_in appdirect n1
	suspend n1
	submit -w n1 --pm-mode=memory
	wait_for 90 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	run job_field "$job" Restarts
	assert_output Restarts=0
	no_node_is_out
}

# The bench's nodes cannot set up flat memory: the prolog's order to do so, and the mode in which it is given, are recorded.
@test "flat: a node that is off in Memory Mode is in App Direct when its persistent memory is set up" {
	local seen=$BATS_TEST_TMPDIR/seen
	put_in memory n1
	suspend n1
	keep_pmctl
	pmctl_in_case "'n1 job begin'*) echo \"\$(SLURMD_NODENAME=n1 $BATS_TEST_TMPDIR/pmctl.kept mode) \$*\" >>$seen; exit ;;"
	submit -w n1 --pm-mode=flat
	wait_for 90 test -e "$seen"
	put_pmctl_back
	run cat "$seen"
	assert_output --regexp '^appdirect job begin .*--expect=flat'
	no_node_is_out
}

@test "SuspendTime: idle nodes are turned off and woken for the tasks of an array in another mode; SuspendExcNodes stay on" {
	put_in appdirect n1 n2
	with_power 's/^SuspendTime=.*/SuspendTime=6/;$aSuspendExcNodes=n2'
	wait_for 60 node_is n1 POWERED_DOWN
	run ! was_called 'off n2.*'
	submit --array=1-6 --pm-mode=memory
	wait_for 120 none_of_array "$job"
	assert_equal "$(sort "$out" | uniq -c | tr -s ' ')" ' 6 memory memory'
	no_node_is_out
}

none_of_array() { [ -z "$(bench squeue -h -j "$1" 2>/dev/null)" ]; }

@test "a job array on two nodes that are off" {
	put_in appdirect n1 n2
	suspend n1 n2
	submit --array=1-4 --pm-mode=memory
	wait_for 120 none_of_array "$job"
	assert_equal "$(sort "$out" | uniq -c | tr -s ' ')" ' 4 memory memory'
	no_node_is_out
}

# start_change: n1 changes for the job $job, and hangs at its boot.
start_change() {
	put_in appdirect n1
	: >"$(power_log)"
	bench inject n1 hang
	submit -w n1 --pm-mode=memory
	wait_for 20 node_is n1 POWERING_UP
	wait_for 30 was_called "on n1 pm_memory job $job"
	wait_for 20 boot_hangs n1
}

# off_behind_a_change STATE: asked for while n1 changes for a job, which runs in its mode first.
off_behind_a_change() {
	submit -w n1 --pm-mode=memory
	wait_for 20 node_is n1 POWERING_UP
	admin scontrol update nodename=n1 state="$1"
	wait_for 90 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	wait_for 60 node_is n1 POWERED_DOWN
}

@test "power_down while a node changes for a job: the job runs in its mode, and the node is turned off behind it" {
	put_in appdirect n1
	: >"$(power_log)"
	off_behind_a_change power_down
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_line memory
	no_node_is_out
}

@test "power_down_asap: the same, and the node is in service again when it is woken" {
	put_in appdirect n1
	off_behind_a_change power_down_asap
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_line appdirect
	no_node_is_out
}

@test "power_down_force while a node changes for a job: the job is requeued, and starts in its mode" {
	start_change
	admin scontrol update nodename=n1 state=power_down_force
	wait_for 30 was_called 'off n1'
	wait_for 120 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	no_node_is_out
}

@test "a job that is cancelled while its node changes leaves the node in service, in the mode that Slurm shows" {
	start_change
	bench scancel "$job"
	wait_for 20 no_jobs
	bench power-cycle n1
	wait_for 60 is_awake n1
	wait_for 20 state_is n1 idle
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_line appdirect
	no_node_is_out
}

@test "a node that boots for a job which is gone: the next job gets its mode there" {
	put_in appdirect n1
	submit -w n1 --pm-mode=memory
	wait_for 20 node_is n1 POWERING_UP
	bench scancel "$job"
	wait_for 20 no_jobs
	run_srun -w n1 --pm-mode=mixed pmctl mode
	assert_line mixed
	no_node_is_out
}

@test "a job on two nodes, one off in its mode and one on in another, starts when both have it" {
	put_in memory n1
	put_in appdirect n2
	suspend n1
	run_srun -N2 --pm-mode=memory pmctl mode
	assert_equal "$(grep -cx memory <<<"$output")" 2
	no_node_is_out
}

@test "ResumeProgram fails: the job runs on another node, and the node that comes back late serves in its mode" {
	put_in appdirect n1 n2
	suspend n1
	admin scontrol update nodename=n2 state=drain reason=later
	touch "$(bench_dir)/fail-on"
	submit --pm-mode=memory
	wait_for 20 node_is n1 POWERING_UP
	admin scontrol update nodename=n2 state=resume
	wait_for 90 node_is n1 DOWN
	run node_field n1 %E
	assert_output 'ResumeTimeout reached'
	rm "$(bench_dir)/fail-on"
	wait_for 90 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	bench power on n1
	wait_for 60 state_is n1 idle
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_line appdirect
	no_node_is_out
}

# A slurmd that has just started looks for jobs that wait for its node's boot, and changes the mode for them by itself: recheck.h.
has_looked() {
	awk '/slurmd started on/ { looked = 0 } /pm: looked for orders/ { looked = 1 } END { exit !looked }' "$(bench_dir)/log/slurmd.$1.log"
}

@test "SuspendProgram fails: the node stays on and the job runs on another; scontrol resumes the node in its mode" {
	put_in appdirect n1 n2
	wait_for 60 has_looked n1
	touch "$(bench_dir)/fail-off"
	admin scontrol update nodename=n2 state=drain reason=later
	submit --pm-mode=memory
	wait_for 20 node_is n1 POWERING_UP
	wait_for 90 node_is n1 DOWN
	rm "$(bench_dir)/fail-off"
	admin scontrol update nodename=n2 state=resume
	wait_for 90 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	bench power off n1
	admin scontrol update nodename=n1 state=resume
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_line appdirect
	no_node_is_out
}

@test "a node with data that must stay: it wakes, keeps its mode, and the job runs on another node" {
	put_in appdirect n1 n2
	suspend n1
	keep_pmctl # while n1 is off: else it may tell slurmctld before, and is never woken
	pmctl_in_case "'n1 helper pm_memory') echo 'pmctl: data is in the way' >&2; exit 1 ;;
		'n1 reachable') echo pm_appdirect; echo 'pmctl: data is in the way' >&2; exit ;;"
	admin scontrol update nodename=n2 state=drain reason=later
	submit --pm-mode=memory
	wait_for 90 job_has_left_n1
	admin scontrol update nodename=n2 state=resume
	wait_for 90 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	run bench node n1 pmctl mode
	assert_output appdirect
	put_pmctl_back
	wait_for 60 state_is n1 idle
	no_node_is_out
}

job_has_left_n1() { state_is n1 idle && job_is "$job" PENDING; }

@test "pmctl cluster has a node that is off among the idle ones, and pmem.lua among those that boot first" {
	local modes
	modes=$(bench_dir)/run/controller/modes
	put_in appdirect n1 n2
	wait_for 30 grep -q 'pm_appdirect=2 .*could:pm_appdirect=0' "$modes"
	suspend n1
	wait_for 30 grep -q 'pm_appdirect=1 .*could:pm_appdirect=1' "$modes"
	run admin "${PM_BUILD:-$TOP/build}/pmctl" --config "$(bench_dir)/etc/pmem.conf" cluster --json
	assert_output --regexp '"busy": ?0'
	refute_output --regexp '"busy": ?[1-9]'
}

@test "without pm-controller a job on a node that is off waits until it is awake in its mode" {
	put_in appdirect n1
	suspend n1
	bench service kill
	run_salloc -w n1 --pm-mode=memory srun pmctl mode
	bench service start
	assert_line memory
	no_node_is_out
}

# suspended OPTION...: a job on n1 that counts, and stands. Its number is in $stood, what it writes in $count.
suspended() {
	count=$(bench_dir)/home/count.$BATS_TEST_NUMBER
	rm -f "$count"
	run_client sbatch --parsable -w n1 "$@" --output=/dev/null --wrap="i=0; while :; do i=\$((i + 1)); echo \$i >$count; sleep 0.2; done"
	stood=${output##*$'\n'}
	wait_for 60 test -s "$count"
	admin scontrol suspend "$stood"
	wait_for 30 job_is "$stood" SUSPENDED
	wait_for 30 stands
}

stands() {
	local before
	before=$(cat "$count")
	sleep 1
	[ "$(cat "$count")" = "$before" ]
}

# The same process counts on from where it stood.
goes_on() {
	local before boot=$1
	before=$(cat "$count")
	assert_equal "$(boot_id n1)" "$boot"
	admin scontrol resume "$stood"
	wait_for 30 job_is "$stood" RUNNING
	wait_for 30 eval '[ "$(cat "$count")" -gt '"$before"' ]'
	[ "$(cat "$count")" -ge "$before" ]
	run job_field "$stood" Restarts
	assert_output Restarts=0
}

waits_for_n1() { state_is n1 idle && job_is "$1" PENDING && [[ $(job_field "$1" Restarts) != Restarts=0 ]]; }

# stands_on_n1 OPTION...: suspended, while n1 is in App Direct. n1's boot is in $boot, and the site's programs have not run since.
stands_on_n1() {
	put_in appdirect n1
	suspended "$@"
	boot=$(boot_id n1)
	: >"$(power_log)"
}

# memory_is_turned_away OPTION...: a job in memory mode that wants n1, where a job stands. n1 stays on.
memory_is_turned_away() {
	submit --pm-mode=memory "$@"
	wait_for 120 waits_for_n1 "$job"
	run ! was_called 'off .*n1.*'
}

# memory_follows: the job that stands on n1 goes on; when it has ended, the one that was turned away gets its mode.
memory_follows() {
	goes_on "$boot"
	bench scancel "$stood"
	wait_for 180 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	no_node_is_out
}

@test "scontrol suspend: pm-resume leaves the node on for a job of another mode, which waits until the suspended one has ended" {
	local stood count boot
	stands_on_n1 --pm-mode=appdirect
	memory_is_turned_away -w n1
	memory_follows
}

@test "scontrol suspend: a job of another mode on two nodes turns off the one without a suspended job alone" {
	local stood count boot
	put_in appdirect n2
	stands_on_n1 --pm-mode=appdirect
	memory_is_turned_away -N2
	was_called 'on n2 pm_memory.*'
	memory_follows
}

@test "scontrol suspend of a job without a mode: its node stays on for a job with one" {
	local stood count boot
	stands_on_n1
	memory_is_turned_away -w n1
	memory_follows
}

@test "SuspendTime and power_down leave a node with a suspended job on, until that has ended" {
	local stood count boot state
	put_in appdirect n1
	with_power 's/^SuspendTime=.*/SuspendTime=6/;$aSuspendExcNodes=n2'
	suspended --pm-mode=appdirect
	boot=$(boot_id n1)
	: >"$(power_log)"
	sleep 12
	for state in power_down power_down_asap; do
		admin scontrol update nodename=n1 state=$state
		sleep 3
	done
	run cat "$(power_log)"
	assert_output ''
	goes_on "$boot"
	bench scancel "$stood"
	wait_for 60 was_called 'off n1'
	wait_for 30 node_is n1 POWERED_DOWN
	wake n1
}

is_held() { job_is "$1" PENDING && [ "$(job_field "$1" Priority)" = Priority=0 ]; }

@test "scontrol suspend of a job for which its node changes: it is requeued and held, and runs in its mode when it is released" {
	with_power 's/^SlurmdDebug=.*/SlurmdDebug=debug2/'
	start_change
	admin scontrol suspend "$job"
	wait_for 30 is_held "$job"
	bench power-cycle n1
	wait_for 60 is_awake n1
	release_suspended "$job"
	assert_equal "$(cat "$out")" 'memory memory'
	no_node_is_out
}

# start_slurmctld OPTION...: anew, with these as SLURMCTLD_OPTIONS.
start_slurmctld() {
	printf '%s\n' '#!/bin/sh' "exec /usr/sbin/slurmctld \"\$@\" $*" >"$(bench_dir)/bin/slurmctld"
	chmod 755 "$(bench_dir)/bin/slurmctld"
	bench restart-slurmctld
}

@test "slurmctld -R restarts while a node is off: a job of another mode wakes it, and gets its mode" {
	put_in appdirect n1
	suspend n1
	start_slurmctld -R
	run node_field n1 %f
	assert_output --partial pm_memory
	submit -w n1 --pm-mode=memory
	wait_for 90 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	no_node_is_out
}

@test "pm-controller says at its start that slurmctld runs without -R" {
	local log says='^slurmctld runs without -R: a slurmctld that restarts knows no mode of nodes that power saving has turned off'
	log=$(bench_dir)/log/pm-controller.out
	start_slurmctld -vRi
	: >"$log"
	bench service start
	wait_for 60 nodes_have_modes
	run ! grep "$says" "$log"
	start_slurmctld -v -n -5 -L "$(bench_dir)/log/slurmctld.log"
	bench service start
	wait_for 20 grep -q "$says" "$log"
	wait_for 60 nodes_have_modes # for the next test: slurmctld has forgotten them
}

@test "scontrol reboot, as the plugin orders it, goes by RebootProgram as without power saving" {
	local before
	put_in appdirect n1
	before=$(boot_id n1)
	: >"$(power_log)"
	admin scontrol reboot n1
	wait_for 60 eval '[ "$(boot_id n1)" != "$before" ]'
	wait_for 60 state_is n1 idle
	run cat "$(power_log)"
	assert_output ''
}

# modes_are_known MODE NODE...: slurmctld 24.11 forgets the mode of a node that it turns off, and pm-controller tells it anew.
modes_are_known() {
	local mode=$1 node
	shift
	for node in "$@"; do
		[ "$(active_mode "$node")" = "pm_$mode" ] || return 1
	done
}
active_mode() { admin sinfo -hN -p main -n "$1" -o %b | grep -oE 'pm_[a-z]+'; }

# slurmctld 24.11 wakes a node for a job of another mode whatever the job's DelayBoot.
# site_limits LINE...: pmem.conf has these, slurm.conf has the licence by which jobs wait, and pm-controller knows of both.
site_limits() {
	with_power '$aLicenses=pm_wait:1000000'
	with_site "$@"
	bench service start
}

# pm-controller looks each 5 s, and Slurm schedules within a few.
stays_pending() {
	local waiting
	sleep 12
	for waiting in "$@"; do
		job_is "$waiting" PENDING
	done
}

@test "RebootHours: outside of them no node that is on changes its mode; within them it does" {
	put_in appdirect n1 n2
	site_limits "RebootHours=$(other_hours)"
	: >"$(power_log)"
	submit --pm-mode=memory --time=5
	stays_pending "$job"
	run cat "$(power_log)"
	assert_output ''
	site_limits RebootHours=00:00-24:00
	wait_for 120 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	no_node_is_out
}

@test "RebootHours: outside of them a node that is off wakes in its mode alone" {
	put_in memory n1 n2
	site_limits "RebootHours=$(other_hours)"
	suspend n1 n2
	wait_for 30 modes_are_known memory n1 n2
	submit --pm-mode=memory --time=5
	wait_for 90 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	suspend n1 n2
	wait_for 30 modes_are_known memory n1 n2
	submit --pm-mode=appdirect --time=5
	stays_pending "$job"
	node_is n1 POWERED_DOWN
	node_is n2 POWERED_DOWN
	no_node_is_out
}

# The nodes that the site's program has turned on, be it once to wake and once more to change the mode.
woken() { sed -n 's/^on \([^ ]*\) .*/\1/p' "$(power_log)" | sort -u; }
count_woken() { woken | wc -l; }

@test "RebootHours: outside of them no node wakes in another mode for a job that names it, waits for another job or for its time" {
	local jobs=() first
	put_in memory n1 n2
	site_limits "RebootHours=$(other_hours)"
	submit -w n2 --pm-mode=memory --time=5
	first=$job
	suspend n1
	wait_for 30 modes_are_known memory n1
	: >"$(power_log)"
	for option in --dependency=afterany:"$first" --begin=now+5 --nodelist=n1 --exclude=n2 --constraint=rack1; do
		submit "$option" --pm-mode=appdirect --time=5
		jobs+=("$job")
	done
	wait_for 90 job_is "$first" COMPLETED
	stays_pending "${jobs[@]}"
	assert_equal "$(woken)" ''
	assert modes_are_known memory n1 n2
	submit -w n1 --pm-mode=memory --time=5
	wait_for 90 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	no_node_is_out
}

@test "RebootUsers and RebootTimeLimit: a node that is off wakes in its mode alone for users and jobs that may cause no reboot" {
	local jobs=()
	put_in memory n1 n2
	site_limits RebootUsers=root
	suspend n1 n2
	wait_for 30 modes_are_known memory n1 n2
	submit --pm-mode=memory
	wait_for 90 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	suspend n1 n2
	wait_for 30 modes_are_known memory n1 n2
	: >"$(power_log)"
	submit --pm-mode=appdirect
	jobs+=("$job")
	submit -w n2 --pm-mode=mixed
	jobs+=("$job")
	stays_pending "${jobs[@]}"
	assert_equal "$(woken)" ''
	run -0 user_pmctl explain "${jobs[0]}"
	assert_output --partial 'RebootUsers or RebootTimeLimit of pmem.conf lets no node be rebooted for the job'
	with_site RebootTimeLimit=10
	bench service start
	submit --pm-mode=appdirect --time=5
	stays_pending "$job"
	assert_equal "$(woken)" ''
	with_site
	no_node_is_out
}

# The node itself: a job that was given it all the same is turned away.
@test "RebootUsers without pm-controller: a node that is off keeps its mode, and the job waits" {
	put_in memory n1 n2
	site_limits RebootUsers=root
	suspend n1
	wait_for 30 modes_are_known memory n1
	bench service kill
	rm -f "$(bench_dir)/run/controller/leases"
	submit -w n1 --pm-mode=appdirect
	if is_slurm 24.11; then
		wait_for 60 was_called "on n1 pm_appdirect job $job"
		wait_for 60 is_awake n1
	fi
	stays_pending "$job"
	bench service start
	run bench node n1 pmctl mode
	assert_output memory
	no_node_is_out
}

@test "RebootsPerDay: one of three jobs changes a node that is on; one of another mode waits" {
	put_in appdirect n1 n2
	site_limits RebootsPerDay=1
	forget_reboots
	: >"$(power_log)"
	submit --pm-mode=memory --time=5 --array=1-3
	wait_for 180 tasks_are 3 COMPLETED
	assert_equal "$(count_woken)" 1
	submit --pm-mode=mixed --time=5
	stays_pending "$job"
	assert_equal "$(count_woken)" 1
	no_node_is_out
}

@test "RebootsPerDay: a node that is off and wakes in another mode counts" {
	put_in appdirect n1 n2
	site_limits RebootsPerDay=1
	suspend n1 n2
	wait_for 30 modes_are_known appdirect n1 n2
	forget_reboots
	: >"$(power_log)"
	submit --pm-mode=memory --time=5
	wait_for 180 job_is "$job" COMPLETED
	: >"$(power_log)"
	submit --pm-mode=mixed --time=5
	stays_pending "$job"
	assert_equal "$(woken)" ''
	no_node_is_out
}

@test "MostNodes and LeastNodes: no more nodes that are off wake in a mode, and no more leave one" {
	put_in appdirect n1 n2
	site_limits MostNodes=memory:1
	suspend n1 n2
	wait_for 30 modes_are_known appdirect n1 n2
	: >"$(power_log)"
	submit --pm-mode=memory --time=5 --array=1-3
	wait_for 180 tasks_are 3 COMPLETED
	assert_equal "$(count_woken)" 1
	: >"$(power_log)"
	with_site LeastNodes=appdirect:1
	bench service start
	submit --pm-mode=mixed --time=5 -N2
	stays_pending "$job"
	assert_equal "$(woken)" ''
	no_node_is_out
}

# slurmctld 24.11 orders no change for a CLOUD node that is on: the job waits until SuspendTime has turned it off.
@test "CLOUD nodes change their mode, on 24.11 when SuspendTime has turned them off" {
	put_in appdirect n1
	with_power '/^NodeName=n1 /s/$/ State=CLOUD/;s/^SuspendTime=.*/SuspendTime=8/;$aSuspendExcNodes=n2'
	submit -w n1 --pm-mode=memory
	wait_for 120 job_is "$job" COMPLETED
	assert_equal "$(cat "$out")" 'memory memory'
	: >"$(power_log)"
	wait_for 60 was_called 'off n1'
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_line appdirect
	no_node_is_out
}

@test "pm-resume turns nothing off that it could not turn on, and says what is missing" {
	put_in appdirect n1
	: >"$(power_log)"
	with_site SiteResumeProgram=none
	run admin pm-resume n1 pm_memory
	assert_failure
	assert_output "pm-resume: SiteResumeProgram=none in pmem.conf, not turning on n1: name the site's program that turns nodes on"
	with_site SiteResumeProgram=/no/such
	run admin pm-resume n1 pm_memory
	assert_failure
	assert_output "pm-resume: run '/no/such', SiteResumeProgram of pmem.conf: No such file or directory"
	run cat "$(power_log)"
	assert_output ''
}

@test "pm-controller says at its start what is missing for changes of mode" {
	local log
	log=$(bench_dir)/log/pm-controller.out
	: >"$log"
	bench service start
	run grep -E 'ResumeProgram=' "$log"
	assert_failure
	with_site SiteResumeProgram=none
	bench service start
	wait_for 20 grep -q "^SiteResumeProgram=none: with ResumeProgram=$(bench_dir)/bin/pm-resume in slurm.conf, pmem.conf must name" "$log"
	restore_site
	with_power "s|^ResumeProgram=.*|ResumeProgram=$(bench_dir)/bin/site-resume|"
	wait_for 20 grep -q "^ResumeProgram=$(bench_dir)/bin/site-resume: with power saving no node that is on changes its mode" "$log"
}
