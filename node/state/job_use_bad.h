/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOB_USE_BAD_H
#define PM_JOB_USE_BAD_H

/* The bad pages of a job's memory and directories, by which a SIGBUS is explained. */
#include "protocol/job_use.h"

/*
 * Counts into `use` the pages that failed since the job began, by tier and socket, whichever job
 * had them, and the bad blocks on the sockets of its directories. Call it once, at the job's end.
 */
void pm_use_add_bad(const char *fs_root, struct pm_job_use *use);

#endif
