#!/usr/bin/env bats
# Jobs in mount namespaces of their own, by Slurm's job_container/tmpfs: docs/admin/compatibility.md has a row for each.
# On one node, of `pmtwin up --packages libpam-slurm-adopt`, and with Apptainer of tests/twin/programs/apptainer.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

setup() {
	load helpers
	load jobs
	load node_jobs
	load reconfigure
}

teardown() {
	on_head scancel --user=user1 || true
	wait_for 300 node_is n1 idle
}

teardown_file() {
	load helpers
	load reconfigure
	for_both 'cd /etc/slurm; rm -f job_container.conf; sed -i "/^JobContainerType=/d" slurm.conf
		sed -i "s/,Contain.*//" slurm-pmem.conf; sed -i "/pam_slurm_adopt/d" /etc/pam.d/su'
	restart_slurm
}

# with_namespaces FLAGS LINE...: PrologFlags, and lines of job_container.conf.
with_namespaces() {
	local flags=$1
	shift
	for_both "cd /etc/slurm; sed -i 's/^\(PrologFlags=Alloc,DeferBatch\).*/\1,$flags/' slurm-pmem.conf
		grep -q ^JobContainerType= slurm.conf || echo JobContainerType=job_container/tmpfs >>slurm.conf
		printf '%s\n' AutoBasePath=true BasePath=/var/spool/namespaces $* >job_container.conf"
	restart_slurm
}

# A job that writes a file in its script and reads it in a step, neither of them in the namespace $1.
script_outside_of() {
	cat <<-END
		#!/bin/bash
		set -e
		[ "\$(readlink /proc/self/ns/mnt)" != "$1" ]
		cd "\$PM_DIR0"
		echo written >file
		stat --file-system --format=%T .
		srun sh -c 'cat \$PM_DIR0/file; stat --file-system --format=%T \$PM_DIR1; readlink /proc/self/ns/mnt' >step
		head -n 2 step
		[ "\$(tail -n 1 step)" != "$1" ]
	END
}

# On file systems that the job's prolog has to mount, and on those of the job before.
check_directories() {
	local slurmds round
	slurmds=$(n1 'readlink /proc/$(pidof -s slurmd)/ns/mnt')
	n1 'pmctl provision empty'
	for round in 'made anew' 'as they are'; do
		run_sbatch 0 -w n1 --pm-mode=appdirect <<<"$(script_outside_of "$slurmds")"
		assert_equal "$round: $output" "$round: "$'ext2/ext3\nwritten\next2/ext3'
		wait_for 60 node_is n1 idle
	done
	run -0 n1 "pmctl provision empty; ndctl list -N"
	refute_output --partial namespace
}

@test "a job's script and steps have its directory in a private namespace, and leave nothing busy" {
	with_namespaces Contain
	check_directories
}

# From Slurm 23.02 on.
# bats test_tags=newer
@test "the same with Shared=true" {
	with_namespaces Contain Shared=true
	check_directories
}

# su(1) stands in for sshd: the module adopts what any service of PAM starts.
@test "a session that pam_slurm_adopt adopts has the job's directory" {
	local job
	with_namespaces Contain
	n1 'grep -q pam_slurm_adopt /etc/pam.d/su || sed -i "1i account required pam_slurm_adopt.so service=su" /etc/pam.d/su'
	run -1 n1 'su user1 -c true'
	assert_output --partial 'you have no active jobs on this node'
	run -0 --separate-stderr on_head sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null \
		--wrap 'readlink /proc/self/ns/mnt >$PM_DIR0/namespace; sleep 300'
	job=$output
	wait_for 120 n1 "test -s /mnt/slurm-pmem/socket0/job_$job/namespace"
	run -0 n1 "su user1 -c 'cat /mnt/slurm-pmem/socket0/job_$job/namespace; readlink /proc/self/ns/mnt'"
	assert_equal "${#lines[@]}" 2
	assert_equal "${lines[0]}" "${lines[1]}"
	refute_line "$(n1 'readlink /proc/self/ns/mnt')"
}

# As a container's runtime that has left its job does.
@test "a process with private copies of the mounts does not keep the devices busy" {
	with_namespaces Contain
	run_user 0 srun -w n1 --pm-mode=appdirect true
	n1 'setsid unshare --mount --propagation private sleep 600 </dev/null >/dev/null 2>&1 & echo $! >/run/pm-test.pids'
	wait_for 20 n1 'grep -q /mnt/slurm-pmem/socket0 /proc/$(cat /run/pm-test.pids)/mountinfo'
	run_user 0 srun -w n1 --pm-mode=appdirect --pm-namespace=devdax sh -c 'ls $PM_DAX0'
	assert_output --regexp '^/dev/dax[0-9.]+$'
	run -0 n1 'kill $(cat /run/pm-test.pids)' # it has lived on
	run node_reason n1
	assert_output none
}

# Writes a file, and prints its processors and whether pmctl is there, which is in no image.
IN_IMAGE='import os
with open(os.environ["PM_DIR"] + "/table", "w") as table: table.write("written in the image")
print(sorted(os.sched_getaffinity(0)), os.path.exists("/usr/bin/pmctl"))'

put_apptainer() {
	n1 'test -x /opt/apptainer/bin/apptainer' 2>/dev/null && return
	pmtwin copy "${PM_BUILD:-$ROOT/build}/tests/apptainer.tar" n1:/opt/apptainer.tar
	n1 'tar --extract --directory=/ --file=/opt/apptainer.tar; rm /opt/apptainer.tar'
}

# The image is a folder of Debian's packages; that of a SIF file differs in the file system of its root.
# bats test_tags=newer
@test "Apptainer: a program in an image has the job's processors and directory" {
	put_apptainer
	run_user 0 srun -w n1 --pm-mode=appdirect sh -c 'python3 -c "import os; print(sorted(os.sched_getaffinity(0)))"
		/opt/apptainer/bin/apptainer exec --bind "$PM_DIR" /opt/image python3 -c "$1"; cat "$PM_DIR/table"' sh "$IN_IMAGE"
	assert_equal "${lines[1]}" "${lines[0]} False"
	assert_equal "${lines[2]}" 'written in the image'
	run_user 1 srun -w n1 --pm-mode=appdirect sh -c \
		'/opt/apptainer/bin/apptainer exec /opt/image python3 -c "$1"' sh "$IN_IMAGE"
	assert_output --partial "No such file or directory: '/mnt/slurm-pmem/"
	wait_for 60 node_is n1 idle
}

# bats test_tags=newer
@test "Apptainer: the placement runtime places a program's objects in an image" {
	put_apptainer
	run_user 0 srun -w n1 --pm-mode=flat --pm-dram=64M --pm-runtime=place --export=ALL,PM_REPORT=stderr sh -c \
		'exec 2>&1; /opt/apptainer/bin/apptainer exec --bind /usr/lib/slurm-pmem /opt/image python3 -c "
objects = [bytearray(8 << 20) for _ in range(16)]"'
	assert_output --regexp 'budget 64M of DRAM, .*; spilled to PMem: [1-9][0-9]* objects'
	wait_for 60 node_is n1 idle
}
