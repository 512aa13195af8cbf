/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TOOL_LOCKS_H
#define PM_TOOL_LOCKS_H

/* Locks that tools run under. */
#include "base/err.h"
#include "site/config.h"

/*
 * The lock on the node's state that this process has taken (node/state/state.h). A tool that
 * changes something inherits it, see node/tools/tools.c.
 */
void pm_tool_hold_lock(int fd);

/* The descriptor of that lock while this process has it, else 0. */
int pm_tool_held_lock(void);

/*
 * Two ipmctl at once fail each other: each rewrites its settings file when it ends, and a run that
 * reads it meanwhile ends with "Failed to intialize nvm library (267)" (ipmctl 03.00.00.0468).
 */
int pm_tool_lock_ipmctl(const struct pm_config *config, int *ret_fd, struct pm_err *err);

#endif
