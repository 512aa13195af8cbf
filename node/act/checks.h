/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CHECKS_H
#define PM_CHECKS_H

/*
 * Checks before a goal, each a pure function. All return 0, or -EPERM with a sentence that names
 * the module or socket, and the cure.
 */
#include "node/state/roster.h"
#include "node/tools/goal.h"

/*
 * There is a module, and each is manageable, healthy, not locked and without a population
 * violation.
 */
int pm_check_dimms(const struct pm_dimms *dimms, struct pm_err *err);

/*
 * The firmware setup allows the platform mode: 2LM if persistent memory becomes main memory, else
 * 1LM.
 */
int pm_check_platform(
	enum pm_platform platform, const struct pm_capabilities *capabilities, struct pm_err *err);

/*
 * The request leaves each module a part of each kind of memory that the platform mode has. If a
 * part is reserved, the modules of a socket have one size.
 */
int pm_check_shares(
	const struct pm_goal_request *request, const struct pm_dimms *dimms, struct pm_err *err);

/*
 * Near and far memory. If persistent memory becomes main memory, DRAM is its cache: each socket
 * with DRAM has at least as much persistent memory as DRAM (ipmctl's error 93). Slots without DRAM
 * are ignored.
 */
int pm_check_sockets(const struct pm_goal_request *request, const struct pm_dimms *dimms,
	const struct pm_slots *slots, struct pm_err *err);

/* Each module of the roster is present. */
int pm_check_roster(
	const struct pm_dimms *roster, const struct pm_dimms *dimms, struct pm_err *err);

#endif
