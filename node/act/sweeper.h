/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_SWEEPER_H
#define PM_AGENT_SWEEPER_H

/*
 * The process that removes trash (node/wipe/trash.h) while jobs begin and end: `pmctl sweep`, in a
 * session of its own, so that it outlives the prolog or epilog that started it. It does not hold
 * the lock of pm_state_lock(). One works, and at most one waits to do what came meanwhile; who
 * they are is known by locks on parts of RunDir/sweep.lock, which the kernel releases with them.
 * Killed at any time, by us, at a crash or a boot, it leaves trash that the next one removes: each
 * begin and end of a job that meets trash starts one.
 */
#include "node/operation.h"
#include "node/see/inventory.h"

/* Starts one in the background. It is no failure of the caller's if that does not work: the next
 * job's begin tries again. */
void pm_sweeper_start(const struct pm_operation *op);

/*
 * Unmounts the region's file system, and ends whoever removes trash from it. -EBUSY: somebody else
 * uses it, or one does not end.
 */
int pm_sweeper_unmount(const struct pm_operation *op, const struct pm_inventory_region *region,
	struct pm_err *err);

/* Makes this process the one that works, for as long as *ret_fd is open. -EALREADY: another waits
 * already, there is nothing to do. */
int pm_sweeper_enter(const struct pm_operation *op, int *ret_fd, struct pm_err *err);

#endif
