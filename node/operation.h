/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OPERATION_H
#define PM_OPERATION_H

/*
 * What an operation on the node is given: the site's configuration, and somebody who hears what it
 * does. It neither prints nor ends the process.
 */
#include "base/err.h"
#include "site/config.h"

struct json_object;

enum pm_tone {
	PM_TONE_FACT,	 /* worth keeping */
	PM_TONE_WARNING, /* something odd that does not stop us */
};

struct pm_operation {
	const char *name; /* "job begin": for whom else waits for the lock */
	/* As they were given, NULL for none: another pmctl that takes over the rest is given them.
	 */
	const char *config_path, *node;
	struct json_object *would; /* of a dry run for programs: node/dry_run.h; else NULL */
	/* Hears each sentence; NULL: nobody does. */
	void (*tell)(const struct pm_operation *op, enum pm_tone tone, const char *text);
	struct pm_config config;
};

__attribute__((format(printf, 2, 3))) void pm_say(
	const struct pm_operation *op, const char *fmt, ...);

__attribute__((format(printf, 2, 3))) void pm_warn(
	const struct pm_operation *op, const char *fmt, ...);

#endif
