#!/usr/bin/env bats
# What a job used, by tier, and why it died: real cgroups, quotas and signals, told by pmctl report.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

setup() {
	load helpers
	load jobs
}

teardown() {
	on_head scancel --me
}

# fill MIB: what holds that much memory for a moment.
FILL='import sys, time
room = bytearray(int(sys.argv[1]) << 20)
for at in range(0, len(room), 4096): room[at] = 1
time.sleep(4)'

# report_of ID: once the node has reported.
report_of() {
	wait_for 180 eval "on_head pmctl report --json $1 | grep -q setup_ms"
	run on_head pmctl report "$1"
}

# end_of RC OPTION...: a job that ends with RC; its script is on stdin, its number in $job.
end_of() {
	local wanted=$1
	shift
	run_user "$wanted" sh -c 'cat >report.job; sbatch --wait --parsable --output=/dev/null "$@" report.job' sh "$@"
	job=${output%%$'\n'*}
}

@test "memory by tier and socket, and what was written to \$PM_DIR" {
	use_mode n1 appdirect
	end_of 0 -w n1 --pm-mode=appdirect --pm-size=256M --mem=500M <<-END
		#!/bin/bash
		dd if=/dev/zero of=\$PM_DIR/file bs=1M count=100
		srun /usr/bin/python3 -c '$FILL' 200
	END
	report_of "$job"
	assert_line --regexp '^Memory:     [23][0-9][0-9] MiB of 500 MiB at most \(n1\)$'
	assert_line --regexp '^  DRAM:     .* on socket [01].* at most \(n1\)$'
	assert_line --regexp '^  \$PM_DIR:  100 MiB on socket [01] of 256 MiB at most \(n1\)$'
	refute_line --partial 'Ended:'
}

@test "top shows each rank's memory with its budget" {
	use_mode n1 appdirect
	run_user 0 sbatch --parsable -w n1 -n2 --pm-mode=appdirect --pm-dram=64M --output=/dev/null --wrap="srun /usr/bin/python3 -c '
room = bytearray(100 << 20)
for at in range(0, len(room), 4096): room[at] = 1
import time; time.sleep(120)'"
	job=$output
	wait_for 60 eval "on_head pmctl top --json $job 2>/dev/null | grep -q budget_bytes"
	sleep 5
	run on_head pmctl top --json "$job"
	run /usr/bin/python3 -c '
import json, sys
node = json.loads(sys.argv[1])["nodes"][0]
print(sorted((rank["rank"], rank["dram_bytes"] > 100 << 20, rank["budget_bytes"] >> 20)
             for rank in node["ranks"] if "budget_bytes" in rank))' "$output"
	assert_output "[(0, True, 64), (1, True, 64)]"
}

@test "memory of a flat job is told apart from its DRAM" {
	use_mode n1 appdirect
	end_of 0 -w n1 --pm-mode=flat <<-END
		#!/bin/bash
		numactl --membind=\$PM_NODE0 /usr/bin/python3 -c '$FILL' 150
	END
	report_of "$job"
	assert_line --regexp '^  PMem:     1[5-9][0-9] MiB on socket 0.* at most \(n1\)$'
	assert_line --regexp '^Set-up:     [0-9.]+ s \(n1\), part of the job.s time$'
}

@test "out of memory: used, limit, and what to write instead" {
	use_mode n1 appdirect
	end_of 1+ -w n1 --pm-mode=appdirect --mem=200M <<-END
		#!/bin/bash
		srun /usr/bin/python3 -c '$FILL' 400
	END
	report_of "$job"
	assert_line --regexp '^Ended:      out of memory on n1: (19[0-9]|200) MiB of 200 MiB were in use; ask for more with --mem'
}

@test "no space left in \$PM_DIR" {
	use_mode n1 appdirect
	end_of 1+ -w n1 --pm-mode=appdirect --pm-size=64M <<-'END'
		#!/bin/bash
		dd if=/dev/zero of=$PM_DIR/file bs=1M count=100
	END
	report_of "$job"
	assert_line --regexp '^Ended:      \$PM_DIR[01], on socket [01] of n1, was full: 6[34][.0-9]* MiB of 64 MiB; ask for more with --pm-size$'
}

@test "SIGBUS behind the end of a mapped file" {
	use_mode n1 appdirect
	end_of 1+ -w n1 --pm-mode=appdirect <<-'END'
		#!/bin/bash
		exec /usr/bin/python3 -c 'import mmap, os
		file = os.open(os.environ["PM_DIR"] + "/short", os.O_RDWR | os.O_CREAT)
		os.ftruncate(file, 8192)
		room = mmap.mmap(file, 8192)
		os.ftruncate(file, 0)
		room[4096] = 1'
	END
	report_of "$job"
	assert_line --partial 'Ended:      ended by SIGBUS: no node reports a bad page, so most likely a mapped file became shorter'
}

# start OPTION...: a job in the background; its script is on stdin, its number in $job.
start() {
	run_user 0 sh -c 'rm -f report.out; cat >report.job; sbatch --parsable --output=report.out "$@" report.job' sh "$@"
	job=$output
}

# written TEXT: the job has written it.
written() { [ "$(on_head cat report.out 2>/dev/null)" = "$1" ]; }

state_is() { on_head pmctl report --json "$1" 2>/dev/null | grep -q "\"$2\""; }

# poison NAME: a page of the job's mapping of it fails.
poison() {
	pmtwin copy "$ROOT/tests/twin/programs/poison.py" n1:/run/poison.py
	pmtwin exec n1 -- /usr/bin/python3 /run/poison.py "$1"
}

# mapped [FILE]: holds a mapping of the file, or of memory.
MAPPED='import mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR) if len(sys.argv) > 1 else -1
room = mmap.mmap(file, 8 << 20)
room[0] = 1
print("mapped", flush=True)
while True: time.sleep(0.2); room[0] = 2'

@test "SIGBUS by a bad page of a file in \$PM_DIR" {
	use_mode n1 appdirect
	start -w n1 --pm-mode=appdirect <<-END
		#!/bin/bash
		truncate --size=8M "\$PM_DIR/kept"
		exec /usr/bin/python3 -c '$MAPPED' "\$PM_DIR/kept"
	END
	wait_for 120 written mapped
	poison /kept
	report_of "$job"
	assert_line 'Ended:      ended by SIGBUS: a page of $PM_DIR0 (persistent memory) on socket 0 of n1 is bad; submit the job again with --exclude=n1, and tell your administrators'
}

@test "SIGBUS by a bad page of flat memory" {
	use_mode n1 appdirect
	start -w n1 --pm-mode=flat <<-END
		#!/bin/bash
		exec numactl --membind=\$PM_NODE1 /usr/bin/python3 -c '$MAPPED'
	END
	wait_for 180 written mapped
	poison /dev/zero
	report_of "$job"
	assert_line 'Ended:      ended by SIGBUS: a page of persistent memory on socket 1 of n1 is bad; submit the job again with --exclude=n1, and tell your administrators'
}

@test "the time limit passes" {
	use_mode n1 appdirect
	end_of 1+ -w n1 --pm-mode=appdirect --time=1 --pm-report --output=limit.out <<-'END'
		#!/bin/bash
		sleep 300
	END
	report_of "$job"
	assert_line --regexp '^Ended:      the time limit of 60 s passed, in which the set-up of the nodes took up to [0-9]+ s; ask for more with --time$'
	run on_head cat limit.out
	assert_line --regexp "^Job:        $job, .*, TIMEOUT$"
	assert_line --regexp '^Ended:      the time limit of 60 s passed'
	assert_line "Clean-up:   not known yet, it follows the job's time"
}

@test "--pm-report of a script that the kernel kills, in its output file" {
	use_mode n1 appdirect
	end_of 1+ -w n1 --pm-mode=appdirect --mem=200M --pm-report --output=killed.out <<-END
		#!/bin/bash
		stat -c %U /proc/self/fd/1
		exec /usr/bin/python3 -c '$FILL' 400
	END
	run on_head cat killed.out
	assert_line --index 0 user1
	assert_line --regexp '^(Killed|Ended): +out of memory on n1: (19[0-9]|200) MiB of 200 MiB were in use; ask for more with --mem'
	assert_line --regexp '^  DRAM:     .* on socket [01].* at most \(n1\)$'
}

@test "the page of a job has its memory over time" {
	use_mode n1 appdirect
	end_of 0 -w n1 --pm-mode=appdirect --pm-size=256M <<-END
		#!/bin/bash
		dd if=/dev/zero of=\$PM_DIR/file bs=1M count=100
		srun /usr/bin/python3 -c '$FILL' 200
	END
	report_of "$job"
	run on_head pmctl report --output=- "$job"
	assert_output --partial '<!doctype html>'
	assert_output --partial 'Memory, MiB'
	assert_output --regexp 'Memory of socket [01], MiB'
	assert_output --partial 'quota 512 MiB' # of both sockets
}

@test "a node that loses its power" {
	use_mode n1 appdirect
	start -w n1 --no-requeue --pm-mode=appdirect <<-END
		#!/bin/bash
		echo there
		sleep 900
	END
	wait_for 120 written there
	pmtwin power-cycle --wait 120 n1
	wait_for 300 state_is "$job" NODE_FAIL
	run on_head pmctl report "$job"
	assert_line 'Ended:      Slurm lost n1: its power, its network or its slurmd failed; submit the job again with --exclude=n1, or with --requeue to have Slurm do that'
	restore_node n1
}
