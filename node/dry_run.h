/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_DRY_RUN_H
#define PM_DRY_RUN_H

/*
 * What a dry run would do: a sentence a command, or with --json, at the end and if nothing is in
 * the way, one object for programs:
 *
 *	{"steps": [{"command": "…", "destroys": "…"}, …], "reboot": true}
 *
 * `destroys` is missing where nothing is; `reboot` says that a goal would wait for a reboot then.
 */
#include "node/operation.h"

/* An empty report for programs, for the operation's `would`. */
struct json_object *pm_would_new(void);

/* Neither does anything but in a dry run's report. `loss` NULL: it destroys nothing. */
void pm_would_run(const struct pm_operation *op, const char *command, const char *loss);
void pm_would_reboot(const struct pm_operation *op);

#endif
