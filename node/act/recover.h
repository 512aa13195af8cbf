/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_RECOVER_H
#define PM_AGENT_RECOVER_H

/*
 * After a crash or a boot: what jobs of earlier boots have left goes, and what was interrupted
 * below the platform mode is finished or undone, unless a job of this boot has devices or flat
 * memory: the end of that job does it. The caller holds the lock. Mounts nothing: the next job
 * does, and at boot a service's mounts would not be seen by others.
 */
#include "node/operation.h"

/* PM_NEEDS_REBOOT of node/act/substate.h: flat memory that the kernel does not give back. */
int pm_recover(const struct pm_operation *op, bool dry_run, struct pm_err *err);

/* -EBUSY: a job of this boot has the regions and cannot share them in this sub-state. */
int pm_recover_check_jobs(
	const struct pm_operation *op, enum pm_substate wanted, struct pm_err *err);

#endif
