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
 * The record is not used if `fresh`, and for root if it says unknown or a goal of this boot is
 * open. -EACCES: there is no valid record, and only root can run the tools; else the error of a
 * tool.
 */
int pm_observe(
	const struct pm_config *config, bool fresh, struct pm_observation *ret, struct pm_err *err);

/* The record alone, if root may use it. Any error: ask the tools. */
int pm_observe_record(const struct pm_config *config, struct pm_record *ret, struct pm_err *err);

#endif
