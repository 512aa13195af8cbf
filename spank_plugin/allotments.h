/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SPANK_ALLOTMENTS_H
#define PM_SPANK_ALLOTMENTS_H

#include <slurm/spank.h>

#include "base/err.h"
#include "node/state/jobview.h"

/*
 * Puts what the job was given into the task's environment: PM_MODE, PM_DIR0, PM_DIR0_SOCKET and so
 * on, and PM_DIR (PM_DAX, PM_NODE) for that of the task's own socket: the one that most of its
 * processors belong to, read below `fs_root`. Such variables of another job, from which this one
 * was submitted, are taken out. No process is started.
 */
int pm_allotments_announce(
	spank_t sp, const struct pm_jobview *view, const char *fs_root, struct pm_err *err);

/* Takes such variables and PM_MODE out: a step of a component that was given nothing. */
void pm_allotments_withdraw(spank_t sp);

#endif
