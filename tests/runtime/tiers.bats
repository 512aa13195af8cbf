#!/usr/bin/env bats
# Objects of pmplace.h in a tier, and pages that the program moves. Both tiers are on node 0 here; tests/twin/550-tiers.bats
# has them on nodes of their own.
# shellcheck disable=SC2154 # output is set by run, the others by helpers.bash
bats_require_minimum_version 1.5.0

load helpers

# A budget of 32 MiB, of which 16 are free.
tiers() {
	PM_REPORT=$report place 32 "$own/tiers" "$@"
}
BYTES=$((8 * MIB))

@test "tiers: without the runtime objects are malloc's, and nothing is moved" {
	run -0 "$own/tiers" $BYTES small realloc
	assert_output "$(printf '%s 0, pages 0:2048\n' slow fast slow fast)"
}

@test "tiers: an object goes to DRAM and back, as often as the program likes" {
	run -0 tiers $BYTES
	assert_line --index 0 "slow 0, pages 0:2048"
	assert_line --index 1 "fast $BYTES, pages 0:2048"
	assert_line --index 2 "slow $BYTES, pages 0:2048"
	assert_line --index 3 "fast $BYTES, pages 0:2048"
	assert_equal "$(told moved to_dram_bytes) $(told moved to_pmem_bytes)" "$((2 * BYTES)) $BYTES"
	assert_equal "$(told moved refused_bytes) $(told spilled_bytes)" "0 0"
	[ "$(told spaces pmem peak_bytes)" -ge $BYTES ]
}

@test "tiers: what the budget has no room for stays, and is told" {
	run -0 tiers $((40 * MIB))
	assert_line --index 1 --regexp "^fast 1[0-9]{7},"
	[ "$(told moved refused_bytes)" -ge $((24 * MIB)) ]
	[ "$(told dram_bytes)" -le $((32 * MIB)) ]
	PM_REPORT=stderr place 32 "$own/tiers" $((40 * MIB)) 2>&1 | grep -q '^pm: rank 0: moved by the program: '
}

@test "tiers: a program in which nothing moves has no such line" {
	PM_REPORT=stderr run -0 place 32 "$own/alike"
	refute_output --partial 'moved by the program'
}

@test "tiers: small objects, resized ones, and those of a forked child" {
	run -0 tiers $BYTES small realloc fork
	assert_line 'child: not moved'
	assert_line --index 1 "fast $BYTES, pages 0:2048"
}

@test "tiers: threads move and free objects that share chunks" {
	run -0 tiers $BYTES threads
	run -0 env PM_RANK_DRAM=$((32 * MIB)) PM_NODE_DRAM=0 PM_NODE_PMEM=0 \
		PM_SPACES=metadata=$((8 * MIB)),temporary=$((8 * MIB)),free=$((16 * MIB)) "$own/tiers_tsan" $BYTES threads
	assert_line --index 1 "fast $BYTES, pages 0:2048"
}

@test "tiers: with a profile, and with its advice" {
	PM_PROFILE=$profiles run -0 place 32 "$own/tiers" $BYTES small threads
	run -0 advised "$own/tiers" $BYTES small
}

@test "tiers: another allocator that comes first has the objects, too" {
	jemalloc=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2.*=> //p;T;q')
	[ -n "$jemalloc" ] || skip "no libjemalloc.so.2"
	run -0 env LD_PRELOAD="$jemalloc $runtime" PM_RANK_DRAM=$((32 * MIB)) PM_NODE_DRAM=0 PM_NODE_PMEM=0 \
		"$own/tiers" $BYTES small realloc
	assert_line 'slow 0, pages 0:2048'
}

@test "tiers: memory resources of C++ give the same in both" {
	same "$own/resource"
	run -0 place 32 "$own/resource"
	assert_line --index 0 "459450 459450"
	assert_line --index 1 "1 0"
	assert_line --index 2 bad_alloc
}
