/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_RECOVER_GOAL_H
#define PM_AGENT_RECOVER_GOAL_H

/*
 * Recovery of a change of the platform mode after its boot: compares the open change in the
 * journal with the evidence and closes the journal. A goal that the firmware left pending is
 * deleted, so that no later boot applies it.
 */
#include "node/operation.h"
#include "node/see/evidence.h"
#include "node/state/state.h"

enum pm_outcome {
	PM_OUTCOME_NOTHING, /* no change was open */
	PM_OUTCOME_WAITS,   /* staged in this boot, the reboot is still to come */
	PM_OUTCOME_DONE,
	PM_OUTCOME_UNDONE, /* interrupted before it was staged; the mode is as before */
	PM_OUTCOME_FAILED,
};

struct pm_recovery {
	enum pm_outcome outcome;
	char text[1024]; /* one sentence; empty for NOTHING */
};

/*
 * `journal` is brought up to date and written, unless nothing was open or the goal waits. The
 * caller holds the lock. Fails only if ipmctl cannot list the goals, or the journal cannot be
 * written.
 */
int pm_recover_goal(const struct pm_operation *op, struct pm_journal *journal,
	const struct pm_evidence *evidence, const struct pm_verdict *verdict,
	struct pm_recovery *ret, struct pm_err *err);

#endif
