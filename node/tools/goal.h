/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_GOAL_H
#define PM_GOAL_H

/* Goals: how one is asked of ipmctl, and whether what ipmctl stored is what was asked. */
#include <stdbool.h>

#include "node/tools/ipmctl.h"
#include "node/tools/partition.h"
#include "site/config.h"

#define PM_GOAL_WORDS 3

/* What is asked of ipmctl, for all sockets. */
struct pm_goal_request {
	enum pm_platform platform;
	struct pm_shares shares;
	char words[PM_GOAL_WORDS][64]; /* "MemoryMode=50", "PersistentMemoryType=AppDirect",
					  "Reserved=10"; those that are not needed are missing */
	size_t n_words;
};

/* The request that leads to the platform mode of `mode`, at the site's percentages. */
void pm_goal_request(const struct pm_mode_info *mode, const struct pm_config *config,
	const struct pm_capabilities *capabilities, struct pm_goal_request *ret);

/*
 * Compares the goals read back with the request, module by module: each manageable module has
 * exactly one goal, on its socket, with the sizes of pm_partition_of(), and no goal is left over.
 * On a socket that `limited` names (see struct pm_dry_run; NULL: none) sizes may be smaller, as
 * long as no kind of memory is gone. -ENODATA with the first module that differs and how.
 */
int pm_goal_compare(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const struct pm_goals *goals, const char *limited, struct pm_err *err);

/*
 * Are the modules cut as the request would cut them, since this boot? Less of a kind than asked for
 * counts as met, for a CPU may map less, but not none; more counts up to one alignment, as what
 * runs may be rounded in another way than what was stored. Modules whose use ipmctl has not printed
 * differ from nothing.
 */
bool pm_goal_is_met(const struct pm_goal_request *request, const struct pm_dimms *dimms);

#endif
