/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_RECOVER_GOAL_H
#define PM_AGENT_RECOVER_GOAL_H

/*
 * After a boot: what became of the change in the journal? Closes the journal accordingly, and
 * deletes a goal of ours that the firmware left pending.
 */
#include "node/operation.h"
#include "node/see/evidence.h"
#include "node/state/state.h"

enum pm_outcome {
	PM_OUTCOME_NOTHING, /* no change was open */
	PM_OUTCOME_WAITS,   /* staged in this boot: the reboot is still to come */
	PM_OUTCOME_DONE,
	PM_OUTCOME_UNDONE, /* interrupted before it was staged; the mode is as before */
	PM_OUTCOME_FAILED,
};

struct pm_recovery {
	enum pm_outcome outcome;
	char text[1024]; /* one sentence; empty for NOTHING */
};

/* Fails only when the state of the goals cannot be read or the journal cannot be written. */
int pm_recover_goal(const struct pm_operation *op, struct pm_journal *journal,
	const struct pm_evidence *evidence, const struct pm_verdict *verdict,
	struct pm_recovery *ret, struct pm_err *err);

#endif
