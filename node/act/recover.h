/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_RECOVER_H
#define PM_AGENT_RECOVER_H

/*
 * Recovery below the platform mode, after a crash or a boot. Removes what jobs of earlier boots
 * have left, and finishes or undoes an interrupted change of the sub-state. While a job of this
 * boot has devices or flat memory, such a change is left to the end of that job. The caller holds
 * the lock of pm_state_lock(). Mounts nothing: the next job does, and a mount of the service at
 * boot would be in its own mount namespace.
 */
#include "node/operation.h"

/* PM_NEEDS_REBOOT of node/act/substate.h: the kernel could not offline flat memory. */
int pm_recover(const struct pm_operation *op, bool dry_run, struct pm_err *err);

/* -EBUSY: a job of this boot has the regions, and cannot share them in the sub-state `wanted`. */
int pm_recover_check_jobs(
	const struct pm_operation *op, enum pm_substate wanted, struct pm_err *err);

#endif
