/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CHANGE_H
#define PM_AGENT_CHANGE_H

/*
 * The transaction that stages a mode, with one goal for all sockets. Nothing is written before
 * every check has passed. Each step is in the journal before it is taken. A failure after the goal
 * was written deletes the goal. Termination signals are held back from the first write to the end
 * of the rollback.
 */
#include "node/operation.h"

enum pm_change_flags {
	PM_CHANGE_DRY_RUN = 1 << 0,
	PM_CHANGE_FOR_JOB = 1 << 1, /* Slurm orders the change, while no job is on the node */
};

/*
 * Takes the lock of pm_state_lock(). 0: the goal is staged, or the platform mode is right already
 * and the regions are in the mode's sub-state; a message says which. The caller logs a failure.
 *
 * -EPERM: a check failed, see node/act/checks.h, or Modes= does not list the mode. -EBUSY: an
 * earlier change is not verified, a foreign goal is pending, or a job has the regions.
 * -EOPNOTSUPP: Provision=no and a flat mode. PM_NEEDS_REBOOT of node/act/substate.h: the kernel
 * could not offline flat memory. Else the error of a tool.
 */
int pm_change_stage(const struct pm_operation *op, const struct pm_mode_info *mode, unsigned flags,
	struct pm_err *err);

#endif
