/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node/tools/job_cgroup.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define V2 "sys/fs/cgroup/system.slice/n1_slurmstepd.scope/job_12/"
#define V1 "sys/fs/cgroup/memory/slurm/uid_1000/job_13/"

static void test_version_2(void)
{
	struct pm_job_cgroup cgroup;

	scratch_file(V2 "memory.current", "5000\n");
	scratch_file(V2 "memory.peak", "9000\n");
	scratch_file(V2 "memory.max", "max\n");
	scratch_file(V2 "memory.events", "low 0\nhigh 0\nmax 4\noom 2\noom_kill 3\n");
	scratch_file(V2 "memory.numa_stat",
		"anon N0=4096 N1=100 N2=7\nfile N0=1000 N1=0 N2=0\nfile_mapped N0=500 N1=0 N2=0\n");
	{
		cleanup_free char *path = pm_job_cgroup_find(scratch_dir(), 12);

		ok(path != NULL, "the job's cgroup is found");
		is_number(pm_job_cgroup_read(path, &cgroup), 0, "and read");
	}
	is_number((long long)cgroup.bytes, 5000, "bytes");
	is_number((long long)cgroup.peak_bytes, 9000, "peak");
	is_number((long long)cgroup.limit_bytes, 0, "no limit");
	is_number((long long)cgroup.oom_kills, 3, "kills");
	is_number(cgroup.n_nodes, 3, "nodes");
	is_number((long long)cgroup.node_bytes[0], 5096, "anonymous memory and page cache");
	is_number((long long)cgroup.node_bytes[2], 7, "of the last node");
}

static void test_version_1(void)
{
	cleanup_free char *path = NULL;
	struct pm_job_cgroup cgroup;

	scratch_file(V1 "memory.usage_in_bytes", "8192\n");
	scratch_file(V1 "memory.max_usage_in_bytes", "12288\n");
	scratch_file(V1 "memory.limit_in_bytes", "65536\n");
	scratch_file(V1 "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
	scratch_file(V1 "memory.numa_stat",
		"total=0 N0=0 N1=0\nfile=0 N0=0 N1=0\n"
		"hierarchical_total=2 N0=2 N1=0\nhierarchical_file=1 N0=1 N1=0\n");
	path = pm_job_cgroup_find(scratch_dir(), 13);
	is_number(pm_job_cgroup_read(path, &cgroup), 0, "version 1 is read");
	is_number((long long)cgroup.peak_bytes, 12288, "peak");
	is_number((long long)cgroup.limit_bytes, 65536, "limit");
	is_number((long long)cgroup.oom_kills, 1, "kills");
	is_number((long long)cgroup.node_bytes[0], 2 * sysconf(_SC_PAGESIZE), "pages");
}

static void test_none(void)
{
	struct pm_job_cgroup cgroup;

	ok(!pm_job_cgroup_find(scratch_dir(), 1), "a job without a cgroup");
	scratch_file("sys/fs/cgroup/system.slice/slurmstepd.scope/job_14/cgroup.procs", "");
	is_number(pm_job_cgroup_read(
			  scratch_path("sys/fs/cgroup/system.slice/slurmstepd.scope/job_14"),
			  &cgroup),
		-ENOENT, "one without the memory controller");
}

int main(void)
{
	test_version_2();
	test_version_1();
	test_none();
	return tap_done();
}
