/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_USER_HOLD_H
#define PM_USER_HOLD_H

/*
 * User holds of rejected jobs. The service holds a rejected job as its user would, so that the user
 * can release it. If slurmctld 22.05 restarts while the job is on its way back to the queue, it may
 * restore the hold as an administrator's. Then the service sets the user hold again, until it sees
 * the job in the queue without an administrator's hold. It leaves later holds of the job alone.
 */
#include "controller/rejected_jobs.h"

/* Call it only with a new table of jobs. */
void pm_user_holds_restore(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster);

#endif
