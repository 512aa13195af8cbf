/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_BINDING_H
#define PM_PLAN_BINDING_H

/* The first half of a plan: which processors each rank has. Memory is plan/memory.h's. */
#include "plan/plan.h"

/*
 * Sets `cpus`, `helpers` and `threads` of all ranks. `plan` has its ranks, all-zero. -ERANGE: too
 * many ranks, threads or helpers for what is there; the sentence says how many fit.
 */
int pm_plan_bind_cpus(struct pm_plan *plan, const struct pm_topology *topology,
	const struct pm_plan_request *request, struct pm_err *err);

#endif
