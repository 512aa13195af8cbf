#!/usr/bin/env bats
# Streams of pmplace.h: the same bytes with and without the runtime, by any number of helpers; what is copied; the model's
# choice. Both tiers are on node 0 here.
# shellcheck disable=SC2154 # output is set by run, the others by helpers.bash
bats_require_minimum_version 1.5.0

load helpers

# A range of 20 MiB is beyond the free DRAM of these.
BYTES=$((20 * MIB))
staged() {
	local bytes=$((${DRAM:-32} * MIB))
	PM_RANK_DRAM=$bytes PM_NODE_DRAM=0 PM_NODE_PMEM=0 PM_LOCAL_RANK=0 PM_REPORT=$report PM_STREAMS_CHECK=${CHECK-1} \
		PM_SPACES=metadata=$((bytes / 4)),temporary=$((bytes / 8)),migration=${MIGRATION:-$((bytes / 2))} \
		LD_PRELOAD=$runtime "$@"
}

# same_sums ARGUMENTS...: of streams, without the runtime and with 0, 1 and 2 helpers.
same_sums() {
	local expected
	expected=$("$own/streams" "$@")
	for helpers in 0 1 2; do
		PM_STREAMS=$helpers run -0 staged "$own/streams" "$@"
		output=$(grep -v '^pm: ' <<<"$output")
		assert_equal "$helpers helpers: $output" "$helpers helpers: $expected"
	done
}

@test "streams: the same bytes, whatever the batches and the number of helpers" {
	for batch in 1000003 $MIB 65537 $BYTES $((2 * BYTES)) -1; do
		same_sums $BYTES $batch
	done
	same_sums $BYTES 1000003 5 abandon
	same_sums $BYTES 1000003 5 clean
	same_sums $BYTES 1000003 5 lie
	same_sums $BYTES 1000003 5 abandon clean spin
}

@test "streams: of several threads at once, and in a child that goes on with an open one" {
	same_sums $BYTES 300007 4 threads
	same_sums $BYTES 1000003 5 fork
}

@test "streams: each batch is copied in once and back if it was written, a clean one is not" {
	# Three walks an iteration: one is written; one is read beside one that is written.
	PM_STREAMS=1 run -0 staged "$own/streams" $BYTES $MIB 4
	assert_equal "$(told streams staged) $(told streams batches)" '12 240'
	assert_equal "$(told streams in_bytes) $(told streams out_bytes)" "$((12 * BYTES)) $((8 * BYTES))"
	assert_equal "$(told streams clean_batches)" 0
	PM_STREAMS=2 run -0 staged "$own/streams" $BYTES $MIB 4 clean
	assert_equal "$(told streams clean_batches) $(told streams out_bytes)" "40 $((6 * BYTES))"
}

@test "streams: a batch that is handed back as clean and is not is found, told and kept" {
	PM_STREAMS=1 run -0 staged "$own/streams" $BYTES $MIB 4 lie
	assert_line 'pm: rank 0: batch 0 of a stream was handed back as PM_CLEAN, but has changed'
	CHECK=0 PM_STREAMS=1 run -0 staged "$own/streams" $BYTES $MIB 4 lie
	refute_output --partial PM_CLEAN
}

@test "streams: the migration space is theirs alone, and where they do not fit they run in place" {
	PM_STREAMS=0 run -0 staged "$own/streams" $BYTES $MIB 4
	assert_equal "$(told spaces migration peak_bytes)" 0
	assert_equal "$(told streams in_place 'the model has no helper for them')" 12
	run -0 staged perl -e '@a = map { "x" x (6 << 20) } 1 .. 6'
	[ "$(told spaces migration peak_bytes)" -gt 0 ]
	MIGRATION=$((2 * MIB)) PM_STREAMS=1 run -0 staged "$own/streams" $BYTES $MIB 4
	assert_output "$("$own/streams" $BYTES $MIB 4)"
	[ "$(told streams in_place 'no room in the migration space')" -ge 8 ]
	PM_STREAMS=1 run -0 staged "$own/streams" 100000 1000 4
	assert_equal "$(told streams in_place 'their data is in DRAM')" 12
}

# by_model COPIES BOTH ARGUMENTS...: with these bandwidths of 1 and 2 threads, and of both directions at once.
by_model() {
	local copies=$1 both=$2
	shift 2
	PM_STREAMS=${PM_STREAMS-paced} PM_HELPER_CPUS=0-1 PM_MODEL="1 in=$copies out=$copies both_in=$both both_out=$both peak=1000000000000000,1" \
		staged "$own/streams" "$@"
}

helpers_of_written() {
	tail -n1 "$report" | perl -MJSON::PP -e '
		print join " ", map { $_->{helpers} } grep { $_->{is_written} } @{decode_json(<STDIN>)->{streams}{phases}}'
}

SLOW=1:1000000,2:2000000 FAST=1:100000000000,2:200000000000
@test "streams: the model decides by the second iteration, after one interval" {
	# Three planted profiles: no copy is in time; one thread is, for both directions; only two at once are.
	for planted in "0 0|$SLOW|$SLOW" "1 1|$FAST|$FAST" "2 2|$SLOW|$FAST"; do
		IFS='|' read -r helpers copies both <<<"$planted"
		run -0 by_model "$copies" "$both" $BYTES $MIB 6 spin
		assert_output "$("$own/streams" $BYTES $MIB 6 spin)"
		assert_equal "$(helpers_of_written)" "$helpers"
		[ "$(told streams in_place 'before the measurement')" -ge 3 ]
	done
	PM_STREAMS=literal run -0 by_model "$SLOW" "$FAST" $BYTES $MIB 6 spin
	assert_equal "$(helpers_of_written)" '0 0'
	run -0 staged "$own/streams" $BYTES $MIB 4
	assert_equal "$(told streams in_place 'no PM_MODEL')" 12
	PM_MODEL="1 in=$FAST out=$FAST peak=10,10" run -0 staged "$own/streams" $BYTES $MIB 4
	assert_equal "$(told streams in_place 'no processor for helpers')" 12
}

@test "streams: an interval in place is measured to compare with, and slow copies lose" {
	for options in '' clean abandon lie; do
		# shellcheck disable=SC2086
		PM_STREAMS=compared run -0 by_model "$SLOW" "$SLOW" $BYTES $MIB 6 spin $options
		output=$(grep -v '^pm: ' <<<"$output")
		# shellcheck disable=SC2086
		assert_output "$("$own/streams" $BYTES $MIB 6 spin $options)"
		assert_equal "$(helpers_of_written)" '0 0'
	done
	run -0 perl -MJSON::PP -ne 'print scalar grep { $_->{placed_s} > 0 } @{decode_json($_)->{streams}{phases}}' <(tail -n1 "$report")
	assert_output 3
	# Of a single batch there is no second interval: it is the paced model.
	DRAM=96 PM_STREAMS=compared run -0 by_model "$FAST" "$FAST" $BYTES $BYTES 6 spin
	assert_output "$("$own/streams" $BYTES $BYTES 6 spin)"
	assert_equal "$(helpers_of_written)" '1 1'
}

@test "streams: helpers are threads on the processors of the plan" {
	local helper program
	[ "$(nproc)" -ge 2 ] || skip "one processor only"
	PM_HELPER_CPUS=1 PM_STREAMS=1 staged "$own/streams" $BYTES $MIB 100 spin >/dev/null 3>&- &
	for _ in {1..100}; do
		program=$(pgrep -P $!) && helper=$(grep -l pm-helper0 "/proc/$program"/task/*/comm) && break
		sleep 0.1
	done
	run -0 grep Cpus_allowed_list "${helper%comm}status"
	kill "$program"
	assert_output --regexp $'\t1$'
}

@test "streams: variables that say nothing are told" {
	PM_STREAMS=3 run -0 staged "$own/streams" $BYTES $MIB 1
	assert_line "pm: rank 0: PM_STREAMS='3' is none of compared, paced, literal, 0, 1 and 2: it is compared"
	PM_MODEL='2 in=x' run -0 staged "$own/streams" $BYTES $MIB 1
	assert_line "pm: rank 0: PM_MODEL='2 in=x' is not of this version: streams run in place"
	PM_HELPER_CPUS=x run -0 staged "$own/streams" $BYTES $MIB 1
	assert_line --partial "PM_HELPER_CPUS='x' is not a list of processors"
}

@test "streams under the thread sanitizer" {
	runtime='' # it is part of the program
	export TSAN_OPTIONS=detect_deadlocks=0
	for options in abandon fork threads; do
		# shellcheck disable=SC2086
		for settings in PM_STREAMS=1 PM_STREAMS=2 "PM_MODEL=1 in=$FAST out=$FAST peak=1000000000000000,1"; do
			PM_HELPER_CPUS=0-1 DRAM=16 run -0 staged env "$settings" setarch -R "$own/streams_tsan" $((5 * MIB)) 300007 4 $options
			refute_output --partial WARNING
			assert_output "$("$own/streams" $((5 * MIB)) 300007 4 $options)"
			[ "$(told streams batches)" -gt 0 ]
		done
	done
}

@test "streams: a program in Fortran walks its arrays, each a loop of its own" {
	gfortran -std=f2018 -Wall -Wextra -Werror -O2 -J"$BATS_TEST_TMPDIR" -o "$BATS_TEST_TMPDIR/walk" runtime/pmplace.f90 tests/runtime/walk.f90
	run -0 "$BATS_TEST_TMPDIR/walk"
	assert_output $'sums 41943040. 13750000. 16.\nmoved 0 0'
	for helpers in 0 1 2; do
		PM_STREAMS=$helpers run -0 staged "$BATS_TEST_TMPDIR/walk"
		assert_line 'sums 41943040. 13750000. 16.'
	done
	# Written by 21 batches an iteration, read up to the 11th with one ahead.
	assert_equal "$(told streams staged) $(told streams out_bytes)" "10 $((5 * BYTES))"
	assert_equal "$(told iterations number)" 5
	DRAM=64 MIGRATION=0 PM_STREAMS=0 run -0 staged "$BATS_TEST_TMPDIR/walk"
	assert_line "moved $BYTES $BYTES"
}
