/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCHER_REQUEST_H
#define PM_LAUNCHER_REQUEST_H

#include "launcher/options.h"
#include "plan/plan.h"
#include "site/config.h"

/*
 * What was asked for, in a plan's words: the options, and what the site's configuration says. The
 * number of ranks, the places and the memory limit are not touched. -EINVAL: a value that cannot be
 * understood; the sentence names the option or variable, the value, and what it may be.
 */
int pm_run_request(const struct pm_run_given *given, const struct pm_config *config,
	struct pm_plan_request *request, struct pm_err *err);

/* The number behind -n; 0 when it was not given. -EINVAL. */
int pm_run_ranks(const struct pm_run_given *given, unsigned *ret, struct pm_err *err);

#endif
