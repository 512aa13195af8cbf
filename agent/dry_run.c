/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/dry_run.h"

#include <stdio.h>

#include "agent/print.h"
#include "node/dry_run.h"

int pm_dry_run_begin(struct pm_agent *agent)
{
	if (!(agent->given & PM_OPT_JSON))
		return 0;
	if (!(agent->given & PM_OPT_DRY_RUN)) {
		fprintf(stderr, "pmctl: %s: --json goes with --dry-run only\n", agent->verb->name);
		return PM_EXIT_USAGE;
	}
	agent->op.dry_run_report = pm_dry_run_new();
	return 0;
}

void pm_dry_run_end(struct pm_agent *agent, bool failed)
{
	if (!agent->op.dry_run_report)
		return;
	if (failed)
		json_object_put(agent->op.dry_run_report);
	else
		pm_print_json(agent->op.dry_run_report);
	agent->op.dry_run_report = NULL;
}
