#!/usr/bin/env bats
# Modes and memory limits with cgroup v1, on one node: docs/admin/compatibility.md has a row. Debian 13's kernel has no memory
# controller of version 1, so this is Debian 12's alone.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

setup() {
	load helpers
	load jobs
	load node_jobs
	load reconfigure
	load limits
}

teardown() {
	on_head scancel --user=user1 || true
	restore_node n1
}

teardown_file() {
	load helpers
	load reconfigure
	load limits
	for_both 'cp /root/cgroup.kept /etc/slurm/cgroup.conf'
	boot_with ''
}

# slurmd starts with the version of the kernel's alone, so the file comes first.
use_version_1() {
	for_both '[ -e /root/cgroup.kept ] || cp /etc/slurm/cgroup.conf /root/cgroup.kept
		sed -i s,cgroup/v2,cgroup/v1, /etc/slurm/cgroup.conf'
	n1 '[ -d /sys/fs/cgroup/memory ]' || boot_with 'systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1'
	wait_for 120 has_modes
}

# The job's cpuset has the NUMA node that its set-up adds, though Slurm's cpuset is older: of the flat jobs below each but the first
# depends on that. The job is in a memory cgroup of its own, and its report has its memory by tier, from that cgroup.
check_the_report() {
	run_user 0 sbatch --parsable -w n1 --pm-mode=flat --mem=1G --output=tiers.out \
		--wrap="grep memory /proc/self/cgroup; numactl --membind=\$PM_NODE0 /usr/bin/python3 -c '$FILL; import time; time.sleep(60)' 300"
	local job=$output
	wait_for 600 has_state "$job" COMPLETED
	run on_head cat tiers.out
	assert_line --regexp ":memory:/slurm.*/job_$job/"
	run_user 0 pmctl report "$job"
	assert_line --regexp '^  PMem: +(29[0-9]|3[0-9][0-9]) MiB on socket 0 at most'
}

@test "cgroup v1: modes change, jobs have their memory and its report, and die at their limit" {
	use_version_1
	run n1 'stat --file-system --format=%T /sys/fs/cgroup'
	assert_output tmpfs
	check_the_report
	check_modes_and_limits
}
