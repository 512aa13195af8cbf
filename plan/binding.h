/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_BINDING_H
#define PM_PLAN_BINDING_H

/* First half of a plan: the CPU binding of each rank. The second half is plan/memory.h. */
#include "plan/plan.h"

/*
 * Sets `cpus`, `helpers` and `threads` of all ranks of `plan`, which are zero before. plan/plan.h
 * has the rules. -ERANGE: more ranks, threads or helpers than the topology has room for; the
 * message says how many fit. -ENOMEM.
 */
int pm_plan_bind_cpus(struct pm_plan *plan, const struct pm_topology *topology,
	const struct pm_plan_request *request, struct pm_err *err);

#endif
