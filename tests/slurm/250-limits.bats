#!/usr/bin/env bats
# Limits of users and daemons, full disks, names that nothing looks up: docs/admin/compatibility.md has a row for each.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
}

teardown() {
	cancel_jobs -f
	kill "$(cat "$BATS_TEST_TMPDIR/pid" 2>/dev/null)" 2>/dev/null || true
	in_bench umount "$(bench_dir)/n1/state" "$(bench_dir)/kept" /etc/resolv.conf /etc/nsswitch.conf 2>/dev/null || true
	rm -f "$(bench_dir)/n1/read-only"
	if [ -e "$BATS_TEST_TMPDIR/n1.conf" ]; then
		replace "$BATS_TEST_TMPDIR/n1.conf" "$(bench_dir)/n1/pmem.conf"
	fi
	wait_for 30 no_jobs
	if [ -e "$BATS_TEST_TMPDIR/slurm.conf" ]; then
		replace "$BATS_TEST_TMPDIR/slurm.conf" "$(bench_dir)/etc/slurm.conf"
		bench restart-slurmctld
	fi
	bench service start
	bench restart-slurmd n1
	wait_for 60 nodes_have_modes
	resume n1 n2
}

# with_limits ULIMITS COMMAND...: as the user, whom Slurm gives the same limits in the job.
with_limits() {
	local limits=$1
	shift
	run bench user bash -c "ulimit $limits && exec \"\$@\"" bash "$@"
	drop_remarks
}

has_slurmd() { [ -n "$(bench_pids slurmd)" ]; }

# In the mounts of the bench's daemons, which then are theirs alone.
in_bench() {
	wait_for 20 has_slurmd
	nsenter --mount --root --target "$(bench_pids slurmd | tail -n 1)" -- sh -c 'mount --make-rprivate / 2>/dev/null; exec "$@"' sh "$@"
}

# fill DIRECTORY: nothing more can be written there.
fill() {
	in_bench mount -t tmpfs -o size=64k,mode=755 none "$1"
	in_bench sh -c "head -c 1M /dev/zero >$1/full 2>/dev/null; [ -s $1/full ]"
}

in_service() {
	run node_field n1 '%T %E'
	refute_output --partial drain
	assert_output --partial none
}

@test "ulimits of a user: each goes with a mode and a plan, and is the job's" {
	local limits
	put_in appdirect n1
	for limits in '-n 32' '-v 400000' '-l 0' '-f 0' '-c unlimited' '-s 256' '-t 5' '-u 4000'; do
		with_limits "$limits" srun -w n1 --pm-mode=appdirect --pm-dram=16M --pm-bind=none \
			bash -c "pmctl mode; ulimit ${limits% *}"
		assert_equal "$limits: $status $output" "$limits: 0 appdirect"$'\n'"${limits#* }"
	done
	in_service
}

@test "ulimits of slurmd: a change of mode and a job do with few files, no core and no locked memory" {
	local pid
	put_in appdirect n1
	for pid in $(bench_pids slurmd); do
		prlimit --pid "$pid" --nofile=64:64 --core=0:0 --memlock=0:0
	done
	run_srun -w n1 --pm-mode=appdirect bash -c 'pmctl mode; ulimit -c'
	assert_output $'appdirect\n0'
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	in_service
}

@test "a full /var on a node: it drains and names the file, the job runs on another" {
	put_in appdirect n1
	put_in appdirect n2
	fill "$(bench_dir)/n1/state"
	run_sbatch --pm-mode=appdirect <<<$'#!/bin/sh\necho "$SLURMD_NODENAME $(pmctl mode)"'
	assert_output 'n2 appdirect'
	assert_drained n1 "/n1/state/lock': No space left on device"
}

# make_read_only DIRECTORY: on n1, as when the kernel has found an error of its file system.
make_read_only() {
	echo "$1" >"$(bench_dir)/n1/read-only"
	bench restart-slurmd n1
}

@test "a /var of a node that became read-only: it drains and names the file, the job runs on another" {
	put_in appdirect n1
	put_in appdirect n2
	make_read_only "$(bench_dir)/n1/state"
	run_sbatch --pm-mode=appdirect <<<$'#!/bin/sh\necho "$SLURMD_NODENAME $(pmctl mode)"'
	assert_output 'n2 appdirect'
	assert_drained n1 "/n1/state/lock': Read-only file system"
}

@test "a read-only /, but for the folders of Slurm's and of our state: nodes change their modes" {
	put_in appdirect n1
	make_read_only /
	run_srun -w n1 --pm-mode=memory cat /proc/self/mountinfo
	assert_line --regexp ' / / ro,| / ro,'
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_output appdirect
	in_service
}

@test "a full disk of pm-controller: jobs get their modes all the same" {
	put_in appdirect n1
	fill "$(bench_dir)/kept"
	bench service start
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_output appdirect
	in_service
}

@test "MemSpecLimit: jobs get their modes, and what the node keeps for itself is not theirs" {
	local conf
	conf=$(bench_dir)/etc/slurm.conf
	cp "$conf" "$BATS_TEST_TMPDIR/slurm.conf"
	sed -i 's/^NodeName=DEFAULT .*/& MemSpecLimit=56/; s/CR_Core$/CR_Core_Memory/' "$conf"
	restart_all
	resume n1 n2
	run_srun -w n1 --pm-mode=memory --mem=200 pmctl mode
	assert_output memory
	run_srun -w n1 --pm-mode=appdirect --mem=0 pmctl mode
	assert_output appdirect
	run_client srun 1 -w n1 --pm-mode=appdirect --mem=201 true
	assert_output --partial 'Requested node configuration is not available'
	in_service
}

# All names but those of /etc/hosts are asked of a server that takes questions and answers none.
with_silent_dns() {
	python3 -c 'import socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.77", 53))
while True:
	open(sys.argv[1], "ab").write(server.recv(512))' "$BATS_TEST_TMPDIR/asked" 3>&- &
	echo $! >"$BATS_TEST_TMPDIR/pid"
	echo 'nameserver 127.0.0.77' >"$(bench_dir)/etc/resolv.conf"
	echo 'hosts: files dns' >"$(bench_dir)/etc/nsswitch.conf"
	for file in resolv.conf nsswitch.conf; do
		in_bench mount --bind "$(bench_dir)/etc/$file" "/etc/$file"
	done
}

@test "DNS that hangs: pm-controller's name is not found, jobs begin and end all the same" {
	cp "$(bench_dir)/n1/pmem.conf" "$BATS_TEST_TMPDIR/n1.conf"
	put_in appdirect n1
	with_silent_dns
	sed 's/^ControllerAddr=.*/ControllerAddr=controller.example/' "$BATS_TEST_TMPDIR/n1.conf" >"$BATS_TEST_TMPDIR/next"
	replace "$BATS_TEST_TMPDIR/next" "$(bench_dir)/n1/pmem.conf"
	bench restart-slurmd n1
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_output appdirect
	assert grep -q controller "$BATS_TEST_TMPDIR/asked"
	in_service
}
