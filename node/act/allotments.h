/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_ALLOTMENTS_H
#define PM_AGENT_ALLOTMENTS_H

/*
 * Allotments: a directory of the file system, the device or the NUMA node of each region, made once
 * the regions are in the job's sub-state, and removed at the end of the job. Each file is opened
 * once, and all checks and changes use its descriptor; no link that a user made is followed.
 */
#include "node/operation.h"
#include "node/see/inventory.h"
#include "node/state/jobs.h"
#include "node/state/jobview.h"

/*
 * 0: each socket has as much as the job asks for, beside the promises to other jobs. -EDQUOT: a
 * socket has less; the sentence is for the user. -EAGAIN: a socket has less until trash of earlier
 * jobs has been removed. Anything else is a fault of the node.
 */
int pm_allotments_check_size(const struct pm_inventory *inventory, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_err *err);

/*
 * Makes the allotments and adds them to the view. Directories are empty and named job_ID, and
 * belong to the job's user, 0700; each is a project with the limits of node/act/limits.h. Devices
 * are chown'ed to the user, 0600. -EDQUOT: other jobs have filled the file system.
 */
int pm_allotments_make(const struct pm_inventory *inventory, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_jobview *view, struct pm_err *err);

/*
 * Removes what pm_allotments_make() made, or a part of it; a missing allotment is fine. Directories
 * become trash (node/wipe/trash.h), whatever is in them; a background process removes the trash. A
 * directory that cannot be renamed is closed to its owner and left to pm_allotments_sweep().
 */
int pm_allotments_remove(const struct pm_operation *op, const struct pm_inventory *inventory,
	const struct pm_jobs *jobs, const struct pm_job *job, struct pm_err *err);

/*
 * Makes trash of the directories of jobs without a record, and starts the removal of trash. Warns
 * of a directory that cannot be renamed.
 */
int pm_allotments_sweep(const struct pm_operation *op, const struct pm_inventory *inventory,
	const struct pm_jobs *jobs, struct pm_err *err);

#endif
