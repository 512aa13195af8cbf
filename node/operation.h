/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OPERATION_H
#define PM_OPERATION_H

/*
 * The context of an operation on the node: the site's configuration and a callback for messages. An
 * operation neither prints nor ends the process.
 */
#include "base/err.h"
#include "site/config.h"

struct json_object;

enum pm_tone {
	PM_TONE_FACT,	 /* worth keeping */
	PM_TONE_WARNING, /* odd, and the operation goes on */
};

struct pm_operation {
	const char *name; /* "job begin"; shown to another pmctl that waits for the lock */
	/* As given on the command line, NULL for none: `pmctl sweep` is started with the same. */
	const char *config_path, *node;
	struct json_object *dry_run_report; /* for --json, see node/dry_run.h; else NULL */
	/* Called with each message; NULL: messages are dropped. */
	void (*report)(const struct pm_operation *op, enum pm_tone tone, const char *text);
	struct pm_config config;
};

/* Reports a fact, or a warning, to `report`; a message is dropped when memory runs out. */
__attribute__((format(printf, 2, 3))) void pm_report(
	const struct pm_operation *op, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void pm_warn(
	const struct pm_operation *op, const char *fmt, ...);

#endif
