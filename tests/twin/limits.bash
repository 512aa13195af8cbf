# Modes, and jobs that use their memory and that outgrow their limit, on node n1. `load helpers`, jobs and node_jobs first.
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

# boot_with OPTIONS: the twin anew, with these options of the node's kernel.
boot_with() {
	pmtwin down
	pmtwin up --kernel-options "$1" --timeout 900
}

# Takes the MiB of its argument.
FILL='import sys
room = bytearray(int(sys.argv[1]) << 20)
for at in range(0, len(room), 4096): room[at] = 1
print("filled", flush=True)'

state_of() { pmtwin exec head -- squeue --noheader --states=all --jobs="$1" --Format=State 2>/dev/null | tr -d ' '; }
has_state() { [ "$(state_of "$1")" = "$2" ]; }

# dies_at_its_limit MODE [PROGRAM...]: a job that outgrows its 200 MiB, the program in front of what fills it, in the mode.
dies_at_its_limit() {
	local mode=$1
	shift
	run_user 0 sbatch --parsable -w n1 --pm-mode="$mode" --mem=200M --output=fill.out --wrap="exec $* /usr/bin/python3 -c '$FILL' 400"
	wait_for 600 has_state "$output" OUT_OF_MEMORY
	run_user 0 pmctl report --wait=120 "$output" # in flat the node reports later
	assert_line --regexp '^Ended:      out of memory on n1: (19[0-9]|200) MiB of 200 MiB were in use; ask for more with --mem'
	wait_for 300 node_is n1 idle
}

# A job in appdirect with a file in its directory, one in memory after a reboot, and one in flat, that use their memory; of the
# latter two one more that dies by its cgroup. The node is never drained.
check_modes_and_limits() {
	local before drained
	use_mode n1 appdirect
	drained=$(drains)
	run_sbatch 0 -w n1 --pm-mode=appdirect <<<$'#!/bin/bash\nsrun sh -c \'echo "$(id -un) $(pmctl mode)" >$PM_DIR0/file; cat $PM_DIR0/file\''
	assert_output 'user1 appdirect'
	before=$(boot_id n1)
	run_sbatch 0 -w n1 --pm-mode=memory --mem=4G <<<$'#!/bin/bash\npmctl mode; /usr/bin/python3 -c \''"$FILL"$'\' 300'
	assert_output $'memory\nfilled'
	[ "$(boot_id n1)" != "$before" ]
	dies_at_its_limit memory
	run_sbatch 0 -w n1 --pm-mode=flat --mem=4G <<<$'#!/bin/bash\npmctl mode; numactl --membind=$PM_NODE0 /usr/bin/python3 -c \''"$FILL"$'\' 300'
	assert_output $'flat\nfilled'
	dies_at_its_limit flat 'numactl --membind=$PM_NODE0'
	assert_equal "$(drains)" "$drained"
	wait_for 300 node_is n1 idle
}

drains() { pmtwin exec head -- grep -ciE 'n1.*(state set to DRAIN|reason set to|DOWN)' /var/log/slurm/slurmctld.log || true; }
