#!/usr/bin/env bats
# MPI programs of a user on a node in flat mode: the sockets of each rank's processors and memory. The twin has one node with two
# cores a socket: processors 2S and 2S+1, DRAM in NUMA node S, persistent memory in node 2+S (twin/machine/tables/numa.py).
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

# Of 1 GiB of DRAM a socket the kernel leaves about 850 MiB: two ranks with so much each fit, or do not.
FITS=150 BEYOND=700

setup_file() {
	load helpers
	load jobs
	wait_for 240 node_is n1 idle
	BOOT_BEFORE=$(boot_id n1)
	export BOOT_BEFORE
	pmtwin copy "$ROOT/tests/twin/programs/mpi_fill.c" head:/home/user1/mpi_fill.c
	for mpi in openmpi mpich; do
		pmtwin run -- "mpicc.$mpi" -O2 -Wall -Werror -o "fill.$mpi" mpi_fill.c
	done
}

setup() {
	load helpers
	load jobs
	wait_for 240 node_is n1 idle
}

# assert_rank LINE MIB: it has a core of its socket, and all its MIB in its socket's memory.
assert_rank() {
	local pattern='^rank ([0-3]): cpus ([^ ]+), policy ([^ ]+), own ([0-9]+) ([0-9]+) ([0-9]+) ([0-9]+), shared '
	[[ $1 =~ $pattern ]] || fail "not a rank's line: $1"
	local rank=${BASH_REMATCH[1]} own=("${BASH_REMATCH[@]:4}") socket=$((BASH_REMATCH[1] / 2))
	assert_equal "$rank on ${BASH_REMATCH[2]}" "$rank on $rank"
	assert_equal "${BASH_REMATCH[3]}" "bind:$socket,$((2 + socket))"
	assert_equal "far ${own[1 - socket]} ${own[3 - socket]}" 'far 0 0'
	((own[socket] + own[2 + socket] >= $2 * 1024)) || fail "less than $2 MiB: $1"
	((in_dram[socket] += own[socket], in_pmem[socket] += own[2 + socket])) || true
}

# assert_placed MIB: what $output says of all ranks; sums up kB in in_dram and in_pmem for each socket, and sets free.
assert_placed() {
	local rank
	in_dram=(0 0) in_pmem=(0 0)
	for rank in 0 1 2 3; do
		assert_rank "$(grep "^rank $rank:" <<<"$output")" "$1"
	done
	assert_line "all: $((4 * $1)) MiB"
	IFS=' ' read -ra free <<<"$(sed -n 's/^free: //p' <<<"$output")"
}

assert_dram_alone() {
	assert_placed $FITS
	assert_equal "${in_pmem[*]}" '0 0'
}

# Persistent memory was taken when there was no more DRAM: less than a tenth is left, which the kernel keeps for itself.
assert_dram_first() {
	local socket
	assert_placed $BEYOND
	for socket in 0 1; do
		((in_dram[socket] > 0 && in_pmem[socket] > 0)) || fail "socket $socket: ${in_dram[*]} and ${in_pmem[*]} kB"
		((free[socket] < 1024 * 1024 / 10)) || fail "socket $socket has ${free[socket]} kB of DRAM left"
	done
}

# under_srun MPI PMI: a rank that is killed ends the others, which would wait for it.
under_srun() {
	local options=(--pm-mode=flat --mpi="$2" --kill-on-bad-exit -n 4 --mem=8000M)
	run_user 0 srun "${options[@]}" "./fill.$1" $FITS
	assert_dram_alone
	run_user 0 srun "${options[@]}" "./fill.$1" $BEYOND
	assert_dram_first
}

# under_mpirun MPI
under_mpirun() {
	run_sbatch 0 --pm-mode=flat -n 4 --mem=8000M <<-END
		#!/bin/bash
		mpirun.$1 -n 4 pmrun ./fill.$1 $FITS
		echo next
		mpirun.$1 -n 4 pmrun ./fill.$1 $BEYOND
	END
	local all=$output
	output=${all%%next*}
	assert_dram_alone
	output=${all##*next}
	lines=()
	mapfile -t lines <<<"$output"
	assert_dram_first
}

@test "Open MPI under srun: DRAM of the rank's socket, then its persistent memory, none of the other socket's" {
	under_srun openmpi pmix
}

@test "MPICH under srun" {
	under_srun mpich pmi2
}

@test "Open MPI under mpirun and pmrun" {
	under_mpirun openmpi
}

@test "MPICH under mpirun and pmrun" {
	under_mpirun mpich
}

# Ranks beyond DRAM leave pages everywhere; the kernel gives the persistent memory back after each of their jobs all the same.
@test "no job has cost the node a reboot" {
	assert_equal "$(boot_id n1)" "$BOOT_BEFORE"
}
