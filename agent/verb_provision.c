/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "agent/dry_run.h"
#include "base/cleanup.h"
#include "node/act/recover.h"
#include "node/act/substate.h"
#include "node/state/state.h"

static bool by_name(const char *name, enum pm_substate *ret)
{
	for (int i = PM_SUBSTATE_EMPTY; i <= PM_SUBSTATE_FLAT; i++) {
		if (strcmp(pm_substate_name((enum pm_substate)i), name))
			continue;
		*ret = (enum pm_substate)i;
		return true;
	}
	return false;
}

int pm_verb_provision(struct pm_agent *agent)
{
	cleanup_close int lock_fd = -1;
	enum pm_substate wanted;
	struct pm_err err;
	int rc;

	if (!by_name(agent->words[0], &wanted)) {
		fprintf(stderr,
			"pmctl: provision: unknown state '%s', valid states are empty, fsdax, "
			"devdax, flat\n",
			agent->words[0]);
		return PM_EXIT_USAGE;
	}
	if (pm_dry_run_begin(agent))
		return PM_EXIT_USAGE;
	rc = pm_state_lock_within(&agent->op, agent->op.config.tool_timeout_s, &lock_fd, &err);
	if (!rc)
		rc = pm_recover_check_jobs(&agent->op, wanted, &err);
	if (!rc)
		rc = pm_substate_reach(&agent->op, wanted, agent->given & PM_OPT_DRY_RUN, &err);
	pm_dry_run_end(agent, rc);
	return pm_finish(agent, rc, &err);
}
