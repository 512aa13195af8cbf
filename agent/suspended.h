/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_SUSPENDED_H
#define PM_AGENT_SUSPENDED_H

/*
 * Jobs that are suspended on this node. To Slurm a node with suspended jobs alone is idle: it
 * orders a change of the node's mode, and the reboot, for a job of another mode. Slurm's own
 * `scontrol reboot` waits for suspended jobs. squeue knows them all, those without a process here
 * as well (salloc). A job that Slurm calls running counts if it has a step here: it was resumed
 * meanwhile. A step that is left of a job that Slurm has ended does not count: a reboot may be the
 * cure for it.
 */
#include <stdbool.h>

#include "node/operation.h"

/*
 * Before a change of the mode that Slurm has ordered, and before its reboot. -EBUSY: a job is
 * suspended here; the sentence names it. The mark RunDir/suspended then keeps
 * pm_suspended_recheck() asking. If squeue fails, a step of any job here counts as a suspended
 * job's.
 */
int pm_suspended_check(const struct pm_operation *op, struct pm_err *err);

/*
 * For slurmd's look at the node's features, at its start and with each `scontrol reconfigure`. With
 * power saving Slurm does not ask the node before a change of its mode. True: a job that is
 * suspended here stands, and another job waits for this node's boot, which does not come since
 * pm-resume leaves the node on; the mark is then there. Once in a minute at most. It asks squeue
 * only where a user's process is stopped, or a job with a record has no step.
 */
bool pm_suspended_awaits_boot(const struct pm_operation *op);

/* pm_suspended_check() for a node that has the mark; without it 0 at once. Removes the mark when
 * none is left.
 */
int pm_suspended_recheck(const struct pm_operation *op, struct pm_err *err);

#endif
