/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TOOL_LOCKS_H
#define PM_TOOL_LOCKS_H

/* Locks that are held while tools run. */
#include "base/err.h"
#include "site/config.h"

/*
 * Sets the descriptor of the lock on the node's state (node/state/state.h), which the process has
 * just taken. A tool other than ipmctl that changes something inherits it, see node/tools/tools.c.
 */
void pm_tool_hold_lock(int fd);

/* The descriptor of that lock while this process holds it, else 0. */
int pm_tool_held_lock(void);

/*
 * Takes the lock that every ipmctl runs under, waiting for ToolTimeout at most; close *ret_fd to
 * release it. Two ipmctl at once fail: each rewrites its settings file when it ends, and one that
 * reads the file meanwhile ends with "Failed to intialize nvm library (267)" (ipmctl
 * 03.00.00.0468).
 */
int pm_tool_lock_ipmctl(const struct pm_config *config, int *ret_fd, struct pm_err *err);

#endif
