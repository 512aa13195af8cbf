/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOB_CGROUP_H
#define PM_JOB_CGROUP_H

/*
 * The memory cgroup that Slurm makes for a job on this node, cgroups(7): with version 2 a directory
 * job_ID below slurmstepd's scope, with version 1 slurm/uid_UID/job_ID of the memory controller. It
 * exists from the first step's start to the last one's end.
 */
#include <stdint.h>
#include <sys/types.h>

#define PM_CGROUP_NODES_MAX 64

struct pm_job_cgroup {
	uint64_t bytes, peak_bytes; /* peak: since the cgroup was made; 0: this kernel has none */
	uint64_t limit_bytes;	    /* 0: none */
	uint64_t oom_kills;
	uint64_t node_bytes[PM_CGROUP_NODES_MAX]; /* anonymous memory and page cache by NUMA node */
	unsigned n_nodes;
};

/*
 * The directory of the job below the root directory `root`; malloc'ed. NULL: it has none, because
 * no step runs or Slurm keeps no memory cgroups.
 */
char *pm_job_cgroup_find(const char *root, uint32_t job_id);

/* Reads a cgroup. -ENOENT: it is gone, or has no memory controller; else of open(2). */
int pm_job_cgroup_read(const char *path, struct pm_job_cgroup *ret);

/*
 * Calls `each` for the cgroup of each task of the job's steps, of `path`: its memory, and the
 * process number of one of its processes. `step` is "0", "batch", "interactive".
 */
typedef void pm_task_cgroup_action(void *context, const char *step, unsigned task, pid_t process,
	const struct pm_job_cgroup *cgroup);
void pm_job_cgroup_each_task(const char *path, pm_task_cgroup_action *each, void *context);

#endif
