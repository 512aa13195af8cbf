/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_APPLY_H
#define PM_PLAN_APPLY_H

/* What a rank does with its line of the plan, between fork and exec. */
#include "plan/plan.h"

enum pm_apply_parts {
	PM_APPLY_CPUS = 1 << 0,	  /* sched_setaffinity() */
	PM_APPLY_MEMORY = 1 << 1, /* set_mempolicy(), inherited over exec */
	PM_APPLY_ALL = PM_APPLY_CPUS | PM_APPLY_MEMORY,
};

/*
 * Binds the calling process (its one thread) as the plan says; `parts` leaves out what the user has
 * already said otherwise (--cpu-bind, --mem-bind). What the plan leaves alone stays as it is. On
 * failure it is as it was before. -ENOSYS: the kernel does not have that memory policy; others as
 * the system calls say.
 */
int pm_plan_apply(const struct pm_plan *plan, unsigned rank, unsigned parts, struct pm_err *err);

/* A variable of the rank's environment. */
struct pm_variable {
	const char *name; /* static */
	char *value;
	bool only_if_unset; /* PM_SIZING, OMP_NUM_THREADS, OMP_PLACES: the user's own wins */
};

/*
 * Upper bound of the list, for a caller's array: PM_RANK_DRAM (bytes), PM_NODE_DRAM, PM_NODE_PMEM
 * (lists of NUMA nodes, as "0" or "0-1"; not there when there are none), PM_SPACES
 * ("metadata=BYTES,temporary=BYTES,migration=BYTES,free=BYTES"), PM_SIZING ("fixed", where the site
 * says how much is temporary, else not there), PM_HELPER_CPUS (a list), PM_DIR,
 * OMP_NUM_THREADS, and OMP_PLACES ("threads" where each thread has a hardware thread of its own,
 * else "cores"), which both hold within the processors that the rank is bound to.
 */
#define PM_PLAN_VARIABLES_MAX 9

/*
 * What the plugin has planned for a step, "JOB.STEP" as in SLURM_JOB_ID and SLURM_STEP_ID: so that
 * pmrun in that step does not do it again.
 */
#define PM_PLANNED "PM_PLANNED"

/* Those that are about one plan alone and go before another is made; NULL at the end. */
extern const char *const pm_plan_variables[];

/* Fills `ret` and its number; values are malloc'ed. -ENOMEM. `pmem_dirs` are the request's. */
int pm_plan_environment(const struct pm_plan *plan, unsigned rank,
	const struct pm_pmem_dir *pmem_dirs, struct pm_variable ret[PM_PLAN_VARIABLES_MAX],
	size_t *ret_n, struct pm_err *err);

void pm_variables_done(struct pm_variable *variables, size_t n);

#endif
