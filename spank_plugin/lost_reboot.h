/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LOST_REBOOT_H
#define PM_LOST_REBOOT_H

/*
 * An order to reboot that the node did not get. While a node boots for a job, the job may end, and
 * slurmctld gives the node to the next job at once. The order to reboot into the next job's mode is
 * sent to a machine that is off, and slurmctld takes the first job's boot for the next job's boot
 * (seen on 22.05). A slurmd that is restarted while it changes the mode loses the order, too.
 * Without the change the job would be rejected; srun and salloc jobs cannot be requeued and would
 * be lost.
 *
 * So at its start, before it registers, slurmd looks for a job that waits for this node in another
 * mode, and makes the change. It does so again when it has been up for a while (recheck.h), as
 * slurmctld may give the node to a job between the first look and the registration.
 */
#include "base/err.h"
#include "site/config.h"

/*
 * The feature that the jobs waiting for this node's boot want, if the node is in another mode; a
 * string of the modes table. NULL: no such job, different features, or squeue fails.
 */
const char *pm_lost_reboot_feature(const struct pm_config *config, unsigned squeue_ms);

/*
 * Stages the goal and reboots. Only for a node that 'pmctl health' declares fit. 0: the change
 * failed, which is logged, and the job is left to its prolog. -EINTR: slurmd was told to end as the
 * node reboots, so slurmd must not register.
 */
int pm_lost_reboot_repeat(const struct pm_config *config, const char *wanted);

#endif
