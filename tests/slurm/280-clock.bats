#!/usr/bin/env bats
# A wall clock that is set by hours, to and fro, while nodes change their modes: of our programs, by libfaketime. Slurm's own
# daemons keep the host's clock. docs/admin/compatibility.md has a row for each.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
	clock=$BATS_TEST_TMPDIR/clock
	faked=(LD_PRELOAD=/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1 FAKETIME_TIMESTAMP_FILE="$clock"
		FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1)
	set_clock +0
}

teardown() {
	kill "$(cat "$BATS_TEST_TMPDIR/pid" 2>/dev/null)" 2>/dev/null || true
	[ ! -e "$BATS_TEST_TMPDIR/pmctl.kept" ] || put_pmctl_back
	[ ! -e "$BATS_TEST_TMPDIR/prolog" ] || replace "$BATS_TEST_TMPDIR/prolog" "$(bench_dir)/bin/prolog_slurmctld"
	bench inject n1 none
	cancel_jobs -f
	state_is n1 idle || bench power-cycle n1
	bench service start
	resume n1 n2
}

# set_clock HOURS: by how much it is wrong, "+1h".
set_clock() {
	echo "$1" >"$clock.new"
	mv "$clock.new" "$clock"
}

with_faked_prolog() {
	local prolog
	prolog=$(bench_dir)/bin/prolog_slurmctld
	cp -p "$prolog" "$BATS_TEST_TMPDIR/prolog"
	sed "1a export ${faked[*]}" "$prolog" >"$BATS_TEST_TMPDIR/faked"
	chmod 755 "$BATS_TEST_TMPDIR/faked"
	replace "$BATS_TEST_TMPDIR/faked" "$prolog"
}

# pm-controller as the bench starts it, with that clock.
with_faked_service() {
	local dir
	dir=$(bench_dir)
	bench service kill
	admin env "${faked[@]}" "$dir/lib/pm-controller" --run-dir="$dir/run/controller" --state-dir="$dir/kept" \
		--config="$dir/etc/pmem.conf" >"$BATS_TEST_TMPDIR/log" 2>&1 3>&- &
	echo $! >"$BATS_TEST_TMPDIR/pid"
	wait_for 20 test -S "$dir/run/controller/socket" || { cat "$BATS_TEST_TMPDIR/log"; return 1; }
}

# A job on n1 whose reboot into memory hangs until n1 is reset.
submit_hanging() {
	put_in appdirect n1
	bench inject n1 hang
	run_client sbatch --parsable -w n1 --pm-mode=memory --output="$(bench_dir)/home/out.%j" --wrap='pmctl mode'
	job=$output
	wait_for 30 job_is "$job" CONFIGURING
	wait_for 30 boot_hangs n1
}

explains() {
	bench node n1 pmctl explain "$job" | grep -Eqx "$1"
}

starts_in_memory() {
	bench power-cycle n1
	wait_for 60 job_is "$job" COMPLETED
	started_at_once "$job"
	run cat "$(bench_dir)/home/out.$job"
	assert_output memory
}

@test "pm-controller's clock is set back and forward while a job waits for its node: it starts, and durations are right" {
	local short='n1 has been rebooting into mode memory for [0-9]{1,2} s.*'
	with_faked_service
	with_faked_prolog
	submit_hanging
	wait_for 30 explains "$short"
	set_clock -1h
	wait_for 30 grep -Eq 'the clock was set by -3(599|600|601) s' "$BATS_TEST_TMPDIR/log"
	explains "$short"
	set_clock +3h
	wait_for 30 grep -Eq 'the clock was set by 14(399|400|401) s' "$BATS_TEST_TMPDIR/log"
	explains "$short"
	starts_in_memory
	run bench node n1 pmctl report "$job"
	assert_line --regexp '^Reboot: +of 1 node, [0-9.]{1,4} s;'
	nodes_are_in_service
}

@test "without pm-controller, the prolog's clock is set forward beyond its limit: the job starts as soon as its node is there" {
	bench service kill
	with_faked_prolog
	submit_hanging
	set_clock +3h
	sleep 3
	starts_in_memory
	nodes_are_in_service
}

@test "the clock of pmctl jumps to and fro while a node changes its mode" {
	local mode
	keep_pmctl
	replace "$(program pmctl.faked "export ${faked[*]}
$(tail -n 1 "$BATS_TEST_TMPDIR/pmctl.kept")")" "$(bench_dir)/bin/pmctl"
	while :; do
		for hours in -1h +0 +1h -3h; do
			set_clock $hours
			sleep 0.1
		done
	done 3>&- &
	echo $! >"$BATS_TEST_TMPDIR/pid"
	for mode in memory appdirect mixed memory appdirect; do
		run_srun -w n1 --pm-mode=$mode sh -c 'echo $PM_MODE'
		assert_output $mode
	done
	nodes_are_in_service
	run -0 bench node n1 pmctl verify
	run -0 bench node n1 pmctl health
}
