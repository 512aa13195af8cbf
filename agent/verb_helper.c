/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "agent/pmctl.h"
#include "agent/suspended.h"
#include "node/act/change.h"
#include "node/see/observe.h"

/* slurmd reads stdout and stderr as one list of features: errors go to the system log alone. */
static int print_feature(struct pm_agent *agent)
{
	struct pm_observation seen;
	const struct pm_mode_info *row;
	struct pm_err err;

	agent->quiet = true;
	if (pm_observe(&agent->op.config, /* fresh= */ false, &seen, &err))
		return pm_fail(agent, &err);
	row = pm_mode_of_platform(seen.record.verdict.platform);
	if (!row) {
		pm_warn(&agent->op, "no active feature: %s", seen.record.verdict.why);
		return PM_EXIT_FAILED;
	}
	puts(row->feature);
	return pm_suspended_awaits_boot(&agent->op) ? PM_EXIT_SUSPENDED : PM_EXIT_DONE;
}

/* Slurm changes the features of a node only when no job is on it, except for suspended ones. */
int pm_verb_helper(struct pm_agent *agent)
{
	const struct pm_mode_info *mode;
	struct pm_err err;

	if (!agent->n_words)
		return print_feature(agent);
	mode = pm_mode_by_feature(agent->words[0]);
	if (!mode) {
		pm_err_set(&err, -EINVAL, "unknown feature '%.60s'", agent->words[0]);
	} else if (pm_suspended_check(&agent->op, &err)) {
		(void)pm_fail(agent, &err);
		return PM_EXIT_SUSPENDED;
	} else if (!pm_change_stage(&agent->op, mode, PM_CHANGE_FOR_JOB, &err)) {
		return PM_EXIT_DONE;
	}
	return pm_fail(agent, &err);
}
