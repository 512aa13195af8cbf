/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_WOULD_H
#define PM_AGENT_WOULD_H

/*
 * What a dry run would do: a sentence a command, or with --json, at the end and if nothing is in
 * the way, one object for programs:
 *
 *	{"steps": [{"command": "…", "destroys": "…"}, …], "reboot": true}
 *
 * `destroys` is missing where nothing is; `reboot` says that a goal would wait for a reboot then.
 */
#include "agent/pmctl.h"

/* PM_EXIT_USAGE, with a sentence, for --json without --dry-run; 0 otherwise. */
int pm_would_begin(struct pm_agent *agent);

/* Neither does anything but in a dry run's report. `loss` NULL: it destroys nothing. */
void pm_would_run(const struct pm_agent *agent, const char *command, const char *loss);
void pm_would_reboot(const struct pm_agent *agent);

/* Prints what was collected unless the dry run failed, and releases it. */
void pm_would_end(struct pm_agent *agent, bool failed);

#endif
