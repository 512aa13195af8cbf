/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SETTINGS_H
#define PM_RUNTIME_SETTINGS_H

/* What a rank is told of its memory, by pmrun or the plugin: the PM_ variables of pmrun(1). */
#include "runtime/common/nodemask.h"

/* Paper 000, §IV-A: four spaces of DRAM; and what is behind them. */
enum pm_space_id {
	PM_METADATA,
	PM_TEMPORARY,
	PM_MIGRATION,
	PM_FREE,
	PM_PMEM,
	PM_LENT, /* DRAM that a space has lent another: runtime/lifetime/sizing.h */
	PM_SPACES,
	PM_DRAM_SPACES = PM_PMEM, /* that have a size of their own */
};

/* "metadata", ..., "pmem", "lent" */
extern const char *const pm_space_names[PM_SPACES];

struct pm_settings {
	uint64_t budget_bytes;		/* PM_RANK_DRAM: whole chunks */
	uint64_t bytes[PM_DRAM_SPACES]; /* PM_SPACES: whole chunks, together the budget */
	bool static_in_pmem;		/* PM_STATIC */
	bool is_fixed;			/* PM_SIZING: the spaces stay as they are */
	struct pm_nodemask dram, pmem;	/* PM_NODE_DRAM, PM_NODE_PMEM; empty: not said */
};

/*
 * Reads them. False: there is no budget, so nothing is placed. What cannot be is told of in one
 * line on standard error, with what is done about it.
 */
bool pm_settings_read(struct pm_settings *ret);

#endif
