/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LOST_REBOOT_H
#define PM_LOST_REBOOT_H

/*
 * A change that slurmctld has ordered and the node never heard of. While a node boots for a job,
 * that job may end, and slurmctld gives the node to the next at once; the order to reboot into
 * the next one's mode goes to a machine that is off, and the boot for the first is then taken for
 * that of the second. A slurmd that is restarted while it changes the mode forgets the order as
 * well. srun and salloc jobs cannot be requeued: they would be lost.
 *
 * So a slurmd that starts looks whether a job waits for its node in another mode, and makes the
 * change that this job waits for, before it registers; and once more when it has been up for a
 * while (recheck.h), as slurmctld may have given it to a job between the first look and the
 * registration.
 */
#include "base/err.h"
#include "site/config.h"

/* The feature of another mode than the node's that jobs wait for; NULL: there is none, or not one.
 */
const char *pm_lost_reboot_feature(const struct pm_config *config, unsigned squeue_ms);

/*
 * For a node that is sound. 0: the change cannot be made, which the log says. -EINTR: the node
 * reboots, and slurmd must not register.
 */
int pm_lost_reboot_repeat(const struct pm_config *config, const char *wanted);

#endif
