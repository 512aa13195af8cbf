/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CHECK_GOAL_H
#define PM_AGENT_CHECK_GOAL_H

/* What must hold before a goal is set. Asks the tools and changes nothing. */
#include "node/act/checks.h"
#include "node/operation.h"
#include "node/tools/kernel.h"

/*
 * Modules, sockets, firmware setup and ipmctl's version, see node/act/checks.h. -EPERM with the
 * module or socket and the cure; else what the tools say.
 */
int pm_check_goal(const struct pm_config *config, const struct pm_goal_request *request,
	const struct pm_capabilities *capabilities, const struct pm_dimms *dimms,
	struct pm_err *err);

/* Nothing may be on the regions: no namespace for ndctl, and where the kernel has regions no taken
 * capacity for ipmctl, which reads the labels by itself. -EPERM with the first one and the cure. */
int pm_check_empty(
	const struct pm_config *config, const struct pm_kernel *kernel, struct pm_err *err);

#endif
