/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_ALLOTMENTS_H
#define PM_AGENT_ALLOTMENTS_H

/*
 * What a job gets of each region, once the regions are in its sub-state: a directory of the file
 * system, the device, or the NUMA node; and how it is taken back. All by descriptors that are
 * checked to be what the inventory says; nothing of a user's is followed.
 */
#include "node/operation.h"
#include "node/see/inventory.h"
#include "node/state/jobs.h"
#include "node/state/jobview.h"

/*
 * Is there as much on each socket as the job asks for, beside what other jobs were promised?
 * -EDQUOT with the sentence for the user; -EAGAIN: there will be, when trash of earlier jobs is
 * removed; anything else is the node's fault.
 */
int pm_allotments_check_size(const struct pm_inventory *inventory, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_err *err);

/*
 * Makes them and adds them to the view. Directories are empty, 0700, the job's user's, named
 * job_ID; each is a project; how much may be written there, node/act/limits.h says. -EDQUOT: other
 * jobs have filled the file system. Devices are handed over, 0600.
 */
int pm_allotments_make(const struct pm_inventory *inventory, const struct pm_jobs *jobs,
	const struct pm_job *job, struct pm_jobview *view, struct pm_err *err);

/*
 * Takes back what pm_allotments_make() made, or a part of that; what is not there is fine.
 * Directories become trash (node/wipe/trash.h), whatever is in them, and are removed in the
 * background. One that cannot be renamed is closed to its owner and left to pm_allotments_sweep().
 */
int pm_allotments_remove(const struct pm_operation *op, const struct pm_inventory *inventory,
	const struct pm_jobs *jobs, const struct pm_job *job, struct pm_err *err);

/* Makes trash of the directories of jobs that have no record, and sees to it that trash is being
 * removed. A directory that resists is told as a warning. */
int pm_allotments_sweep(const struct pm_operation *op, const struct pm_inventory *inventory,
	const struct pm_jobs *jobs, struct pm_err *err);

#endif
