/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_DRY_RUN_H
#define PM_DRY_RUN_H

/*
 * The report of a dry run: a sentence for each command. With --json it is one object, which is
 * printed at the end unless a check fails:
 *
 *	{"steps": [{"command": "…", "destroys": "…"}, …], "reboot": true}
 *
 * `destroys` is missing if the command destroys nothing. `reboot`: a goal would be staged or is
 * staged already, and a reboot applies it.
 */
#include "node/operation.h"

/* An empty report, for the operation's `dry_run_report`; the caller frees it. */
struct json_object *pm_dry_run_new(void);

/* Reports a command. `loss`: the bytes that it destroys, in words; NULL: it destroys nothing. */
void pm_dry_run_step(const struct pm_operation *op, const char *command, const char *loss);

/* Sets `reboot`; does nothing unless the operation has a report. */
void pm_dry_run_reboot(const struct pm_operation *op);

#endif
