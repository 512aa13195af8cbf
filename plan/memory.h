/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_MEMORY_H
#define PM_PLAN_MEMORY_H

/* Second half of a plan: NUMA nodes, budget and memory policy of each rank. */
#include "plan/plan.h"

/*
 * Sets the fields of all ranks that pm_plan_bind_cpus() does not set. -ENODEV: a rank is bound to a
 * domain without DRAM, or pm-only was asked for where there is no PMem node; -ENOSPC: the DRAM that
 * was asked for does not fit, or no DRAM is left for a rank; -EINVAL: less than PM_PLAN_UNIT was
 * asked for; -ENOMEM.
 */
int pm_plan_assign_memory(struct pm_plan *plan, const struct pm_topology *topology,
	const struct pm_plan_request *request, struct pm_err *err);

/* Bytes of a package's DRAM that the site keeps back: a fixed size and a percentage, added up. */
uint64_t pm_plan_reserved_bytes(const struct pm_topology *topology, unsigned package,
	const struct pm_plan_request *request);

/*
 * The part of a memory node, by its index, in what its package keeps back: in proportion to the
 * nodes' sizes. 0 for other memory than DRAM.
 */
uint64_t pm_plan_reserved_of_node(
	const struct pm_topology *topology, unsigned node, const struct pm_plan_request *request);

/* Splits a budget into its spaces. Their sum is the budget, rounded down to PM_PLAN_UNIT. */
struct pm_spaces pm_plan_split_budget(uint64_t budget_bytes, const struct pm_spaces *asked);

#endif
