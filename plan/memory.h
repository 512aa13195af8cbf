/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_MEMORY_H
#define PM_PLAN_MEMORY_H

/* The second half of a plan: whose memory each rank has, how much of it, and by which policy. */
#include "plan/plan.h"

/*
 * Sets all of the ranks that pm_plan_bind_cpus() has not. -ENODEV: a rank sits where there is no
 * DRAM, or no PMem and pm-only was asked; -ENOSPC: what was asked for does not fit, or nothing is
 * left.
 */
int pm_plan_assign_memory(struct pm_plan *plan, const struct pm_topology *topology,
	const struct pm_plan_request *request, struct pm_err *err);

/* What the site keeps back of a socket's DRAM. */
uint64_t pm_plan_reserved_bytes(const struct pm_topology *topology, unsigned package,
	const struct pm_plan_request *request);

/* The four spaces of a budget; their sum is the budget, rounded down to PM_PLAN_UNIT. */
struct pm_spaces pm_plan_split_budget(uint64_t budget_bytes, const struct pm_spaces *asked);

#endif
