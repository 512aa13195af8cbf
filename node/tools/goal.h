/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_GOAL_H
#define PM_GOAL_H

/* Goals: the request to ipmctl, and its comparison with the goals that ipmctl has stored. */
#include <stdbool.h>

#include "node/tools/ipmctl.h"
#include "node/tools/partition.h"
#include "site/config.h"

#define PM_GOAL_WORDS 3

/* A request to ipmctl, for all sockets. */
struct pm_goal_request {
	enum pm_platform platform;
	struct pm_shares shares;
	char words[PM_GOAL_WORDS][64]; /* "MemoryMode=50", "PersistentMemoryType=AppDirect",
					  "Reserved=10"; only the words that are needed */
	size_t n_words;
};

/* The request for the platform mode of `mode`, at the site's percentages. */
void pm_goal_request(const struct pm_mode_info *mode, const struct pm_config *config,
	const struct pm_capabilities *capabilities, struct pm_goal_request *ret);

/*
 * Compares the goals that were read back with the request, module by module: each manageable
 * module has exactly one goal, on its socket, with the sizes of pm_partition_of(), and there are
 * no other goals. On a socket in `limited` (see struct pm_dry_run; NULL: none) sizes may be
 * smaller but not 0. -ENODATA with the first module that differs.
 */
int pm_goal_compare(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const struct pm_goals *goals, const char *limited, struct pm_err *err);

/*
 * True if the modules are partitioned in this boot as the request would partition them. Less of a
 * kind of memory counts as met unless it is 0, since a CPU may map less. More counts as met up to
 * one alignment, since ipmctl may round present sizes in another way. Without printed sizes the
 * request counts as met.
 */
bool pm_goal_is_met(const struct pm_goal_request *request, const struct pm_dimms *dimms);

#endif
