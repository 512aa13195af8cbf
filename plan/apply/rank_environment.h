/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RANK_ENVIRONMENT_H
#define PM_RANK_ENVIRONMENT_H

/* The variables by which a rank's program learns its part of the plan, and its runtime starts. */
#include "plan/plan.h"

/* An environment: this process' own, or the one that Slurm keeps for a task. */
struct pm_environment {
	void *context;
	/* malloc'ed; NULL where it is not set. */
	char *(*get)(void *context, const char *name);
	/* Replaces what is there. 0 or a negative errno. */
	int (*set)(void *context, const char *name, const char *value, struct pm_err *err);
	void (*unset)(void *context, const char *name);
};

struct pm_rank_environment {
	const struct pm_plan *plan;
	const struct pm_pmem_dir *pmem_dirs; /* the request's; NULL: none */
	const char *runtime;		     /* path to preload; NULL: none */
	const char *profile, *advice;	     /* PM_PROFILE, PM_ADVICE; NULL: not set */
	int attach_fd;			     /* the roll of the ranks, see attach.h; -1: none */
};

/*
 * Sets the plan's variables (pm_plan_environment()), after those of an earlier plan are unset;
 * PM_LOCAL_RANK, PM_LOCAL_SIZE, LD_PRELOAD, PM_PROFILE, PM_ADVICE; and PM_ATTACH_FD, where this
 * process is then expected to attach as `rank`. Returns the first error of `environment`, or
 * -ENOMEM; some variables are set then.
 */
int pm_rank_environment_set(const struct pm_rank_environment *from, unsigned rank,
	const struct pm_environment *environment, struct pm_err *err);

#endif
