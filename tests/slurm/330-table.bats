#!/usr/bin/env bats
# The table of tests/lua/submissions.lua, which pmem.lua meets under plain Lua, in slurmctld: each submission that a user can
# type, by sbatch, as an array, with --export=NONE, and as the second component of a heterogeneous job.

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --accounting --owner $$ --build "$PM_BUILD" \
		--hardware 'Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=10000' 3>&-
	load helper
	printf '%s\n' 'PartitionName=big Nodes=ALL' 'PartitionName=old Nodes=ALL' 'PartitionName=own Nodes=ALL OverSubscribe=YES' \
		'PartitionName=other Nodes=ALL' 'PartitionName=quick Nodes=ALL DefaultTime=30' >>"$(bench_dir)/etc/slurm.conf"
	admin sacctmgr -Q -i add account base,physics,physics2,chem,a,b
	admin sacctmgr -Q -i add qos debug,q,urgent
	admin sacctmgr -Q -i add user nobody account=base,physics,physics2,chem,a,b defaultaccount=base
	admin sacctmgr -Q -i modify user nobody set qos=normal,debug,q,urgent defaultqos=normal
	restart_all
	local name
	for name in night day other x; do
		admin scontrol create reservation reservationname="$name" users=nobody nodes=n1,n2 starttime=now duration=1-0 flags=overlap
	done
	lua5.1 "$BATS_TEST_DIRNAME/../lua/print_submissions.lua" >"$BATS_FILE_TMPDIR/table"
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
}

# by WAY
by() {
	run "$BATS_TEST_DIRNAME/table.py" "$BATS_TEST_DIRNAME/../cluster/bench" "$BATS_FILE_TMPDIR/table" "$1"
	[ "$status" -eq 0 ] || fail "$(grep -E '^(not ok|#|[^o])' <<<"$output")"
	[ "$(grep -c '^ok ' <<<"$output")" -ge 150 ]
}

@test "sbatch" {
	by sbatch
}

@test "sbatch --array" {
	by array
}

@test "sbatch --export=NONE" {
	by none
}

@test "the second component of a heterogeneous job" {
	by het
}
