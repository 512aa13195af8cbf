/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCHER_REQUEST_H
#define PM_LAUNCHER_REQUEST_H

#include "launcher/options.h"
#include "plan/plan.h"
#include "site/config.h"

/*
 * Fills a request from pmem.conf and the options. The number of ranks, the directories and the
 * memory limit are left as they are. -EINVAL: a wrong value; the sentence names the option or
 * variable, the value, and the values that it may have.
 */
int pm_run_request(const struct pm_run_given *given, const struct pm_config *config,
	struct pm_plan_request *request, struct pm_err *err);

/* The number of -n; 0 when it was not given. -EINVAL. */
int pm_run_ranks(const struct pm_run_given *given, unsigned *ret, struct pm_err *err);

#endif
