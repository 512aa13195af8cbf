#!/usr/bin/env bats
# Two SlurmctldHosts, each with a service of its own: the one serves that has the slurmctld in control beside it.

setup() {
	load ../slurm/helper
	nodes=(n1 n2 n3 n4)
	both_run
	cancel_jobs -f
	wait_for 20 no_jobs
	let_epilogs_end
	resume "${nodes[@]}"
	rm -f "$(bench_dir)/home/ran"
}

teardown() {
	local node
	[ -z "${asker-}" ] || kill "$asker"
	thaw
	for node in "${nodes[@]}"; do
		bench inject "$node" none
		state_is "$node" idle || bench power-cycle "$node"
	done
	cancel_jobs -f || true
}

# --- the controllers ---

log_of() {
	case $1 in
	primary) echo "$(bench_dir)/log/pm-controller.out" ;;
	backup) echo "$(bench_dir)/log/pm-controller.backup.out" ;;
	esac
}

serves() {
	grep 'slurmctld of this host' "$(log_of "$1")" | tail -n 1 | grep -q 'serving$'
}

stands_by() {
	! serves "$1"
}

slurmctld_runs() {
	admin scontrol ping | grep "$1" | grep -q 'is UP'
}

# The primary in control, the backup behind it. A primary that starts takes control again.
both_run() {
	slurmctld_runs primary || bench daemon start slurmctld primary
	wait_for 60 serves primary
	slurmctld_runs backup || bench daemon start slurmctld backup
	wait_for 60 slurmctld_runs backup
	wait_for 60 stands_by backup
	wait_for 60 all_have_modes
}

# A slurmctld that takes control knows no modes of some nodes until they register anew.
all_have_modes() {
	[ "$(admin sinfo -hN -o %f | grep -c pm_memory)" = ${#nodes[@]} ]
}

fail_over() {
	bench daemon kill slurmctld primary
	wait_for 60 serves backup
	wait_for 20 stands_by primary
}

# Its helper that runs prologs, and would end them, is killed first.
kill_script_daemon() {
	local pid
	for pid in $(bench_pids slurmctld); do
		[ -z "$(pgrep -P "$pid")" ] || [ "$(readlink "/proc/$pid/ns/uts")" != "$(readlink /proc/self/ns/uts)" ] ||
			pgrep -P "$pid" | xargs kill -KILL
	done
}

# In order: the primary saves its state, and its slurmctld ends.
take_over() {
	admin scontrol takeover
	wait_for 60 serves backup
	wait_for 20 stands_by primary
}

# Returns when what slurmctld knows now of the job is in its files: it writes them some seconds after a change.
save_state() {
	touch "$BATS_TEST_TMPDIR/before"
	sleep 1
	admin scontrol update job="$1" comment=saved
	wait_for 30 test "$(bench_dir)/state/job_state" -nt "$BATS_TEST_TMPDIR/before"
}

# ask HOST VERB...: pmctl on n1, of the service of that controller alone.
ask() {
	local ports number=1 conf
	[ "$1" = primary ] || number=2
	shift
	ports=$(cat "$(bench_dir)/service_port")
	conf=$(bench_dir)/n1/one-controller.conf
	{
		grep -v '^ControllerAddr=' "$(bench_dir)/n1/pmem.conf"
		echo "ControllerAddr=127.0.0.$number:$(cut -d' ' -f"$number" <<<"$ports")"
	} >"$conf"
	admin env SLURMD_NODENAME=n1 "$(bench_dir)/lib/pmctl" --config "$conf" "$@"
}

# ask_backup MESSAGE: of its service, over its socket, where root may ask as often as it likes.
ask_backup() {
	"$TOP/tests/slurm/ask.py" "$(bench_dir)/run/backup/controller/socket" ask "$1" 3>&-
}

# The service that stands by looks for its slurmctld when somebody asks, but not twice in a second. So it has usually just looked
# when slurmctld takes control and its prologs ask.
ask_backup_all_the_while() {
	while :; do
		ask_backup '{"type":"cluster"}' || true
		sleep 0.2
	done >/dev/null 2>&1 3>&- &
	asker=$!
}

# --- jobs ---

# count_prologs NAME: slurmctld's programs for jobs of this bench that run.
count_prologs() {
	local pid n=0
	for pid in $(pgrep -x "$1"); do
		! grep -qsaF "$(bench_dir)/run/controller/socket" "/proc/$pid/environ" || n=$((n + 1))
	done
	echo $n
}

waiting() {
	[ "$(count_prologs prolog_slurmctl)" = "$1" ]
}

# The jobs that the service waits for.
are_served_by_backup() {
	[ "$(ask_backup '{"type":"waiting"}' | grep -o '"job":[0-9]*' | sort)" = "$(printf '"job":%s\n' "${jobs[@]}" | sort)" ]
}

# A job on each node that waits for its reboot into the mode $1; the boots hang until they are reset.
submit_waiting() {
	local node
	for node in "${nodes[@]}"; do
		bench inject "$node" hang
		run_client sbatch --parsable -w "$node" --pm-mode="$1" --output=/dev/null \
			--wrap="echo \$SLURM_JOB_ID \$PM_MODE >>$(bench_dir)/home/ran"
		jobs+=("$output")
	done
	wait_for 30 waiting ${#nodes[@]}
	wait_for 30 has_reboots ${#jobs[@]}
	for node in "${nodes[@]}"; do
		wait_for 20 fault_is_taken "$node"
	done
}

fault_is_taken() {
	[ ! -e "$(bench_dir)/$1/fault" ]
}

# Node, start and job of the kept reboots that a job of this test waits for.
reboots() {
	/usr/bin/python3 -c 'import json, sys
for one in json.load(open(sys.argv[1]))["reboots"]:
    if str(one.get("job", 0)) in sys.argv[2:]:
        print(one["node"], one["start"], one["job"], "back" if "end" in one and "B" in sys.argv else "")' \
		"$(bench_dir)/kept/reboots.json" "$@" 2>/dev/null
}

has_reboots() {
	[ "$(reboots "${jobs[@]}" | wc -l)" = "$1" ]
}

all_back() {
	[ "$(reboots "${jobs[@]}" B | grep -c back)" = ${#jobs[@]} ]
}

assert_each_ran_once() {
	run sort -n "$(bench_dir)/home/ran"
	assert_output "$(printf "%s $1\n" "${jobs[@]}" | sort -n)"
	for job in "${jobs[@]}"; do
		run job_field "$job" Restarts
		assert_output Restarts=0
	done
}

@test "the primary is killed while jobs wait: the backup's service serves them, and each starts once" {
	jobs=()
	submit_waiting memory
	before=$(reboots "${jobs[@]}")
	save_state "${jobs[-1]}"
	ask_backup_all_the_while
	kill_script_daemon
	fail_over
	wait_for 30 are_served_by_backup # slurmctld starts their prologs anew
	wait_for 30 waiting ${#nodes[@]} # those of the dead one have ended
	run count_prologs prolog_poll
	assert_output 0
	run reboots "${jobs[@]}"
	assert_output "$before"
	for node in "${nodes[@]}"; do
		bench power-cycle "$node"
	done
	wait_for 60 no_jobs
	assert_each_ran_once memory
	wait_for 20 all_back
	run reboots "${jobs[@]}"
	assert_output "$before"
	run waiting 0
	assert_success
	stands_by primary
}

@test "a service whose slurmctld is not in control refuses, and names the other; clients find that one" {
	run -1 ask backup cluster
	assert_output --partial "slurmctld of 'pmbackup' is not in control: pm-controller serves on $(hostname -s)"
	run -0 ask primary cluster
	fail_over
	bench daemon start service primary # the dead host comes back, without its slurmctld
	wait_for 20 grep -q 'standing by' "$(log_of primary)"
	run -1 ask primary cluster
	assert_output --partial "is not in control: pm-controller serves on pmbackup"
	run -0 bench node n1 pmctl cluster
	assert_line --regexp '^memory .*'
	stands_by primary
	bench daemon start slurmctld primary
	wait_for 60 serves primary
	wait_for 20 stands_by backup
	run -0 bench node n1 pmctl cluster
	run -1 ask backup cluster
}

@test "scontrol takeover moves the service with the control" {
	take_over
	run -0 bench node n1 pmctl cluster
	run -1 ask primary cluster
}

@test "a job that a node turns away is requeued once, whichever service the node asks first" {
	run_client sbatch --parsable -w n1 --output=/dev/null --wrap='sleep 60'
	job=$output
	wait_for 20 job_is "$job" RUNNING
	run -1 ask backup job turn-away --job="$job" 'no memory'
	assert_output --partial 'is not in control'
	run job_field "$job" Restarts
	assert_output Restarts=0
	run -0 ask primary job turn-away --job="$job" 'no memory'
	assert_output requeued
	run -1 ask backup job turn-away --job="$job" 'no memory'
	run job_field "$job" Restarts
	assert_output Restarts=1
	grep -q "\"$job\"" "$(bench_dir)/kept/turned-away.json"
	take_over
	grep -q "\"$job\"" "$(bench_dir)/kept/turned-away.json" # it has read the list, and not begun another
	run job_field "$job" Restarts
	assert_output Restarts=1
	admin scancel "$job"
}

@test "a job's report is the same after a fail-over" {
	run_client sbatch --parsable --wait -w n1 --pm-mode=memory --output=/dev/null --wrap='sleep 1'
	job=$output
	wait_for 60 test -s "$(bench_dir)/kept/reports/$job.jsonl"
	run -0 ask primary report "$job"
	before=$output
	take_over
	run -0 ask backup report "$job"
	assert_output "$before"
}

# --- a file system that hangs ---

in_bench() {
	nsenter -t "$(bench_pids munged | head -n 1)" --mount --root --wd "$@"
}

put_on_own_file_system() {
	truncate -s 16M "$(bench_dir)/kept.ext4"
	mkfs.ext4 -q "$(bench_dir)/kept.ext4"
	in_bench mount -o loop "$(bench_dir)/kept.ext4" "$(bench_dir)/kept"
	bench daemon start service primary
	wait_for 30 serves primary
}

service_hangs() {
	local pid
	for pid in $service; do
		[[ $(cat "/proc/$pid/stat") != *') D '* ]] || return 0
	done
	return 1
}

thaw() {
	[ ! -e "$(bench_dir)/kept.ext4" ] || in_bench fsfreeze -u "$(bench_dir)/kept" 2>/dev/null || true
}

# The last one: the state is below the mount from here on.
@test "the state's file system hangs for a minute: the job starts all the same, and the service goes on" {
	put_in appdirect n1
	put_on_own_file_system
	service=$(bench_pids pm-controller | sort -n)
	in_bench fsfreeze -f "$(bench_dir)/kept"
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap="true"
	job=$output
	wait_for 30 service_hangs
	wait_for 150 no_jobs
	thaw
	run job_field "$job" JobState
	assert_output JobState=COMPLETED
	run -0 ask primary cluster
	assert_equal "$(bench_pids pm-controller | sort -n)" "$service"
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap="true"
	wait_for 60 in_bench test -s "$(bench_dir)/kept/reports/$output.jsonl"
}
