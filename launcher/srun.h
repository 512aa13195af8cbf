/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCHER_SRUN_H
#define PM_LAUNCHER_SRUN_H

/*
 * The binding of ranks by srun, from SLURM_CPU_BIND_TYPE and SLURM_CPU_BIND_LIST, which slurmstepd
 * sets in each task. Unless the user asks for another way, Slurm binds by masks.
 */
#include <sched.h>
#include <stdbool.h>

/*
 * The CPUs of all ranks of this node, from the masks; false: there are none. Without a cgroup of
 * the step, only the masks tell the step's CPUs from CPUs of other jobs.
 */
bool pm_srun_cpus(cpu_set_t *ret);

/* "map_cpu", "rank" or the like, if the user has asked for it; else NULL. */
const char *pm_srun_users_binding(void);

#endif
