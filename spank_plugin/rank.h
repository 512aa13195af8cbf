/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SPANK_RANK_H
#define PM_SPANK_RANK_H

/* One rank of a step that has a plan (step.h). */
#include <slurm/spank.h>

#include "base/err.h"

/*
 * In task_init, as the user: binds this process, sets its memory policy and its variables. A
 * binding that the user asked srun for stays. The node's first rank prints the plan if that was
 * asked for. Does nothing in a step without a plan. A plan that cannot be made or applied is an
 * error only if one of its options was given; if the job only has a mode, the first rank logs the
 * cause and the ranks stay as they are.
 */
int pm_rank_begin(spank_t sp, struct pm_err *err);

/*
 * In task_exit, as root: when the node's last rank has ended, logs the ranks in which the step's
 * runtime did not attach, if it is a runtime that reports that (plan/apply/attach.h).
 */
void pm_rank_end(void);

#endif
