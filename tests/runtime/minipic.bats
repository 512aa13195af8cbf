#!/usr/bin/env bats
# examples/minipic, as it is and with its streams: in agreement with theory, and the same to the last bit with and without
# the runtime, with any number of helpers and ranks.
# shellcheck disable=SC2154 # output is set by run, the others by helpers.bash
bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	for mpi in openmpi mpich; do
		[ ! -x "/usr/bin/mpicc.$mpi" ] || break
	done
	[ -x "/usr/bin/mpicc.$mpi" ] || skip "there is no MPI"
	export mpi
	patch -s -o "$BATS_FILE_TMPDIR/streams.c" examples/minipic/minipic.c examples/minipic/streams.patch
	compile examples/minipic/minipic.c plain
	compile "$BATS_FILE_TMPDIR/streams.c" streams
}

compile() {
	"mpicc.$mpi" -O2 -fopenmp -Wall -Wextra -Werror -Iruntime -o "$BATS_FILE_TMPDIR/$2" "$1" -lm
}

load helpers

# on RANKS COMMAND...
on() {
	local ranks=$1
	shift
	case $mpi in
	openmpi) OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe -n "$ranks" "$@" ;;
	mpich) mpirun.mpich -n "$ranks" "$@" ;;
	esac
}

# The particles of a rank, 1 MiB and more, are beyond its free DRAM.
digest_of() {
	local ranks=$1 program=$BATS_FILE_TMPDIR/$2
	shift 2
	run -0 on "$ranks" env "$@" PM_RANK_DRAM=$((8 * MIB)) PM_NODE_DRAM=0 PM_NODE_PMEM=0 PM_LOCAL_RANK=0 PM_REPORT="$report" \
		PM_SPACES=metadata=$((2 * MIB)),temporary=0,migration=$((4 * MIB)) "$program" 64 8000 8
	digest=$(grep '^digest' <<<"$output")
}

@test "minipic: frequencies, energy and charge are those of theory" {
	OMP_NUM_THREADS=1 run -0 on 2 "$BATS_FILE_TMPDIR/plain" 64 200 600
	assert_line --regexp '^plasma oscillation: (0.99|1.00)'
	assert_line --regexp '^light wave: (0.99|1.00)'
}

@test "minipic: the same to the last bit with and without streams, runtime and helpers" {
	local expected
	for ranks in 1 2 3 4; do
		digest_of $ranks plain OMP_NUM_THREADS=1
		expected=$digest
		digest_of $ranks streams OMP_NUM_THREADS=1
		assert_equal "$ranks: $digest" "$ranks: $expected"
		for helpers in 0 1 2; do
			digest_of $ranks streams OMP_NUM_THREADS=1 PM_STREAMS=$helpers LD_PRELOAD="$runtime"
			assert_equal "$ranks, $helpers: $digest" "$ranks, $helpers: $expected"
		done
		[ "$(told streams batches)" -gt 0 ]
	done
}

@test "minipic: and with threads of OpenMP" {
	digest_of 1 plain OMP_NUM_THREADS=3
	expected=$digest
	digest_of 1 streams OMP_NUM_THREADS=3 PM_STREAMS=2 LD_PRELOAD="$runtime"
	assert_equal "$digest" "$expected"
}

@test "minipic: its streams are a patch of at most 60 lines" {
	[ "$(wc -l <examples/minipic/streams.patch)" -le 60 ]
}
