# Jobs of an ordinary user on the twin, for the files that test the product. `load helpers` first.
# shellcheck disable=SC2154 # output and status are set by run

# Longer than ResumeTimeout, a requeue and a reboot together.
LIMIT_S=600

# What a job says of itself: its node, the node's mode, how often it was requeued.
# shellcheck disable=SC2016,SC2034 # expanded in the job; used by the files that load this
WHERE='#!/bin/bash
echo "$SLURMD_NODENAME $(pmctl mode) restarts ${SLURM_RESTART_COUNT:-0}"'

# Compares the status of the last run: a number, or "1+" for any failure.
expect_status() {
	local wanted=$1
	shift
	[ "$wanted" = "$status" ] || { [ "$wanted" = 1+ ] && [ "$status" -ne 0 ]; } ||
		fail "'$*' ended with $status instead of $wanted: $output${stderr:+ $stderr}"
}

# run_user RC COMMAND…: as user1 on the head node, bounded in time. Of what succeeds $output is stdout alone:
# on a busy node slurmstepd says on stderr what it waits for.
run_user() {
	local wanted=$1 apart=()
	shift
	[ "$wanted" != 0 ] || apart=(--separate-stderr)
	run "${apart[@]}" timeout --kill-after=5 "$LIMIT_S" "$ROOT/twin/pmtwin" run -- "$@"
	expect_status "$wanted" "$@"
}

# run_sbatch RC OPTION…: submits stdin and waits for its end; what the job printed on stdout is then in $output.
run_sbatch() {
	local wanted=$1 name=job.$BATS_TEST_NUMBER
	shift
	# shellcheck disable=SC2016 # expanded by user1's shell
	run_user "$wanted" sh -c 'cat >"$1"; rm -f "$1.out"; name=$1; shift
		sbatch --wait --output="$name.out" --error="$name.err" "$@" "$name"' sh "$name" "$@"
	[ "$wanted" != 0 ] || run on_head cat "$name.out"
}

mode_of() {
	pmtwin exec "$1" -- pmctl mode
}

# Total memory, GiB, in the output of free -g.
total_gib() {
	awk '/^Mem:/ { print $2 }'
}

# use_mode NODE MODE: by a job, as a user would.
use_mode() {
	wait_for 300 node_is "$1" idle
	[ "$(node_features "$1")" = "pm_$2" ] || run_user 0 srun -w "$1" --pm-mode="$2" true
	wait_for 300 node_is "$1" idle
}

# job_of USER OPTION…: a job on $NODE, its script on stdin; it must succeed. What it printed is in $output and $stderr.
job_of() {
	local user=$1
	shift
	# shellcheck disable=SC2016 # expanded by the user's shell
	run --separate-stderr timeout "$LIMIT_S" "$ROOT/twin/pmtwin" run --user "$user" -- sh -c \
		'cat >job_of; sbatch --wait -o job_of.out -e job_of.err -w "$@" job_of >/dev/null; rc=$?; cat job_of.out; cat job_of.err >&2; exit $rc' \
		sh "$NODE" "$@"
	# shellcheck disable=SC2154 # set by run
	[ "$status" -eq 0 ] || fail "$user's job ended with $status: $output $stderr"
}

# use_modes NODE MODE NODE MODE…: all at the same time, for a node that boots leaves a processor idle.
use_modes() {
	local jobs=() job
	while (($#)); do
		use_mode "$1" "$2" 3>&- &
		jobs+=($!)
		shift 2
	done
	for job in "${jobs[@]}"; do
		wait "$job"
	done
}

assert_drained() {
	run node_state "$1"
	assert_output --partial drain
	run node_reason "$1"
	assert_output --partial "$2"
}
