#!/usr/bin/env bats
# The pages for users: the commands that they have for a login node and that need a node with persistent memory run as they stand.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

setup_file() {
	load helpers
	load jobs
	wait_for 240 node_is n1 idle
	mkdir "$BATS_FILE_TMPDIR/blocks"
	"$ROOT/tests/docs/blocks.py" twin "$BATS_FILE_TMPDIR/blocks" >"$BATS_FILE_TMPDIR/list"
	make_reader
}

setup() {
	load helpers
	load jobs
}

# The reader's programs: pic is the one of runtime.md's profile, app leaves a line each time that it runs.
make_reader() {
	printf '#!/bin/sh\necho "$SLURM_JOB_ID $PM_MODE" >>ran\n' >"$BATS_FILE_TMPDIR/app"
	pmtwin copy "$BATS_FILE_TMPDIR/app" head:/home/user1/app
	pmtwin copy "$BATS_FILE_TMPDIR/blocks/table.py" head:/home/user1/table.py
	pmtwin copy "${PM_BUILD:-$ROOT/build}/tests/runtime/pic" head:/home/user1/pic
	on_head chmod 755 app pic
}

@test "on a login node, for nodes in mode flat or appdirect" {
	local at file place count=0
	while read -r at file place <&4; do # commands there read their standard input
		assert_equal "$at: $place" "$at: on a login node"
		on_head rm -f ran
		run timeout --kill-after=5 "$LIMIT_S" "$ROOT/twin/pmtwin" run -- sh -e -c "$(<"$file")" </dev/null
		[ "$status" -eq 0 ] || fail "$at ended with $status: $output"
		if grep -q '\./app' "$file"; then
			run on_head cat ran
			assert_output --regexp '^[0-9]+ flat$'
		fi
		if grep -q 'table\.py' "$file"; then
			assert_output --partial 140737479966720.0
		fi
		count=$((count + 1))
	done 4<"$BATS_FILE_TMPDIR/list"
	[ "$count" -gt 3 ] || fail "only $count blocks"
}

@test "the advice of the profile has been written" {
	run on_head grep -c . next
	assert_success
}
