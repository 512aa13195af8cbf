/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_SWEEPER_H
#define PM_AGENT_SWEEPER_H

/*
 * `pmctl sweep`, the background process that removes trash (node/wipe/trash.h) while jobs begin
 * and end. It has a session of its own, so that it outlives the prolog or epilog that started it,
 * and takes the lock of pm_state_lock() only at its end, to set limits.
 *
 * At most one process removes trash, and at most one waits to remove trash that is added later.
 * Each holds a record lock (fcntl(2)) on its byte of RunDir/sweep.lock, which the kernel releases
 * when the process ends. If one is killed, by pmctl, in a crash or at a boot, the next one removes
 * the trash that is left: each begin and end of a job that finds trash starts one.
 */
#include "node/operation.h"
#include "node/see/inventory.h"

/*
 * Starts `pmctl sweep` in the background. A failure is not reported: the begin or end of the next
 * job starts another one.
 */
void pm_sweeper_start(const struct pm_operation *op);

/*
 * Kills the processes that remove trash, then unmounts the region's file system. -EBUSY: another
 * process uses it, or a killed one does not end.
 */
int pm_sweeper_unmount(const struct pm_operation *op, const struct pm_inventory_region *region,
	struct pm_err *err);

/*
 * Waits until no other process removes trash, then makes this process the one that does, until
 * *ret_fd is closed. -EALREADY: another process waits already and will do the work.
 */
int pm_sweeper_enter(const struct pm_operation *op, int *ret_fd, struct pm_err *err);

#endif
