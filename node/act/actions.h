/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_ACTIONS_H
#define PM_AGENT_ACTIONS_H

/*
 * The steps of node/act/steps.h as commands: one table has the command of each kind, and the loss
 * it causes.
 */
#include "node/act/steps.h"
#include "node/operation.h"

/*
 * Runs the command of a step. `timeout_s` 0: ToolTimeout. Errors as pm_tool_act(), after which the
 * state must be read back. Not for wipe, mount and unmount, which are not tools.
 */
int pm_action_run(const struct pm_config *config, const struct pm_step *step, unsigned timeout_s,
	struct pm_err *err);

/* "/usr/bin/ndctl destroy-namespace -f namespace0.0"; malloc'ed, NULL when out of memory. */
char *pm_action_text(const struct pm_config *config, const struct pm_step *step);

/*
 * "all that is on namespace0.0 (4225761280 bytes)"; malloc'ed. NULL: nothing is destroyed, or out
 * of memory.
 */
char *pm_action_loss(const struct pm_step *step);

/* "/dev/dax0.0" or "/dev/pmem0"; "" if the namespace has no device. */
void pm_action_device(const struct pm_inventory_ns *ns, char *ret, size_t size);

#endif
