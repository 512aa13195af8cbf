/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SPANK_RANK_H
#define PM_SPANK_RANK_H

/* A task of a step that wants a plan (step.h) takes its line of it. */
#include <slurm/spank.h>

#include "base/err.h"

/*
 * In task_init: binds this process, and tells the program in variables. What the user has bound by
 * srun's options stays. The first rank of the node prints the plan where that was asked. Nothing in
 * a step without a plan. A plan that cannot be made or applied is an error only where one of its
 * options was given; where the job has but a mode, the first rank says why and all stay as they
 * are.
 */
int pm_rank_begin(spank_t sp, struct pm_err *err);

/*
 * In task_exit, as root: when the node's last rank has ended, says in which the step's runtime did
 * not attach, as far as it is one that tells (plan/apply/attach.h).
 */
void pm_rank_end(void);

#endif
