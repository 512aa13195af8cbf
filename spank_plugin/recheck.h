/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RECHECK_H
#define PM_RECHECK_H

/*
 * slurmctld may give the node to a job while slurmd starts: after slurmd's look at its jobs, and
 * before it listens. The order to reboot into the job's mode is then lost, or the order to run its
 * prolog reaches slurmd seconds later, or not at all. Only time tells: a thread of slurmd looks
 * when slurmd is up, and again when no order can be under way any more. It then makes the change of
 * mode that a job still waits for (lost_reboot.h), or sends jobs away that still wait for their
 * prolog (lost_prolog.h).
 */

#include "site/config.h"

/* Takes the configuration over, and leaves *config empty. */
void pm_recheck_start(struct pm_config *config);

#endif
