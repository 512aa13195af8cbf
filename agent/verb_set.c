/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "agent/dry_run.h"
#include "base/cleanup.h"
#include "node/act/change.h"

int pm_verb_set(struct pm_agent *agent)
{
	const struct pm_mode_info *mode = pm_mode_by_name(agent->words[0]);
	cleanup_free char *names = pm_mode_names();
	struct pm_err err;
	unsigned flags = 0;
	int rc;

	if (!mode) {
		fprintf(stderr, "pmctl: set: unknown mode '%s', modes are: %s\n", agent->words[0],
			names ? names : "");
		return PM_EXIT_USAGE;
	}
	if (pm_dry_run_begin(agent))
		return PM_EXIT_USAGE;
	if (agent->given & PM_OPT_DRY_RUN)
		flags = PM_CHANGE_DRY_RUN;
	rc = pm_change_stage(&agent->op, mode, flags, &err);
	pm_dry_run_end(agent, rc);
	return pm_finish(agent, rc, &err);
}
