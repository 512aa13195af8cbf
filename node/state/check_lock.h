/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CHECK_LOCK_H
#define PM_CHECK_LOCK_H

/*
 * The site's health check (SiteHealthCheckProgram), which may measure the node's memory and drain
 * the node, and changes of that memory. The two never overlap:
 *
 * - pm-reachable takes RunDir/check.lock, and only then looks whether the state of the node
 *   changes. It and the program, with the children that keep their descriptors, hold the lock until
 *   they end.
 * - Every process that changes the node takes the lock of pm_state_lock(), and then ends a check
 *   that runs, before it changes anything.
 *
 * A child that makes a session of its own, as a daemon does, is not ended.
 *
 * So either the check sees the change and does not run, or the change sees the check and ends it. A
 * check never delays a change for longer than it takes to kill it. A drain that a check ordered
 * before it was killed stays: the check measured the node in the mode that PM_MODE names.
 */
#include "node/operation.h"

/*
 * For pm-reachable. *ret_fd is for pm_run()'s lock_fd; close it when the program has ended. A
 * program that an earlier pm-reachable has left behind is killed. -EBUSY: another pm-reachable runs
 * the check.
 */
int pm_check_lock_take(const struct pm_config *config, int *ret_fd, struct pm_err *err);

/* Ends a check that runs. For the holder of the lock of pm_state_lock(). */
void pm_check_lock_stop(const struct pm_operation *op);

#endif
