/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TASK_ENV_H
#define PM_TASK_ENV_H

#include <slurm/spank.h>

#include "base/err.h"
#include "node/state/jobview.h"

/*
 * Sets the task's variables from the job view: PM_MODE, PM_DIR0, PM_DIR0_SOCKET and so on for each
 * allotment, and PM_DIR (PM_DAX, PM_NODE) for the allotment on the task's own socket, else for the
 * first. The own socket is the one with most of the task's CPUs, by sysfs below `fs_root`. First
 * removes such variables of another job, if this job was submitted from it. Starts no process.
 */
int pm_task_env_set(
	spank_t sp, const struct pm_jobview *view, const char *fs_root, struct pm_err *err);

/* Removes these variables and PM_MODE, for a step of a component without allotments. */
void pm_task_env_unset(spank_t sp);

#endif
