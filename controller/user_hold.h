/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_USER_HOLD_H
#define PM_USER_HOLD_H

/*
 * User holds of rejected jobs. The service holds a rejected job as its user would, so that the user
 * can release it. If slurmctld 22.05 restarts while the job is on its way back to the queue, it may
 * restore the hold as an administrator's. The service sets the user hold again, until it has seen
 * it in the queue once. Later holds of the job are not the service's.
 */
#include "controller/rejected_jobs.h"

/* Call it only with a new table of jobs. */
void pm_user_holds_restore(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster);

#endif
