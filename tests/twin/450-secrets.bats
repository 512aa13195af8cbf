#!/usr/bin/env bats
# user1 leaves a pattern in persistent memory in every mode; user2 gets the same node and must find nothing of it.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

NODE=n1

setup_file() {
	load helpers
	pmtwin copy "${PM_BUILD:-$ROOT/build}/tests/pattern" "$NODE:/usr/local/bin/pattern"
}

setup() {
	load helpers
	load jobs
	wait_for 60 node_is $NODE idle
}

# user2 looks at all he can reach: his own devices, his directories, freed blocks of the file systems, others' places.
user2_looks_everywhere() {
	job_of user2 --pm-mode=appdirect <<-'END'
		#!/bin/bash
		set -e
		for dir in $PM_DIR0 $PM_DIR1; do
			fallocate -l 900M "$dir/allocated"
			pattern blank "$dir/allocated" 0
			truncate -s 900M "$dir/sparse"
			pattern blank "$dir/sparse" 0
		done
		for place in /dev/pmem* /dev/dax* "${PM_DIR0%/*}" "${PM_DIR0%/*}"/job_*; do
			[ "$place" = "$PM_DIR0" ] || [ ! -r "$place" ] || { echo "can read $place"; exit 1; }
		done
	END
	job_of user2 --pm-mode=appdirect --pm-namespace=devdax <<-'END'
		#!/bin/bash
		set -e
		pattern look "$PM_DAX0" 0
		pattern look "$PM_DAX1" 0
	END
	assert_line --partial 'look /dev/dax'
}

@test "files, and the blocks that deleted files left" {
	job_of user1 --pm-mode=appdirect <<-'END'
		#!/bin/bash
		set -e
		for dir in $PM_DIR0 $PM_DIR1; do
			pattern fill "$dir/deleted" $((600 << 20))
			rm "$dir/deleted"
			pattern fill "$dir/kept" $((900 << 20))
			mkdir "$dir/tree" && ln "$dir/kept" "$dir/tree/linked"
		done
	END
	user2_looks_everywhere
}

@test "device DAX" {
	job_of user1 --pm-mode=appdirect --pm-namespace=devdax <<-'END'
		#!/bin/bash
		set -e
		pattern fill "$PM_DAX0" $((1 << 30))
		pattern fill "$PM_DAX1" $((1 << 30))
	END
	user2_looks_everywhere
}

@test "flat: anonymous memory on the persistent nodes" {
	job_of user1 --pm-mode=flat <<-'END'
		#!/bin/bash
		set -e
		numactl --membind="$PM_NODE0" pattern fill anon $((1 << 30))
		numactl --membind="$PM_NODE1" pattern fill anon $((1 << 30))
	END
	job_of user2 --pm-mode=flat <<-'END'
		#!/bin/bash
		set -e
		numactl --membind="$PM_NODE0" pattern blank anon $((3 << 30))
		numactl --membind="$PM_NODE1" pattern blank anon $((3 << 30))
	END
	user2_looks_everywhere
}

@test "mixed: files, then the other modes after the reboot" {
	job_of user1 --pm-mode=mixed <<-'END'
		#!/bin/bash
		set -e
		pattern fill "$PM_DIR0/secret" $((900 << 20))
		pattern fill "$PM_DIR1/secret" $((900 << 20))
		pattern fill anon $((1 << 30))
	END
	user2_looks_everywhere
}

@test "memory mode" {
	job_of user1 --pm-mode=memory <<-'END'
		#!/bin/bash
		pattern fill anon $((5 << 30))
	END
	user2_looks_everywhere
}
