/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RANK_ENVIRONMENT_H
#define PM_RANK_ENVIRONMENT_H

/* Sets the variables that tell a rank's program and its runtime their part of the plan. */
#include "plan/plan.h"

/* An environment: of this process, or of a task in Slurm (spank_setenv()). */
struct pm_environment {
	void *context;
	/* malloc'ed; NULL: unset. */
	char *(*get)(void *context, const char *name);
	/* Replaces an earlier value. 0 or a negative errno. */
	int (*set)(void *context, const char *name, const char *value, struct pm_err *err);
	void (*unset)(void *context, const char *name);
};

struct pm_rank_environment {
	const struct pm_plan *plan;
	const struct pm_pmem_dir *pmem_dirs; /* the request's; NULL: none */
	const char *runtime;		     /* path to preload; NULL: none */
	const char *profile, *advice;	     /* PM_PROFILE, PM_ADVICE; NULL: not set */
	const char *model;		     /* PM_MODEL, model/words.h; NULL or "": not set */
	int attach_fd;			     /* the rank registry, plan/apply/attach.h; -1: none */
};

/*
 * Unsets the variables of an earlier plan; sets those of this one (pm_plan_environment()),
 * PM_LOCAL_RANK, PM_LOCAL_SIZE, LD_PRELOAD, PM_PROFILE, PM_ADVICE and PM_MODEL. With a registry it
 * stores this process as that of `rank` and sets PM_ATTACH_FD. Returns the first error of
 * `environment`, or -ENOMEM; some variables are then set.
 */
int pm_rank_environment_set(const struct pm_rank_environment *from, unsigned rank,
	const struct pm_environment *environment, struct pm_err *err);

#endif
