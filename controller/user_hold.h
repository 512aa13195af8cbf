/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_USER_HOLD_H
#define PM_USER_HOLD_H

/*
 * A job that is held while it is on its way back to the queue may be there as held by an
 * administrator, where slurmctld 22.05 began anew in between: its owner cannot release it. It is
 * held anew, as its user would, until it was seen in the queue so. A later hold is not ours.
 */
#include "controller/rejected_jobs.h"

/* For a fresh table of jobs. */
void pm_user_holds_restore(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster);

#endif
