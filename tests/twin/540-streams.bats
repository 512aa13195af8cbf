#!/usr/bin/env bats
# Streams in a flat job on a node with three cores a socket, of which a rank has one: three planted site profiles give 0, 1 and 2
# helpers, as threads on the processors of the plan; batches are in DRAM of the rank's socket, the range in its PMem.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

# plant CLASS COPY BOTH: bytes per second of each thread that copies, one way and both ways at once.
plant() {
	/usr/bin/python3 - "$@" >"$BATS_FILE_TMPDIR/$1.json" <<-'END'
		import json, sys
		name, copy, both = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
		def curve(kind, rate):
		    return {"name": kind, "points": [{"threads": n, "bytes_per_s": n * rate} for n in (1, 2)]}
		curves = [curve("copy-in", copy), curve("copy-out", copy), curve("both-in", both), curve("both-out", both)]
		values = [{"name": name, "value": 10**15} for name in ("peak-in", "peak-out")]
		print(json.dumps({"format": "slurm-pmem site profile", "version": 1, "class": name,
		                  "sockets": [{"socket": socket, "curves": curves, "values": values} for socket in (0, 1)]}))
	END
	pmtwin copy "$BATS_FILE_TMPDIR/$1.json" "n1:/etc/slurm/pmem-profile.d/$1.json"
}

setup_file() {
	load helpers
	load jobs
	wait_for 240 node_is n1 idle
	pmtwin copy "${PM_BUILD:-$ROOT/build}/tests/runtime/streams" n1:/usr/local/bin/streams
	pmtwin exec n1 -- mkdir -p /etc/slurm/pmem-profile.d
	plant planted-0 1000000 1000000
	plant planted-1 100000000000 100000000000
	plant planted-2 1000000 100000000000
}

setup() {
	load helpers
	load jobs
}

# watched CLASS: two ranks that walk 100 MiB in batches of 4 MiB, and the helpers and pages that their processes have.
watched() {
	# shellcheck disable=SC2016 # expanded on the node
	run timeout "$LIMIT_S" "$ROOT/twin/pmtwin" run --user user1 -- sh -c \
		'cat >watch; sbatch --wait --exclusive -N 1 -w n1 --pm-mode=flat -o watch.out -e watch.out watch "$1" >/dev/null; rc=$?; cat watch.out; exit $rc' \
		sh "$1" <<-'END'
			#!/bin/bash
			PM_STREAMS=paced PM_REPORT=stderr srun -n 2 --pm-threads=1 --pm-dram=64M --pm-runtime=place --pm-site-profile="$1" streams $((100 << 20)) $((4 << 20)) 6 spin &
			while kill -0 $! 2>/dev/null; do
				for process in $(pgrep -x streams); do
					grep -hE '^[0-9a-f]+ bind:[0-9] ' /proc/$process/numa_maps | grep -oE 'bind:[0-9]|N[0-9]=[0-9]{4,}' | paste -sd' '
					for task in /proc/$process/task/*; do
						name=$(cat "$task/comm") place=$(grep Cpus_allowed_list "$task/status" | cut -f2)
						[ "${name#pm-helper}" = "$name" ] || echo "$name on $place beside $(grep Cpus_allowed_list /proc/$process/status | cut -f2)"
					done
				done 2>/dev/null
				sleep 0.3
			done
			wait
		END
	expect_status 0 watched "$@"
	output=$(sort -u <<<"$output")
	mapfile -t lines <<<"$output"
}

# told HELPERS: of the loop that writes, whose batches are copied both ways; the sum is that of a run without the runtime.
told() {
	assert_line --regexp "^pm: rank 0: streams of batches of 4M: helpers $1,"
	assert_line --regexp "^pm: rank 1: streams of batches of 4M: helpers $1,"
	assert_equal "$(grep '^sum ' <<<"$output")" "$("${PM_BUILD:-$ROOT/build}/tests/runtime/streams" $((100 << 20)) $((4 << 20)) 6)"
}

@test "a profile with slow copies: no helper" {
	watched planted-0
	told 0
	refute_output --partial pm-helper
	refute_output --partial 'helpers 1'
}

@test "fast copies: one helper a rank, on the plan's processor" {
	watched planted-1
	told 1
	assert_line 'pm-helper0 on 1 beside 0'
	assert_line 'pm-helper0 on 4 beside 3'
	refute_output --partial pm-helper1
	# Three batches in DRAM of the socket, which no other object may have; the ranges in its persistent memory.
	assert_output --regexp 'bind:0 N0=3072( |$)'
	assert_output --regexp 'bind:2 N2=[0-9]+'
	assert_output --regexp 'bind:1 N1=3072( |$)'
	assert_output --regexp 'bind:3 N3=[0-9]+'
}

@test "copies that are in time both ways at once only: two helpers" {
	watched planted-2
	told 2
	for place in 'pm-helper0 on 1 beside 0' 'pm-helper1 on 2 beside 0' 'pm-helper0 on 4 beside 3' 'pm-helper1 on 5 beside 3'; do
		assert_line "$place"
	done
}
