/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_GOAL_H
#define PM_GOAL_H

/* Goals: how one is asked of ipmctl, and whether what ipmctl stored is what was asked. */
#include <stdbool.h>

#include "lib/config.h"
#include "lib/ipmctl.h"

#define PM_GOAL_WORDS 3

/* What is asked of ipmctl, for all sockets. */
struct pm_goal_request {
	enum pm_platform platform;
	unsigned memory_percent, reserved_percent; /* of each module; the rest is App Direct */
	char words[PM_GOAL_WORDS][64]; /* "MemoryMode=50", "PersistentMemoryType=AppDirect",
					  "Reserved=10"; those that are not needed are missing */
	size_t n_words;
};

/* The request that leads to the platform mode of `mode`, at the site's percentages. */
void pm_goal_request(const struct pm_mode_info *mode, const struct pm_config *config,
	struct pm_goal_request *ret);

/* Is the module one that a goal must cover? */
bool pm_dimm_is_manageable(const struct pm_dimm *dimm);

/*
 * Compares the goals read back with the intent, module by module: each manageable module has
 * exactly one goal, of the wanted kind, of its capacity less 10 % and 1 GiB at most (rounding to
 * 1 GiB, the processor's limit); no goal is left over. -ENODATA with the first module that
 * differs and how.
 */
int pm_goal_compare(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const struct pm_goals *goals, struct pm_err *err);

/*
 * May a goal be set on these modules? Each must be manageable, healthy, not locked and without a
 * population violation, and there must be one. -EPERM naming the module and the cure.
 */
int pm_goal_admit_dimms(const struct pm_dimms *dimms, struct pm_err *err);

/* May this mode be set with what the platform allows? -EPERM: Memory Mode without 2LM. */
int pm_goal_admit_mode(
	enum pm_mode mode, const struct pm_capabilities *capabilities, struct pm_err *err);

#endif
