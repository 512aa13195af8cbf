/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SETTINGS_H
#define PM_RUNTIME_SETTINGS_H

/* The rank's part of the plan, from the PM_ variables that pmrun(1) or the plugin sets. */
#include "runtime/common/nodemask.h"

/* The four DRAM spaces of paper 000, §IV-A, then PMem, then DRAM that one space has lent. */
enum pm_space_id {
	PM_METADATA,
	PM_TEMPORARY,
	PM_MIGRATION,
	PM_FREE,
	PM_PMEM,
	PM_LENT, /* split off TEMPORARY or FREE: runtime/lifetime/sizing.h */
	PM_SPACES,
	PM_DRAM_SPACES = PM_PMEM, /* the first ones, which PM_SPACES sizes */
};

/* "metadata", ..., "pmem", "lent" */
extern const char *const pm_space_names[PM_SPACES];

struct pm_settings {
	uint64_t budget_bytes;		/* PM_RANK_DRAM: whole chunks */
	uint64_t bytes[PM_DRAM_SPACES]; /* PM_SPACES: whole chunks, their sum is the budget */
	bool static_in_pmem;		/* PM_STATIC=pmem */
	bool is_fixed;			/* PM_SIZING=fixed: no space is resized */
	struct pm_nodemask dram, pmem;	/* PM_NODE_DRAM, PM_NODE_PMEM; empty: unset */
};

/*
 * Reads the variables. False: no budget, nothing is placed. An invalid value is reported by
 * pm_log(), with the value that is used in its place.
 */
bool pm_settings_read(struct pm_settings *ret);

#endif
