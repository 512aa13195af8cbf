#!/usr/bin/env bats
# README.md and all pages: their commands for a login node, for a job and its script, for a
# compute node and for the controller run as they stand.
# tests/unit/test_doc_commands.py names the places of the others.
# shellcheck disable=SC2016,SC2154 # expanded in the job; output and status are set by run

# Processors like those that the pages have in mind, in as many nodes as the largest job of theirs has.
PAPER='Sockets=2 CoresPerSocket=24 ThreadsPerCore=2 RealMemory=256'

setup_file() {
	load helper
	PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	export PM_BENCH
	"$TOP/tests/cluster/bench" up --owner $$ --nodes 4 --build "$PM_BUILD" --hardware "$PAPER" 3>&-
	# Where the bench's pmctl looks on a machine that is no node.
	cp "$(bench_dir)/etc/pmem.conf" "$(bench_dir)/pmem.conf"
	make_login_node
	mkdir "$BATS_FILE_TMPDIR/blocks"
	"$TOP/tests/docs/blocks.py" bench "$BATS_FILE_TMPDIR/blocks" >"$BATS_FILE_TMPDIR/list"
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
}

teardown() {
	cancel_jobs -f
	wait_for 30 no_jobs
}

# What is installed there beside Slurm and pmctl, and the reader's own files.
make_login_node() {
	local home name
	home=$(bench_dir)/home
	mkdir -p "$BATS_FILE_TMPDIR/tree/usr/share/slurm-pmem" "$home/reader"
	# salloc starts the user's shell.
	mkdir "$BATS_FILE_TMPDIR/tree/etc"
	sed '/^nobody:/s|[^:]*$|/bin/sh|' /etc/passwd >"$BATS_FILE_TMPDIR/tree/etc/passwd"
	cp -r "$TOP/job_templates" "$BATS_FILE_TMPDIR/tree/usr/share/slurm-pmem"
	for name in app job.sh; do
		printf '#!/bin/sh\necho ran\n' >"$home/reader/$name"
		chmod 755 "$home/reader/$name"
	done
	chown -R nobody "$home/reader"
}

# on_login_node COMMAND...: as the reader, in their folder.
on_login_node() {
	run "$TOP/tests/docs/installed" "$BATS_FILE_TMPDIR/tree" timeout --kill-after=5 "$LIMIT_S" \
		"$TOP/tests/cluster/bench" user env -C reader "$@" 3>&- </dev/null
}

# typed PLACE: "PAGE:LINE FILE" of each block for this place; there must be some.
typed() {
	sed -n "s/ $1\$//p" "$BATS_FILE_TMPDIR/list" | grep .
}

# The job with the number that the pages show. It waits for another user's node.
waiting_job() {
	on_login_node sbatch --parsable --hold --pm-mode=memory --wrap=true
	echo "$output"
}

# what_runs FILE: its commands. Only a number of a job and NODE are others here.
what_runs() {
	sed "s/\<4711\>/$(grep -q 4711 "$1" && waiting_job)/; s/\<NODE\>/n1/" "$1"
}

# script_of FILE: a whole script, where the page has some of its lines. At its end it says its mode.
script_of() {
	head -n 1 "$1" | grep -q '^#!' || echo '#!/bin/sh'
	cat "$1"
	echo 'echo "in mode $PM_MODE"'
}

@test "on a login node" {
	local at file
	while read -r at file <&4; do
		on_login_node bash -e -c "$(what_runs "$file")"
		[ "$status" -eq 0 ] || fail "$at ended with $status: $output"
		cancel_jobs -f
		wait_for 30 no_jobs
	done 4< <(typed 'on a login node')
}

# as_root PLACE COMMAND...: the blocks of the place, by the command. n1 is the node that they are about. A reservation goes at
# once, since no job would start that may run into it.
as_root() {
	local at file place=$1
	shift
	while read -r at file <&4; do
		run "$@" bash -e -c "$(sed 's/\<NODE\>/n1/' "$file")" 3>&-
		[ "$status" -eq 0 ] || fail "$at ended with $status: $output"
		if grep -q 'create reservation' "$file"; then
			admin scontrol delete reservationname=upgrade
		fi
	done 4< <(typed "$place")
}

@test "on a compute node" {
	put_in memory n1
	as_root 'on a compute node, as root' bench node n1
}

@test "on the controller" {
	admin scontrol update nodename=n1 state=drain reason='pm: prolog: a sentence that is longer than 20 letters'
	as_root 'on the controller, as root' admin
	wait_for 30 state_is n1 idle
}

@test "in a job, and they print the same" {
	local at file
	while read -r at file <&4; do
		run_srun -N1 --pm-mode=memory bash -e -c "$(<"$file")"
		[ ! -s "$file.prints" ] || assert_output "$(<"$file.prints")"
	done 4< <(typed 'in a job')
}

@test "in a job's script" {
	local at file
	while read -r at file <&4; do
		run_sbatch <<<"$(script_of "$file")"
		assert_line 'in mode memory'
	done 4< <(typed "in a job's script")
}
