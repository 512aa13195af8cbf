#!/usr/bin/env bats
# Valgrind and the address sanitizer, which want to be the allocator, and what they say when they let the runtime be it.
# shellcheck disable=SC2154 # output, stderr and status are set by run, the others by helpers.bash
bats_require_minimum_version 1.5.0

load helpers

first="another allocator comes first, a preloaded library's or a checker's: nothing is placed"

memcheck() {
	valgrind --quiet --error-exitcode=9 "$@"
}

@test "valgrind is the allocator, unless it is told to leave that to the runtime" {
	seq 20000 >"$BATS_TEST_TMPDIR/lines"
	run -0 --separate-stderr place 64 memcheck sort -r "$BATS_TEST_TMPDIR/lines"
	assert_equal "$(md5sum <<<"$output")" "$(sort -r "$BATS_TEST_TMPDIR/lines" | md5sum)"
	assert_equal "$stderr" "pm: rank 0: $first"
	PM_REPORT=$report run -0 place 64 memcheck --soname-synonyms=somalloc=nouserintercepts "$own/threads" -t 8 -n 1500
	refute_output --partial '=='
	refute_output --partial "$first"
	[ "$(told resident_bytes dram)" -gt 0 ]
}

# bats test_tags=long
@test "valgrind finds nothing in the runtime's parts" {
	for part in space lifetime sizing nodemask heap prefault; do
		run -0 memcheck "$build/tests/unit/runtime/"*/"test_$part"
		refute_output --partial '=='
	done
}

@test "a program with the address sanitizer is as without the runtime" {
	export ASAN_OPTIONS=detect_leaks=0
	gcc -fsanitize=address -g -I. -o "$BATS_TEST_TMPDIR/program" tests/runtime/pic.c
	run -0 "$BATS_TEST_TMPDIR/program" 1
	plain=$(grep ^sum <<<"$output")
	runtime="$(gcc -print-file-name=libasan.so) $runtime"
	run -0 --separate-stderr place 64 "$BATS_TEST_TMPDIR/program" 1
	assert_line "$plain"
	assert_equal "$stderr" "pm: rank 0: $first"
}
