# Loaded by each file: the bench's commands as wrappers of `run`, and the nodes as tests want them.
bats_load_library bats-support
bats_load_library bats-assert

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
LIMIT_S=60

bench() {
	timeout --kill-after=5 "$LIMIT_S" "$TOP/tests/cluster/bench" "$@" 3>&-
}

bench_dir() {
	cat "$PM_BENCH"
}

# is_slurm SERIES: the bench's, such as 22.05.
is_slurm() {
	[[ $(bench sinfo --version) = "slurm-wlm $1."* ]]
}

# Until no epilog runs any more.
let_epilogs_end() {
	local end=$((SECONDS + 20))
	while [[ $(bench sinfo -hN -o %T) == *completing* && $SECONDS -lt $end ]]; do
		sleep 0.1
	done
}

# Out of $output: which nodes reboot for the job, and that it waits for the end of an epilog, as that depends on the test
# before. 130-cluster.bats has our sentences.
drop_remarks() {
	local ours='pm: (.* into mode .* for this job|.* back after |[^ ]+ came back in mode )'
	local slurms='job [0-9]+ (queued and waiting for|has been allocated) resources$'
	output=$(grep -Ev "^(srun|salloc): ($ours|$slurms)" <<<"$output" || true)
	mapfile -t lines <<<"$output"
	[ -n "$output" ] || lines=()
}

# run_client COMMAND [RC] ARGUMENT...: as the ordinary user; it must end with RC, 0 unless said.
run_client() {
	local command=$1 wanted=0
	shift
	if [[ $1 =~ ^[0-9]+$ ]]; then
		wanted=$1
		shift
	fi
	run bench "$command" "$@"
	drop_remarks
	# shellcheck disable=SC2154 # set by run
	if [ "$status" -ne "$wanted" ]; then
		fail "'$command $*' ended with $status instead of $wanted: $output"$'\n'"$(bench status)"
	fi
}

pmctl_program() {
	echo "${PM_BUILD:-$TOP/build}/pmctl"
}

# As the ordinary user, on the host of the controller.
user_pmctl() {
	bench user "$(pmctl_program)" --config "$(bench_dir)/etc/pmem.conf" "$@"
}

run_srun() {
	run_client srun "$@"
}

run_salloc() {
	run_client salloc "$@"
}

# run_sbatch [RC] OPTION...: a script from stdin, waited for; what it printed is then in $output.
run_sbatch() {
	local script out
	script=$(mktemp "$(bench_dir)/home/job.XXXXXX")
	out=$script.out
	cat >"$script"
	chmod 755 "$script"
	run_client sbatch "$@" --wait --output="$out" --open-mode=append "$script"
	[ ! -e "$out" ] || run cat "$out"
}

# job_field JOB NAME: what the controller holds of it, "NAME=value".
job_field() {
	admin scontrol -o show job "$1" | grep -o "$2=[^ ]*"
}

# job_is JOB STATE
job_is() {
	[ "$(job_field "$1" JobState)" = "JobState=$2" ]
}

# A held job's number in $output, for looking at what the controller made of its request.
submit_held() {
	run_client sbatch --parsable --hold "$@" --wrap=true
}

# Of this bench: a test may have two.
kept_site() { echo "$BATS_TEST_TMPDIR/site.$(basename "$(bench_dir)")"; }

# with_site LINE...: behind pmem.conf as the bench has it; restore_site in the test's teardown.
with_site() {
	local conf kept
	conf=$(bench_dir)/etc/pmem.conf
	kept=$(kept_site)
	[ -e "$kept" ] || cp "$conf" "$kept"
	{ cat "$kept"; printf '%s\n' "$@"; } >"$BATS_TEST_TMPDIR/site.next"
	replace "$BATS_TEST_TMPDIR/site.next" "$conf"
}

restore_site() {
	local kept
	kept=$(kept_site)
	[ ! -e "$kept" ] || replace "$kept" "$(bench_dir)/etc/pmem.conf"
}

nodes_have_modes() {
	[ "$(admin sinfo -hN -n n1,n2 -o '%N %f' | sort -u | grep -c pm_memory)" = 2 ]
}

# with_slurm_conf SED: restore_slurm_conf in the test's teardown. slurmctld 24.11 knows no modes until nodes register anew.
with_slurm_conf() {
	local conf
	conf=$(bench_dir)/etc/slurm.conf
	cp "$conf" "$BATS_TEST_TMPDIR/slurm.conf"
	sed -i "$1" "$conf"
	admin scontrol reconfigure
	wait_for 60 nodes_have_modes
}

restore_slurm_conf() {
	[ -e "$BATS_TEST_TMPDIR/slurm.conf" ] || return 0
	cp "$BATS_TEST_TMPDIR/slurm.conf" "$(bench_dir)/etc/slurm.conf"
	admin scontrol reconfigure
}

# slurmctld, pm-controller, and the slurmds of n1 and n2, as after an edit of slurm.conf.
restart_all() {
	bench restart-slurmctld
	bench service start
	bench restart-slurmd n1
	bench restart-slurmd n2
	wait_for 60 nodes_have_modes
}

# make_configless ADDRESS:PORT,...: the nodes have no file of Slurm's, they ask these slurmctlds. For a bench of the file's own.
make_configless() {
	local dir node program
	dir=$(bench_dir)
	sed -i 's|^include .*|include slurm-pmem.conf|; /^PlugStackConfig/d' "$dir/etc/slurm.conf"
	sed -i 's/^SlurmctldParameters=.*/&,enable_configless/' "$dir/etc/slurm-pmem.conf"
	cp "$dir/etc/plugstack.conf.d/pmem.conf" "$dir/etc/plugstack.conf" # 22.05 serves no file that it includes
	for program in scontrol scancel squeue pm-reachable; do
		sed -i '/^export SLURM_CONF/d' "$dir/bin/$program"
	done
	bench restart-slurmctld
	for node in n1 n2; do
		echo "$1" >"$dir/$node/conf-server"
		bench restart-slurmd $node
	done
	wait_for 60 nodes_have_modes
}

slurmctld_port() {
	sed -n 's/^SlurmctldPort=//p' "$(bench_dir)/etc/slurm.conf"
}

# replace FROM TO: as a whole. A daemon may be reading or executing it; what is open for writing is not executed (ETXTBSY).
replace() {
	cp -p "$1" "$2.new"
	mv -f "$2.new" "$2"
}

# program NAME LINES: a script; prints its path.
program() {
	printf '%s\n' '#!/bin/sh' "$2" >"$BATS_TEST_TMPDIR/$1"
	chmod 755 "$BATS_TEST_TMPDIR/$1"
	echo "$BATS_TEST_TMPDIR/$1"
}

# keep_pmctl: what the bench's nodes run as pmctl, for put_pmctl_back in the test's teardown.
keep_pmctl() {
	cp "$(bench_dir)/bin/pmctl" "$BATS_TEST_TMPDIR/pmctl.kept"
}

put_pmctl_back() {
	replace "$BATS_TEST_TMPDIR/pmctl.kept" "$(bench_dir)/bin/pmctl"
}

# pmctl_in_case CASES: sh's cases of "NODE ARGUMENT...", tried before what keep_pmctl has kept.
pmctl_in_case() {
	local lines
	lines="case \"\$SLURMD_NODENAME \$*\" in
$1
esac
$(tail -n 1 "$BATS_TEST_TMPDIR/pmctl.kept")"
	replace "$(program pmctl.cases "$lines")" "$(bench_dir)/bin/pmctl"
}

admin() {
	bench exec "$@"
}

# bench_pids PROGRAM [VARIABLE]: of the bench's daemons, as the host numbers them, those with the variable in their
# environment.
bench_pids() {
	local pid environment
	for pid in $(pgrep -x "$1"); do
		environment=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ") || continue # it has ended
		! grep -qx "PMBENCH=$(bench_dir)" <<<"$environment" || ! grep -qx "${2-.*}" <<<"$environment" || echo "$pid"
	done
}

# slurmctld's words for "the job's prolog has ended, and its nodes are there": not those of its 30 s pass.
started_at_once() {
	grep -q "prolog_running_decr: Configuration for JobId=$1 is complete" \
		"$(bench_dir)/log/slurmctld.log"
}

# node_field NODE FORMAT: one of sinfo's fields, such as %E (the reason); sinfo has a line for each partition.
node_field() {
	bench sinfo -hN -n "$1" -o "$2" | uniq
}

boot_id() {
	cat "$(bench_dir)/$1/machine/root/proc/sys/kernel/random/boot_id"
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		if [ $SECONDS -ge $end ]; then # a teardown goes on after a failure
			fail "still not after its time: $*"
			return 1
		fi
		sleep 0.1
	done
}

state_is() {
	[ "$(node_field "$1" %T)" = "$2" ]
}

resume() {
	local node
	for node in "$@"; do
		state_is "$node" idle || admin scontrol update nodename="$node" state=resume || true
		wait_for 60 state_is "$node" idle # slurmctld looks again every 30 s
	done
}

# Power that is cut before the order to reboot is obeyed would not meet the hung boot.
boot_hangs() {
	[ ! -e "$(bench_dir)/$1/fault" ]
}

# put_in MODE NODE...: by jobs, as a user would. The nodes are idle then: Slurm gives a job another one than it prefers at once,
# rather than let it wait for an epilog.
put_in() {
	local mode=$1 node
	shift
	for node in "$@"; do
		run_srun -w "$node" --pm-mode="$mode" true
	done
	let_epilogs_end
}

# change_behind NODE MODE: the node gets into another mode and Slurm knows nothing of it.
change_behind() {
	bench node "$1" pmctl set "$2"
	bench firmware "$1"
}

# put_lua FILE: as job_submit.lua. slurmctld reads it again when its time in seconds has grown.
put_lua() {
	local lua next
	lua=$(bench_dir)/etc/job_submit.lua
	next=$(($(stat -c %Y "$lua") + 1))
	replace "$1" "$lua"
	touch -d "@$next" "$lua"
}

# keep_lua before a test puts another one, restore_lua in its teardown.
keep_lua() {
	cp "$(bench_dir)/etc/job_submit.lua" "$BATS_TEST_TMPDIR/site.lua"
}

restore_lua() {
	[ -e "$BATS_TEST_TMPDIR/site.lua" ] || return 0
	cmp -s "$BATS_TEST_TMPDIR/site.lua" "$(bench_dir)/etc/job_submit.lua" || put_lua "$BATS_TEST_TMPDIR/site.lua"
}

# As where job_submit.lua does not call pmem.lua.
without_lua() {
	printf 'function slurm_job_%s() return slurm.SUCCESS end\n' submit modify >"$BATS_TEST_TMPDIR/none.lua"
	echo 'return slurm.SUCCESS' >>"$BATS_TEST_TMPDIR/none.lua"
	put_lua "$BATS_TEST_TMPDIR/none.lua"
}

none_completes() {
	[ -z "$(bench squeue -h -t completing)" ]
}

no_jobs() {
	[ -z "$(bench squeue -h)" ]
}

# A job of the test before may still be completing.
assert_nothing_queued() {
	wait_for 20 none_completes
	run bench squeue -h
	assert_output ''
}

nodes_are_in_service() {
	run bench sinfo -hN -o '%T %E'
	refute_output --partial drain
	refute_output --partial down
}

assert_drained() {
	run node_field "$1" %T
	assert_output --partial drain
	run node_field "$1" %E
	assert_output --partial "$2"
}

# release_suspended JOB: one that was suspended on n1 before it began, when n1 is up. An order to suspend that is still under way
# may meet the job's next run, which then stands: compatibility.md.
release_suspended() {
	wait_for 60 order_to_suspend_has_ended "$1"
	admin scontrol release "$1"
	wait_for 60 job_is "$1" COMPLETED
}

# slurmctld has brought all its orders, or given them up; and if n1's slurmd has got this one, it has found no step for it, which
# it says with SlurmdDebug=debug2.
order_to_suspend_has_ended() {
	local log
	log=$(bench_dir)/log/slurmd.n1.log
	[ "$(admin sdiag | grep -Ec '^Agent (queue size|count): +0$')" = 2 ] || return 1
	! grep -q "_rpc_suspend_job jobid=$1 " "$log" || grep -q "No steps in jobid $1 to suspend" "$log"
}

# "HH:MM-HH:MM" around the hour that is twelve hours away.
other_hours() {
	echo "$(date -d '11 hours' +%H):00-$(date -d '13 hours' +%H):00"
}

# shellcheck disable=SC2154 # job is set by the caller
# tasks_are NUMBER STATE: of the array $job.
tasks_are() {
	[ "$(admin scontrol show job "$job" | grep -c "JobState=$2")" = "$1" ]
}

# The reboots until now do not count.
forget_reboots() {
	bench service kill
	rm -f "$(bench_dir)/kept/reboots"*
	bench service start
}

# Until the next reboot: a hold lasts eight times as long as reboots take, and those of the bench last a second, or are over
# before pm-controller sees them.
reboots_cost_ten_minutes() { forget_reboots; }

# cancel_jobs [OPTION...]: of the ordinary user, by number: Slurm 26.05 takes the name nobody for no user.
cancel_jobs() {
	admin scancel -u 65534 "$@"
}

# Each test starts with idle nodes, no jobs and no fault waiting.
clean_nodes() {
	local node
	cancel_jobs -f >/dev/null 2>&1 || true
	wait_for 20 no_jobs
	let_epilogs_end
	for node in n1 n2; do
		[ ! -e "$(bench_dir)/$node/fault" ] || bench inject $node none
		resume $node
	done
}
