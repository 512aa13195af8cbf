#!/usr/bin/env bats
# What the user learns of a runtime that is not in the program, from the Slurm of this release: tests/slurm/110-runtime.bats has
# it all on the one of the host.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

# Programs of the host run in guests of its own release and later ones.
setup_file() {
	load helpers
	load jobs
	wait_for 240 node_is n1 idle
	cc -shared -fPIC -o "$BATS_FILE_TMPDIR/runtime.so" "$ROOT/tests/unit/stand_in_runtime.c"
	echo 'int main(void) { return 0; }' | cc -static -x c -o "$BATS_FILE_TMPDIR/static" -
	pmtwin copy "$BATS_FILE_TMPDIR/runtime.so" head:/home/user1/runtime.so
	pmtwin copy "$BATS_FILE_TMPDIR/static" head:/home/user1/static
	on_head chmod 755 static
}

setup() {
	load helpers
	load jobs
}

# run_step RC PROGRAM...: two ranks that ask for the stand-in for a runtime; both outputs.
run_step() {
	run timeout "$LIMIT_S" "$ROOT/twin/pmtwin" run -- srun -n 2 --pm-runtime=./runtime.so "${@:2}"
	expect_status "$1" "$@"
}

@test "a runtime that attaches is not told of" {
	run_step 0 true
	refute_output --partial 'did not attach'
}

@test "one that does not is, at the end, once, with its ranks" {
	run_step 0 ./static
	assert_line "pm: runtime './runtime.so' did not attach in rank 0-1 of the 2 on this node: only the memory policy placed memory there"
	assert_equal "$(grep -c 'did not attach' <<<"$output")" 1
	on_head sh -c 'printf "0 /bin/true\n1 ./static\n" >programs'
	run_step 0 --multi-prog programs
	assert_output --partial 'did not attach in rank 1 of the 2'
}

@test "pmrun -n in a batch script tells it, too" {
	run_user 0 sh -c "echo '#!/bin/sh
		pmrun -n 2 --pm-runtime=./runtime.so ./static' | sbatch --wait -n 2 --output=out"
	run on_head cat out
	assert_line --partial 'did not attach in rank 0-1 of 2'
}
