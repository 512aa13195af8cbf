#!/usr/bin/env bats
# What administrators do with nodes stays as they left it, whenever they come: before we act, meanwhile, after.
# shellcheck disable=SC2016 # the single quotes are for the shell in the programs

setup() {
	load helper
	clean_nodes
	put_in appdirect n1
	let_epilogs_end
	real=$(bench_dir)/bin
}

teardown() {
	cancel_jobs
	restore_site
	sed -i "s|^ScontrolPath=.*|ScontrolPath=$real/scontrol|" "$(bench_dir)/n1/pmem.conf"
}

# An administrator's drain, to be run by a program.
drain_n1() {
	echo "$real/scontrol update nodename=n1 state=drain 'reason=fan of node 1'"
}

# end_needs_reboot PMCTL SCONTROL: a job ends on n1, and only a reboot takes back what it had. PMCTL runs before
# the epilog knows, SCONTROL whenever the plugin has something to say to the controller; its words are in $*.
end_needs_reboot() {
	before=$(boot_id n1)
	with_site "PmctlPath=$(program pmctl "[ \"\$2\" != end ] || { $1
echo 'pmctl: job end: memory stays' >&2; exit 5; }
exec $real/pmctl \"\$@\"")" "ScontrolPath=$(program scontrol "$2
exec $real/scontrol \"\$@\"")"
	run_srun -w n1 --pm-mode=appdirect true
	wait_for 40 is_rebooted n1 "$before"
	wait_for 20 is_settled n1
	bench node n1 "$real/pm-reachable"
}

is_rebooted() {
	[ "$(boot_id "$1")" != "$2" ]
}

has_ended() {
	[[ $(admin scontrol -o show node "$1") != *State=*COMPLETING* ]]
}

is_settled() {
	[[ $(node_field "$1" %T) =~ ^(idle|drained)$ ]]
}

@test "a drain from before the epilog's reboot stays, with its reason" {
	end_needs_reboot "$(drain_n1)" :
	assert_drained n1 'fan of node 1'
}

@test "a drain that comes between the epilog and the reboot's order stays, with its reason" {
	end_needs_reboot : "[ \$1 != reboot ] || $(drain_n1)"
	assert_drained n1 'fan of node 1'
}

@test "a drain from between the epilog's order and the reboot stays, with its reason" {
	end_needs_reboot : "case \$* in *state=drain*) $real/scontrol \"\$@\"; $(drain_n1); exit ;; esac"
	assert_drained n1 'fan of node 1'
}

@test "a drain that comes while the node is away stays, with its reason" {
	# Once: slurmd's second look comes when this test may be over.
	end_needs_reboot : "[ \"\$2 \$3\" != 'show node' ] || ! rm $BATS_TEST_TMPDIR/ordered 2>/dev/null || $(drain_n1)
[ \$1 != reboot ] || touch $BATS_TEST_TMPDIR/ordered"
	assert_drained n1 'fan of node 1'
}

@test "a drain that comes just when the node is taken back stays, with its reason" {
	# By slurmd's start, which comes before the node is up for slurmctld. The health check, which may come later, is kept from it.
	sed -i "s|^ScontrolPath=.*|ScontrolPath=$(program refusing "case \$* in *state=undrain*) exit 1 ;; esac
exec $real/scontrol \"\$@\"")|" "$(bench_dir)/n1/pmem.conf"
	end_needs_reboot : "case \$* in *state=undrain*) touch $BATS_TEST_TMPDIR/undrained; $(drain_n1) ;; esac"
	[ -e "$BATS_TEST_TMPDIR/undrained" ]
	assert_drained n1 'fan of node 1'
}

@test "a reboot of the epilog's is taken back by the health check where slurmd's start could not" {
	end_needs_reboot : "case \$* in *state=undrain*) exit 1 ;; esac"
	wait_for 20 state_is n1 idle
}

@test "a fault does not replace the reason of an administrator's drain" {
	with_site "PmctlPath=$(program pmctl "[ \"\$2\" != end ] || { $(drain_n1); touch $BATS_TEST_TMPDIR/ended
echo 'pmctl: job end: cannot wipe' >&2; exit 1; }
exec $real/pmctl \"\$@\"")"
	run_srun -w n1 --pm-mode=appdirect true
	wait_for 10 test -e "$BATS_TEST_TMPDIR/ended"
	wait_for 10 has_ended n1
	assert_drained n1 'fan of node 1'
}

@test "nor does a node that is unfit when its slurmd starts" {
	admin scontrol update nodename=n1 state=drain 'reason=fan of node 1'
	with_site "PmctlPath=$(program pmctl "[ \$1 != health ] || { touch $BATS_TEST_TMPDIR/asked; echo unfit >&2; exit 1; }
exec $real/pmctl \"\$@\"")"
	bench restart-slurmd n1
	wait_for 10 test -e "$BATS_TEST_TMPDIR/asked"
	wait_for 10 is_settled n1
	sleep 1
	assert_drained n1 'fan of node 1'
}

@test "a node with a refused change is not taken back over an administrator's drain" {
	local conf
	conf=$(bench_dir)/n1/pmem.conf
	admin scontrol update nodename=n1 state=drain 'reason=fan of node 1'
	admin scontrol update nodename=n1 state=down "reason=Failed to set node feature(s): 'pm_memory'"
	with_site "PmctlPath=$(program held "[ \$1 != reachable ] ||
	{ echo pm_appdirect; echo 'pmctl: namespace0.0 is foreign' >&2; exit 0; }
exec $real/pmctl \"\$@\"")"
	PM_BENCH=$PM_BENCH bench node n1 "$(bench_dir)/lib/pm-reachable" "config=$(bench_dir)/etc/pmem.conf"
	# A registration that comes just then has slurmctld call the node up again, drained all the same.
	run admin scontrol show node n1
	assert_output --regexp 'State=(DOWN|IDLE)\+DRAIN'
}

@test "a node that has a reason of earlier is back after a reboot of the epilog's" {
	admin scontrol update nodename=n1 reason='of an earlier time'
	end_needs_reboot : :
	wait_for 20 state_is n1 idle
}

# What slurmctld says where it misread the percentage; the bench's nodes have more memory than configured.
LOW='Low RealMemory (reported:200 < 100.00% of configured:256)'

@test "pm-reregister gives back what slurmctld took for too small, and nothing that was drained meanwhile" {
	local script=$TOP/controller/pm-reregister
	admin scontrol update nodename=n1 state=drain "reason=$LOW"
	admin scontrol update nodename=n2 state=drain "reason=$LOW"
	mkdir "$BATS_TEST_TMPDIR/bin"
	# Behind its second look, which is with the percentage.
	mv "$(program sinfo "/usr/bin/sinfo \"\$@\"; echo >>$BATS_TEST_TMPDIR/looks
[ \$(wc -l <$BATS_TEST_TMPDIR/looks) != 2 ] || $(drain_n1)")" "$BATS_TEST_TMPDIR/bin"
	admin env PATH="$BATS_TEST_TMPDIR/bin:$real:$PATH" RUNTIME_DIRECTORY="$BATS_TEST_TMPDIR" "$script"
	assert_drained n1 'fan of node 1'
	wait_for 20 state_is n2 idle
}

# age_goal NODE: what was staged was staged an hour ago.
age_goal() {
	sed -i -E 's/("ordered_s": ?)[0-9]+/\10/' "$(bench_dir)/$1/state/journal.json"
}

active_is_true() {
	[[ ,$(node_field "$1" %b), == *,pm_$(bench node "$1" pmctl mode),* ]]
}

# submit_for_change: a job that waits for n1 to change its mode; it is in $job.
submit_for_change() {
	admin scontrol update nodename=n2 state=drain reason=test
	before=$(boot_id n1)
	run_client sbatch --parsable --pm-mode=memory --output="$(bench_dir)/home/change.%j" --wrap 'pmctl mode'
	job=$output
}

is_back() {
	is_rebooted n1 "$before" && state_is n1 idle && active_is_true n1
}

@test "an administrator's reboot does not apply the goal of a job that is gone" {
	local command
	for command in 'scontrol reboot n1' 'scontrol reboot ASAP n1'; do
		bench node n1 pmctl helper pm_memory
		age_goal n1
		before=$(boot_id n1)
		admin $command
		wait_for 30 is_back
		run bench node n1 pmctl mode
		assert_output appdirect
	done
}

@test "an administrator's reboot applies the goal that an administrator has staged, and serves" {
	bench node n1 pmctl set memory
	before=$(boot_id n1)
	admin scontrol reboot ASAP n1
	wait_for 30 is_back
	run bench node n1 pmctl mode
	assert_output memory
}

@test "a job that is cancelled while its node changes leaves a node that tells its mode and serves" {
	submit_for_change
	wait_for 20 job_is "$job" CONFIGURING || wait_for 5 job_is "$job" RUNNING
	admin scancel "$job"
	wait_for 60 is_back
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_output appdirect
}

@test "a job that is requeued while its node changes runs in its mode" {
	submit_for_change
	wait_for 20 has_state n1 POWERING_UP
	admin scontrol requeue "$job"
	wait_for 100 job_is "$job" COMPLETED
	run cat "$(bench_dir)/home/change.$job"
	assert_output memory
	wait_for 10 state_is n1 idle
	active_is_true n1
}

has_state() {
	[[ $(admin scontrol -o show node "$1") == *State=*"$2"* ]]
}

@test "a reservation for maintenance that begins while a node changes drains nothing" {
	submit_for_change
	wait_for 20 has_state n1 POWERING_UP
	admin scontrol create reservationname=maint nodes=n1 users=root starttime=now duration=5 flags=maint,ignore_jobs
	wait_for 60 is_rebooted n1 "$before"
	wait_for 60 job_is "$job" COMPLETED
	admin scontrol delete reservationname=maint
	run cat "$(bench_dir)/home/change.$job"
	assert_output memory
	wait_for 20 is_back
}

@test "a power cut while a node changes drains nothing, and the job runs in its mode" {
	submit_for_change
	wait_for 20 has_state n1 POWERING_UP
	bench power-cycle n1
	wait_for 100 job_is "$job" COMPLETED
	run cat "$(bench_dir)/home/change.$job"
	assert_output memory
	wait_for 20 is_back
}

@test "a job's reboot that fails leaves no goal, and the controller knows the mode" {
	local conf
	conf=$(bench_dir)/n1/pmem.conf
	sed -i "s|^RebootCommand=.*|RebootCommand=/bin/false|" "$conf"
	submit_for_change
	wait_for 20 grep -q '"state": *"undone"' "$(bench_dir)/n1/state/journal.json"
	wait_for 10 active_is_true n1
	admin scancel "$job"
	sed -i "s|^RebootCommand=.*|RebootCommand=$real/reset n1|" "$conf"
	before=$(boot_id n1)
	bench power-cycle n1
	wait_for 60 is_back
	run bench node n1 pmctl mode
	assert_output appdirect
}

@test "an administrator's reboot ends a job's wait: the node is not drained, and the job runs in its mode" {
	local conf
	conf=$(bench_dir)/n1/pmem.conf
	# The job's own reboot does not come about, and leaves the goal.
	sed -i "s|^RebootCommand=.*|RebootCommand=/bin/true|" "$conf"
	submit_for_change
	wait_for 20 grep -q '"state": *"rebooting"' "$(bench_dir)/n1/state/journal.json"
	age_goal n1
	sed -i "s|^RebootCommand=.*|RebootCommand=$real/reset n1|" "$conf"
	bench node n1 pmctl reboot
	wait_for 100 job_is "$job" COMPLETED
	run cat "$(bench_dir)/home/change.$job"
	assert_output memory
	wait_for 20 is_back
}

@test "pm-reachable that goes on after a refused reboot keeps no file of slurmd open, which ran it" {
	local file
	file=$(bench_dir)/home/of-slurmd
	bench node n1 sh -c "exec 9>$file; pm-reachable refused"
	# The link of a file descriptor, of whatever process.
	run sh -c "find /proc/[0-9]*/fd -lname $file 2>/dev/null"
	assert_output ''
}
