/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RECHECK_H
#define PM_RECHECK_H

/*
 * Checks that must wait until slurmd is up. slurmctld may give the node to a job while slurmd
 * starts: after slurmd looked at its jobs, and before it listens. The order to reboot into the
 * job's mode is then lost (lost_reboot.h), or the launch reaches slurmd seconds later, or not at
 * all (lost_prolog.h). A detached thread of slurmd looks when slurmd is up, and again when no
 * message can be under way any more. The thread then makes the change of mode that a job still
 * waits for, or requeues or cancels jobs that still wait for their prolog. It says at level debug
 * when it has looked.
 */

#include "site/config.h"

/* Starts the thread, which owns the configuration; *config is then empty. */
void pm_recheck_start(struct pm_config *config);

#endif
