/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SUBSTATES_H
#define PM_SUBSTATES_H

/*
 * The sub-states that nodes have told: slurmctld does not know them. They are lost with the
 * service, and a node tells its own again with its next job.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct pm_node_substate {
	char *node;
	const char *substate; /* as pm_substate_name() has it */
	uint64_t told_s;
};

struct pm_substates {
	struct pm_node_substate *list; /* by name */
	size_t n, room;
};

/* -EINVAL: not the name of a sub-state; -ENOMEM. */
int pm_substates_set(struct pm_substates *substates, const char *node, const char *substate,
	uint64_t now_s, struct pm_err *err);

/* NULL: the node has told none since its boot. */
const char *pm_substates_of(
	const struct pm_substates *substates, const char *node, uint64_t boot_s);

void pm_substates_done(struct pm_substates *substates);

#endif
