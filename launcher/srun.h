/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCHER_SRUN_H
#define PM_LAUNCHER_SRUN_H

/*
 * How srun has bound the ranks, from SLURM_CPU_BIND_TYPE and SLURM_CPU_BIND_LIST, which
 * slurmstepd puts into each task. By itself Slurm binds with masks alone.
 */
#include <sched.h>
#include <stdbool.h>

/*
 * The processors of all ranks of this node together, from the masks; false: there are none. Where
 * no cgroup confines a step, nothing else tells them from those of other jobs.
 */
bool pm_srun_cpus(cpu_set_t *ret);

/* "map_cpu", "rank" and the like, when the user has asked for that; else NULL. */
const char *pm_srun_users_binding(void);

#endif
