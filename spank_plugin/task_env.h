/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TASK_ENV_H
#define PM_TASK_ENV_H

#include <slurm/spank.h>

#include "base/err.h"
#include "node/state/jobview.h"

/*
 * Sets the task's variables from the job view: PM_MODE, PM_DIR0, PM_DIR0_SOCKET and so on for each
 * allotment, and PM_DIR (PM_DAX, PM_NODE) for that of the task's own socket. That is the socket of
 * most of its CPUs, by sysfs below `fs_root`. It first removes such variables of another job, from
 * which this one was submitted. It starts no process.
 */
int pm_task_env_set(
	spank_t sp, const struct pm_jobview *view, const char *fs_root, struct pm_err *err);

/* Removes these variables and PM_MODE, for a step of a component without allotments. */
void pm_task_env_unset(spank_t sp);

#endif
