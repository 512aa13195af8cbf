#!/usr/bin/env bats
# Jobs in mount namespaces of their own, by Slurm's job_container/tmpfs: docs/admin/compatibility.md has a row for each.
# On one node, of `pmtwin up --packages libpam-slurm-adopt,bubblewrap`.
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
	wait_for 120 node_is n1 idle
}

teardown_file() {
	load helpers
	for_both 'cd /etc/slurm; rm -f job_container.conf; sed -i "/^JobContainerType=/d" slurm.conf
		sed -i "s/,Contain.*//" slurm-pmem.conf; sed -i "/^Exclusive=/d" pmem.conf'
	restart_slurm
}

for_both() {
	pmtwin exec head -- bash -c "$1"
	pmtwin exec n1 -- bash -c "$1"
}

restart_slurm() {
	pmtwin exec head -- systemctl restart slurmctld
	pmtwin exec n1 -- systemctl restart slurmd
	wait_for 60 node_is n1 idle
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

release_has() {
	[[ $(pmtwin exec head -- slurmctld -V) != *" 22.05."* ]]
}

# The job writes a file in its script, reads it in a step, and both are not in slurmd's namespace.
IN_JOB='#!/bin/bash
set -e
[ "$(readlink /proc/self/ns/mnt)" != '%s' ]
cd "$PM_DIR0"
echo written >file
stat --file-system --format=%%T .
srun sh -c "cat \$PM_DIR0/file; stat --file-system --format=%%T \$PM_DIR1"'

# On file systems that the job's prolog has to mount, and on those of the job before.
check_directories() {
	local ns round script
	ns=$(n1 'readlink /proc/$(pidof -s slurmd)/ns/mnt')
	# shellcheck disable=SC2059 # the format is above
	script=$(printf "$IN_JOB" "'$ns'")
	n1 'pmctl provision empty'
	for round in 'made anew' 'as they are'; do
		run_sbatch 0 -w n1 --pm-mode=appdirect <<<"$script"
		assert_output $'ext2/ext3\nwritten\next2/ext3'
		wait_for 60 node_is n1 idle
		echo "# $round: $output" >&2
	done
	run -0 n1 "pmctl provision empty; ndctl list -N"
	refute_output --partial namespace
}

@test "a job's script and steps have \$PM_DIR in a private namespace, and leave nothing busy" {
	with_namespaces Contain
	check_directories
}

@test "the same with Shared=true, where the release has it" {
	release_has || return 0
	with_namespaces Contain Shared=true
	check_directories
}

@test "the same with PrologFlags=RunInJob, where the namespace is made before the prolog" {
	release_has || return 0
	with_namespaces Contain,RunInJob
	check_directories
}

@test "RunInJob and Shared=true" {
	release_has || return 0
	with_namespaces Contain,RunInJob Shared=true
	check_directories
}

# session COMMAND: what an ssh session of user1 on the node runs, adopted by pam_slurm_adopt, by way of su(1).
session() {
	n1 "su --pty=no user1 -c '$1'" </dev/null
}

@test "a session that pam_slurm_adopt adopts has the job's directory" {
	with_namespaces Contain
}

@test "a job without a mode that outlives the file systems does not keep them busy" {
	with_namespaces Contain
	for_both 'sed -i "/^Exclusive=/d" /etc/slurm/pmem.conf; echo Exclusive=no >>/etc/slurm/pmem.conf'
	run_user 0 srun -w n1 --pm-mode=appdirect true
	wait_for 60 node_is n1 idle
	run -0 on_head sbatch -n1 -w n1 --mem=100M --output=/dev/null --wrap 'sleep 300'
	wait_for 60 node_is n1 mixed
	run_user 0 srun -n1 -w n1 --mem=100M --pm-mode=appdirect --pm-namespace=devdax sh -c 'ls $PM_DAX0'
	assert_output --regexp '^/dev/dax[0-9.]+$'
	run node_reason n1
	assert_output none
}
