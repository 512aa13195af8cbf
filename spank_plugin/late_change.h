/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LATE_CHANGE_H
#define PM_LATE_CHANGE_H

/*
 * A change that slurmctld has ordered and the node never heard of. While a node boots for a job,
 * that job may end, and slurmctld gives the node to the next at once; the order to reboot into
 * the next one's mode goes to a machine that is off, and the boot for the first is then taken for
 * that of the second. A slurmd that is restarted while it changes the mode forgets the order as
 * well. srun and salloc jobs cannot be requeued: they would be lost.
 *
 * So a slurmd that starts looks whether a job waits for its node in another mode, and makes the
 * change that this job waits for, before it registers.
 */
#include "lib/config.h"
#include "lib/err.h"

/*
 * For a node that is sound, and in another mode than slurmctld believes. 0: nothing of the kind, or
 * the change cannot be made, which the log says. -EINTR: the node reboots, and slurmd must not
 * register.
 */
int pm_late_change(const struct pm_config *config, unsigned squeue_ms);

#endif
