/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_DRY_RUN_H
#define PM_AGENT_DRY_RUN_H

/* The report of a dry run, see node/dry_run.h. */
#include "agent/pmctl.h"

/* PM_EXIT_USAGE, with a sentence, for --json without --dry-run; 0 otherwise. */
int pm_dry_run_begin(struct pm_agent *agent);

/* Prints the report, unless the dry run failed, and releases it. */
void pm_dry_run_end(struct pm_agent *agent, bool failed);

#endif
