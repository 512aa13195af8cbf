#!/usr/bin/env bats
# A suspended or stopped job keeps its node's mode and its memory, with the slurmd.service of Debian and a kernel that reboots, on one node:
# docs/admin/compatibility.md has a row for it.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

setup() {
	load helpers
	load jobs
	load node_jobs
}

teardown() {
	on_head scancel --user=user1 || true
	n1 'rm -f /usr/local/bin/systemctl /run/read-again' || true
	wait_for 300 node_is n1 idle || restore_node n1
}

# A job that holds 64 MiB of persistent memory; a line for each time that it found its contents as they were written.
HOLDER='#!/bin/bash
exec numactl --membind=$PM_NODE0 /usr/bin/python3 -c "
import hashlib, os, time
memory = bytearray(os.urandom(1 << 20) * 64)
written = hashlib.sha256(memory).digest()
while True:
    print(os.popen(\"pmctl mode\").read().strip(), hashlib.sha256(memory).digest() == written, flush=True)
    time.sleep(1)
"'

# The same with a file in $PM_DIR.
FILE_HOLDER='#!/bin/bash
exec /usr/bin/python3 -c "
import hashlib, mmap, os, time
file = open(os.environ[\"PM_DIR\"] + \"/held\", \"w+b\")
file.write(os.urandom(1 << 20) * 64)
file.flush()
memory = mmap.mmap(file.fileno(), 0)
written = hashlib.sha256(memory).digest()
while True:
    print(os.popen(\"pmctl mode\").read().strip(), hashlib.sha256(memory).digest() == written, flush=True)
    time.sleep(1)
"'

lines() { on_head sh -c 'cat holder.out 2>/dev/null | wc -l'; }
more_lines_than() { [ "$(lines)" -gt "$1" ]; }
state_of() { pmtwin exec head -- squeue --noheader --states=all --jobs="$1" --Format=State 2>/dev/null | tr -d ' '; }
is_in_state() { [ "$(state_of "$1")" = "$2" ]; }

stands_still() {
	local count
	count=$(lines)
	sleep 10
	[ "$(lines)" = "$count" ]
}

# Of a suspended job Slurm counts the memory (CR_Core_Memory), so both jobs take part of it alone.
MEMORY=--mem=1G

# hold MODE PROGRAM: a job whose number is in $holder, its node's boot in $boot.
hold() {
	run_user 0 sh -c 'rm -f holder.out; cat >holder.job; sbatch --parsable -w n1 "$@" --output=holder.out holder.job' sh --pm-mode="$1" "$MEMORY" <<<"$2"
	holder=$output
	wait_for 300 more_lines_than 1
	boot=$(boot_id n1)
}

# The number of lines at which it stands is in $stood.
suspend() {
	started=$(n1 'systemctl show --property=ExecMainStartTimestampMonotonic --value slurmd')
	pmtwin exec head -- scontrol suspend "$holder"
	wait_for 60 is_in_state "$holder" SUSPENDED
	wait_for 120 stands_still
	stood=$(lines)
}

# A job of another mode, for which Slurm orders a reboot. Its number is in $other.
submit_other() {
	run_user 0 sbatch --parsable -w n1 --pm-mode=memory "$MEMORY" --output=other.out --wrap='pmctl mode'
	other=$output
}

# Our program has restarted slurmd, with -b, and slurmctld waits for no boot any more.
slurmd_told_of_a_boot() {
	n1 "[ \$(systemctl show --property=ExecMainStartTimestampMonotonic --value slurmd) -gt $started ] &&
		tr '\0' '\n' </proc/\$(systemctl show --property=MainPID --value slurmd)/cmdline | grep -qx -e -b" 2>/dev/null &&
		! pmtwin exec head -- scontrol --local -o show node n1 | grep -q 'State=[^ ]*\(REBOOT\|POWERING_UP\)'
}

check_that_the_job_is_untouched() {
	assert_equal "$(boot_id n1)" "$boot"
	is_in_state "$holder" SUSPENDED
	wait_for 120 is_in_state "$other" PENDING
	run node_state n1
	refute_output --regexp 'drain|down'
	run n1 'ls /run/systemd/system/slurmd.service.d 2>/dev/null'
	refute_output --partial zz-slurm-pmem
	pmtwin exec head -- scontrol resume "$holder"
	wait_for 120 more_lines_than $((stood + 2))
	assert_equal "$(boot_id n1)" "$boot"
}

@test "a flat job is suspended: slurmd is restarted with -b, the job's memory stays, and the waiting job gets its mode afterwards" {
	hold flat "$HOLDER"
	suspend
	submit_other
	wait_for 300 slurmd_told_of_a_boot
	check_that_the_job_is_untouched
	run on_head sort -u holder.out
	assert_output 'flat True'
	on_head scancel "$holder"
	wait_for 600 is_in_state "$other" COMPLETED
	run on_head cat other.out
	assert_output memory
	run pmtwin exec head -- sinfo -hN -n n1 -o '%T %E'
	refute_output --regexp 'drain|down'
}

@test "an appdirect job is suspended: its file in \$PM_DIR stays as it was written, beside a job of another mode that waits" {
	hold appdirect "$FILE_HOLDER"
	suspend
	submit_other
	wait_for 300 slurmd_told_of_a_boot
	check_that_the_job_is_untouched
	run on_head sort -u holder.out
	assert_output 'appdirect True'
	on_head scancel "$holder" "$other"
}

# A systemctl before Debian's: before slurmd is stopped, it is told to read its configuration again.
READS_AGAIN='#!/bin/sh
slurmd=$(/usr/bin/systemctl show --property=MainPID --value slurmd)
case $1 in
stop | restart) [ "$slurmd" = 0 ] || { kill -HUP "$slurmd" && touch /run/read-again && sleep 0.3; } ;;
esac
exec /usr/bin/systemctl "$@"'

one_slurmd_is_active() {
	[ "$(n1 'systemctl is-active slurmd; pgrep --parent 1 --count slurmd')" = "$(printf '%s\n' active 1)" ]
}

@test "a reconfiguration at the moment of that restart: systemd has no slurmd to kill, one runs, with -b, and the suspended job is untouched" {
	hold flat "$HOLDER"
	# From then on, the programs that slurmd runs inherit the socket on its port.
	n1 'systemctl reload slurmd'
	suspend
	pmtwin exec n1 -- sh -c 'printf "%s\n" "$1" >/usr/local/bin/systemctl && chmod 755 /usr/local/bin/systemctl' sh "$READS_AGAIN"
	submit_other
	wait_for 300 slurmd_told_of_a_boot
	n1 'test -e /run/read-again'
	run n1 'journalctl --boot --unit=slurmd --output=cat'
	refute_output --regexp 'timed out|already in use|Failed with'
	wait_for 120 one_slurmd_is_active # the last restart may go on
	check_that_the_job_is_untouched
	run on_head sort -u holder.out
	assert_output 'flat True'
	on_head scancel "$holder" "$other"
}

@test "a user stops a job of his with SIGSTOP: it keeps its node, mode and file, and its end is no fault of the node" {
	hold appdirect "$FILE_HOLDER"
	on_head scancel --full --signal=STOP "$holder"
	wait_for 120 stands_still
	stood=$(lines)
	submit_other
	stands_still
	is_in_state "$other" PENDING
	assert_equal "$(boot_id n1)" "$boot"
	on_head scancel --full --signal=CONT "$holder"
	wait_for 120 more_lines_than $((stood + 2))
	run on_head sort -u holder.out
	assert_output 'appdirect True'
	on_head scancel --full --signal=STOP "$holder"
	wait_for 120 stands_still
	on_head scancel "$holder"
	wait_for 600 is_in_state "$other" COMPLETED
	run on_head cat other.out
	assert_output memory
	run pmtwin exec head -- sinfo -hN -n n1 -o '%T %E'
	refute_output --regexp 'drain|down'
}
