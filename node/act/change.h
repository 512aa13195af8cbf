/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CHANGE_H
#define PM_AGENT_CHANGE_H

/*
 * The transaction that stages a mode: all sockets in one goal. Nothing is written before every
 * check has passed; each step is in the journal before it is taken; whatever fails after the goal
 * was written takes it back. Termination signals wait until it is over.
 */
#include "node/operation.h"

enum pm_change_flags {
	PM_CHANGE_DRY_RUN = 1 << 0,
	PM_CHANGE_FOR_JOB = 1 << 1, /* Slurm orders it, when no job is on the node */
};

/*
 * 0: staged, or the platform mode is right already and the regions are in the mode's sub-state;
 * says which. Logs nothing about failures: that is the caller's. PM_NEEDS_REBOOT of
 * node/act/substate.h: flat memory that the kernel does not give back.
 */
int pm_change_stage(const struct pm_operation *op, const struct pm_mode_info *mode, unsigned flags,
	struct pm_err *err);

#endif
