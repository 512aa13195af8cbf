#!/usr/bin/env bats
# 64 threads that allocate, hand on, resize and give back, in each configuration, and the same with all of the runtime's
# own code seen by the thread sanitizer. A short run; `make check-runtime` sets PM_SECONDS for a long one.
# shellcheck disable=SC2154 # output is set by run, the others by helpers.bash
bats_require_minimum_version 1.5.0

load helpers

how_long=${PM_SECONDS:+-s $PM_SECONDS}

# work COMMAND...: the threads, in a configuration or without, and what they find.
work() {
	run "$@"
	[ "$status" -eq 0 ] || fail "'$*' ended with $status: ${output:0:8000}"
	refute_line --regexp '^not ok|WARNING'
	assert_line --regexp '^ok .* each object is as its maker left it$'
}

@test "64 threads use each other's objects of each function, others begin in their place, and children" {
	for configuration in $CONFIGURATIONS; do
		# shellcheck disable=SC2086
		work in_configuration "$configuration" "$own/threads" ${how_long:--n 20000}
	done
}

@test "the same under the thread sanitizer" {
	# shellcheck disable=SC2034
	runtime='' # it is part of the program
	# More mutexes than the detector of deadlocks knows are locked by jemalloc for a fork.
	export TSAN_OPTIONS=detect_deadlocks=0
	for configuration in roomy tight empty profiled advised; do
		# shellcheck disable=SC2086
		work in_configuration "$configuration" setarch -R "$own/threads_tsan" ${how_long:--n 4000}
	done
}

@test "the heap alone under the thread sanitizer" {
	run -0 setarch -R "$own/heap_threads"
	refute_line --regexp '^not ok|WARNING'
}
