/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/would.h"

#include <stdio.h>

#include "agent/print.h"
#include "node/dry_run.h"

int pm_would_begin(struct pm_agent *agent)
{
	if (!(agent->given & PM_OPT_JSON))
		return 0;
	if (!(agent->given & PM_OPT_DRY_RUN)) {
		fprintf(stderr, "pmctl: %s: --json goes with --dry-run only\n", agent->verb->name);
		return PM_EXIT_USAGE;
	}
	agent->op.would = pm_would_new();
	return 0;
}

void pm_would_end(struct pm_agent *agent, bool failed)
{
	if (!agent->op.would)
		return;
	if (failed)
		json_object_put(agent->op.would);
	else
		pm_print_json(agent->op.would);
	agent->op.would = NULL;
}
