#!/usr/bin/env bats
# Ranges that a program names for promotion, at the ends of its iterations. Both tiers are on node 0 here; tests/twin/550-tiers.bats
# has them on nodes of their own.
# shellcheck disable=SC2154 # output is set by run, the others by helpers.bash
bats_require_minimum_version 1.5.0

load helpers

BYTES=$((8 * MIB))
FAST="1 class=made-up ranks=1 in=1:100000000000 out=1:100000000000 peak=1000000000000,1000000000000"
SLOW="1 class=made-up ranks=1 in=1:100000000000 out=1:100000000000 peak=1000,1000"

# advise MODEL BYTES [WORD]: a budget of 32 MiB, of which 16 are free.
advise() {
	PM_PROMOTE=1 PM_MODEL=$1 PM_REPORT=$report place 32 "$own/advise" "${@:2}"
}

@test "advise: without the runtime nothing is moved" {
	run -0 "$own/advise" $BYTES
	assert_line 'left 0'
}

@test "advise: a range is in DRAM after some iterations, without a word of the program" {
	run -0 advise "$FAST" $BYTES
	assert_line 'left 0'
	assert_equal "$(told moved promoted_bytes) $(told moved refused_bytes)" "$BYTES 0"
}

@test "advise: nothing is promoted unless it is turned on, without a model, or without spare bandwidth" {
	PM_MODEL=$FAST run -0 place 32 "$own/advise" $BYTES
	assert_line "left $BYTES"
	PM_PROMOTE=1 run -0 place 32 "$own/advise" $BYTES
	assert_line "left $BYTES"
	run -0 advise "$SLOW" $BYTES
	assert_line "left $BYTES"
	PM_PROMOTE=yes PM_MODEL=$FAST run -0 place 32 "$own/advise" $BYTES
	assert_line "pm: rank 0: PM_PROMOTE='yes' is none of 0 and 1: it is 0"
}

@test "advise: the budget is kept, and what has no room is not counted at each iteration" {
	run -0 advise "$FAST" $((40 * MIB))
	[ "$(told dram_bytes)" -le $((32 * MIB)) ]
	[ "$(told moved promoted_bytes)" -ge $((8 * MIB)) ]
	[ "$(told moved promoted_bytes)" -le $((24 * MIB)) ]
	[ "$(told moved refused_bytes)" -le $((40 * MIB)) ] # pm_move's alone
}

@test "advise: the program takes the name back, and free() does" {
	run -0 advise "$FAST" $BYTES stay
	assert_line "left $BYTES"
	run -0 advise "$FAST" $BYTES free
	assert_line "left $BYTES"
}

@test "advise: threads name and free objects that share chunks" {
	run -0 advise "$FAST" $BYTES threads
	assert_line 'left 0'
	run -0 env PM_PROMOTE=1 PM_MODEL="$FAST" PM_RANK_DRAM=$((32 * MIB)) PM_NODE_DRAM=0 PM_NODE_PMEM=0 \
		PM_SPACES=metadata=$((8 * MIB)),temporary=$((8 * MIB)),free=$((16 * MIB)) "$own/advise_tsan" $BYTES threads
	assert_line 'left 0'
}
