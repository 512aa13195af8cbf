/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CHECK_GOAL_H
#define PM_AGENT_CHECK_GOAL_H

/* The checks before a goal, with the present output of the tools. Changes nothing. */
#include "node/act/checks.h"
#include "node/operation.h"
#include "node/tools/kernel.h"

/*
 * All checks of node/act/checks.h, and a check of ipmctl's version. -EPERM with the module or
 * socket and the cure; else the error of a tool.
 */
int pm_check_goal(const struct pm_config *config, const struct pm_goal_request *request,
	const struct pm_capabilities *capabilities, const struct pm_dimms *dimms,
	struct pm_err *err);

/*
 * The regions are empty: ndctl lists no namespace and, if the kernel has regions, ipmctl shows all
 * their capacity as free, since ipmctl reads the labels by itself. -EPERM with the first namespace
 * or region, and the cure.
 */
int pm_check_empty(
	const struct pm_config *config, const struct pm_kernel *kernel, struct pm_err *err);

#endif
