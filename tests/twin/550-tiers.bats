#!/usr/bin/env bats
# Objects that a program puts into a tier, in a flat job: the kernel has their pages on the persistent memory of the rank's
# socket, then on its DRAM, and back.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

setup_file() {
	load helpers
	load jobs
	wait_for 240 node_is n1 idle
	pmtwin copy "${PM_BUILD:-$ROOT/build}/tests/runtime/tiers" n1:/usr/local/bin/tiers
	pmtwin copy "${PM_BUILD:-$ROOT/build}/tests/runtime/advise" n1:/usr/local/bin/advise
}

setup() {
	load helpers
	load jobs
}

# ranks PROGRAM...: two ranks, one on each socket, each line with its rank's number. PM_PROMOTE is passed on.
ranks() {
	run timeout "$LIMIT_S" "$ROOT/twin/pmtwin" run --user user1 -- env PM_REPORT=stderr PM_PROMOTE="${PM_PROMOTE-}" \
		srun -l --exclusive -N 1 -n 2 -w n1 --pm-mode=flat --pm-dram=64M --pm-runtime=place \
		--pm-site-profile=/usr/share/slurm-pmem/site-profiles/warpx-pm.json "$@"
	expect_status 0 "$@"
	mapfile -t lines <<<"$output"
}

@test "pages go to the DRAM of the rank's socket and back" {
	ranks tiers $((8 << 20)) small realloc fork
	for socket in 0 1; do
		assert_line "$socket: slow 0, pages $((socket + 2)):2048"
		assert_line "$socket: fast 8388608, pages $socket:2048"
		assert_line --regexp "^$socket: slow [0-9]{7}, pages $((socket + 2)):2048$"
		assert_line "$socket: child: not moved"
		assert_line "$socket: pm: rank $socket: moved by the program: 16M to DRAM, 8M to PMem; no room in DRAM for 0M"
	done
}

@test "what the budget has no room for stays in persistent memory" {
	ranks tiers $((96 << 20))
	for socket in 0 1; do
		assert_line --regexp "^$socket: fast [1-6][0-9]{7}, pages $socket:[0-9]+ $((socket + 2)):[0-9]+$"
		assert_line --regexp "^$socket: pm: rank $socket: moved by the program: .* no room in DRAM for [1-9][0-9]*M$"
	done
}

@test "a range that was named is promoted to the DRAM of the rank's socket, a part at each iteration" {
	PM_PROMOTE=1 ranks advise $((8 << 20))
	for socket in 0 1; do
		assert_line "$socket: pages $socket:2048"
		assert_line "$socket: left 0"
		assert_line "$socket: pm: rank $socket: named by the program, and promoted at iterations: 8M"
	done
	ranks advise $((8 << 20))
	assert_line "1: pages 3:2048"
}
