/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TASK_ENV_H
#define PM_TASK_ENV_H

#include <slurm/spank.h>

#include "base/err.h"
#include "node/state/jobview.h"

/*
 * Puts what the job was given into the task's environment: PM_MODE, PM_DIR0, PM_DIR0_SOCKET and so
 * on, and PM_DIR (PM_DAX, PM_NODE) for that of the task's own socket: the one that most of its
 * processors belong to, read below `fs_root`. Such variables of another job, from which this one
 * was submitted, are taken out. No process is started.
 */
int pm_task_env_set(
	spank_t sp, const struct pm_jobview *view, const char *fs_root, struct pm_err *err);

/* Takes such variables and PM_MODE out: a step of a component that was given nothing. */
void pm_task_env_unset(spank_t sp);

#endif
