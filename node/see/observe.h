/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_OBSERVE_H
#define PM_AGENT_OBSERVE_H

/* Observation of the present mode: from the mode record if it is valid, else from the tools. */
#include "node/operation.h"
#include "node/state/state.h"

struct pm_observation {
	struct pm_record record; /* verdict and present kernel; the time is "" without a record */
	bool from_record;
};

/*
 * With `fresh` the record is not used. For root it is not used either if its platform mode is
 * unknown or a goal of this boot is open. -EACCES: the tools are needed, and only root can run
 * them; else the error of a tool.
 */
int pm_observe(
	const struct pm_config *config, bool fresh, struct pm_observation *ret, struct pm_err *err);

/* The record alone, if root may use it. Any error: ask the tools. */
int pm_observe_record(const struct pm_config *config, struct pm_record *ret, struct pm_err *err);

#endif
