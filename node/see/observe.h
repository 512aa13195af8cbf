/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_OBSERVE_H
#define PM_AGENT_OBSERVE_H

/* In which mode is the node now? From this boot's record when that holds, else from the tools. */
#include "node/operation.h"
#include "node/state/state.h"

struct pm_observation {
	struct pm_record record; /* verdict, and the kernel now; time empty when asked afresh */
	bool from_record;
};

/*
 * Root does not take the record while a goal of this boot is open, or when it says unknown.
 * -EACCES: there is no record that holds and only root could ask afresh; else what the tools say.
 */
int pm_observe(
	const struct pm_config *config, bool fresh, struct pm_observation *ret, struct pm_err *err);

/* The record alone, on root's terms. Any error: ask the tools. */
int pm_observe_record(const struct pm_config *config, struct pm_record *ret, struct pm_err *err);

#endif
