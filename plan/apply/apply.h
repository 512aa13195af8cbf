/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_APPLY_H
#define PM_PLAN_APPLY_H

/* Applies a rank's line of the plan to a process, between fork(2) and execve(2). */
#include "plan/plan.h"

enum pm_apply_parts {
	PM_APPLY_CPUS = 1 << 0,	  /* sched_setaffinity(2) */
	PM_APPLY_MEMORY = 1 << 1, /* set_mempolicy(2), kept by execve(2) */
	PM_APPLY_ALL = PM_APPLY_CPUS | PM_APPLY_MEMORY,
};

/*
 * Binds the calling process, which has one thread, as the plan says. `parts` leaves out CPUs or
 * memory if the user has bound them by other options (--cpu-bind, --mem-bind). Where the plan has
 * no CPUs or no policy, these are not changed. On failure the process is as before. -ENOSYS: the
 * kernel does not have the memory policy; other errors as of the system calls.
 */
int pm_plan_apply(const struct pm_plan *plan, unsigned rank, unsigned parts, struct pm_err *err);

/* A variable of the rank's environment. */
struct pm_variable {
	const char *name; /* static */
	char *value;
	bool only_if_unset; /* the user's value wins: PM_SIZING, OMP_NUM_THREADS, OMP_PLACES */
};

/*
 * Size of a caller's array for all variables of a rank:
 * - PM_RANK_DRAM: bytes;
 * - PM_NODE_DRAM, PM_NODE_PMEM: lists of NUMA nodes, as "0" or "0-1"; absent if there are none;
 * - PM_SPACES: "metadata=BYTES,temporary=BYTES,migration=BYTES,free=BYTES";
 * - PM_SIZING: "fixed" if the site sets the size of temporary, else absent;
 * - PM_HELPER_CPUS: a list of CPUs, absent if there are none;
 * - PM_DIR: the rank's directory, absent if there is none;
 * - OMP_NUM_THREADS; OMP_PLACES: "threads" if each thread has a hardware thread of its own, else
 *   "cores". Both apply within the CPUs that the rank is bound to.
 */
#define PM_PLAN_VARIABLES_MAX 9

/*
 * The step for which the plugin has applied a plan, "JOB.STEP" as in SLURM_JOB_ID and
 * SLURM_STEP_ID: pmrun in that step does not plan again.
 */
#define PM_PLANNED "PM_PLANNED"

/* Variables of one plan alone, which are unset before another plan; NULL-terminated. */
extern const char *const pm_plan_variables[];

/*
 * Fills `ret` and *ret_n; `pmem_dirs` are the request's. Release with pm_variables_done(). 0 or
 * -ENOMEM, with nothing to release.
 */
int pm_plan_environment(const struct pm_plan *plan, unsigned rank,
	const struct pm_pmem_dir *pmem_dirs, struct pm_variable ret[PM_PLAN_VARIABLES_MAX],
	size_t *ret_n, struct pm_err *err);

/* Frees the values. */
void pm_variables_done(struct pm_variable *variables, size_t n);

#endif
