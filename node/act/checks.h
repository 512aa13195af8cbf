/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CHECKS_H
#define PM_CHECKS_H

/*
 * May a goal be set? All that can be known before anything is changed. All return 0 or -EPERM with
 * a sentence that names the module or socket, and the cure.
 */
#include "node/state/roster.h"
#include "node/tools/goal.h"

/* Each module must be manageable, healthy, not locked and without a population violation, and there
 * must be one. */
int pm_check_dimms(const struct pm_dimms *dimms, struct pm_err *err);

/* The firmware setup must allow the platform mode: 2LM where persistent memory becomes main memory,
 * else 1LM. */
int pm_check_platform(
	enum pm_platform platform, const struct pm_capabilities *capabilities, struct pm_err *err);

/*
 * The request must leave each module some of each kind of memory that its platform mode has, and
 * modules of one socket must be of one size where a part is reserved.
 */
int pm_check_shares(
	const struct pm_goal_request *request, const struct pm_dimms *dimms, struct pm_err *err);

/*
 * Near and far memory. Where persistent memory becomes main memory, DRAM is its cache: each socket
 * with DRAM must have some, and not less than its DRAM (ipmctl's error 93). Slots without DRAM are
 * not looked at.
 */
int pm_check_sockets(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const struct pm_slots *slots, struct pm_err *err);

/* Each module that the node is known to have must be there. */
int pm_check_roster(
	const struct pm_dimms *roster, const struct pm_dimms *dimms, struct pm_err *err);

#endif
