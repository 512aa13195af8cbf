/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>

#include "agent/pmctl.h"
#include "base/cleanup.h"

static void to_log(const struct pm_agent *agent, int priority, const char *text)
{
	if (agent->verb && agent->verb->logs)
		syslog(LOG_DAEMON | priority, "%s: %s", agent->verb->name, text);
}

void pm_fail(const struct pm_agent *agent, const struct pm_err *err)
{
	if (!agent->quiet)
		fprintf(stderr, "pmctl: %s%s%s\n", agent->verb ? agent->verb->name : "",
			agent->verb ? ": " : "", err->text);
	to_log(agent, LOG_ERR, err->text);
}

__attribute__((format(printf, 1, 0))) static char *print(const char *fmt, va_list args)
{
	char *text = NULL;

	return vasprintf(&text, fmt, args) < 0 ? NULL : text;
}

void pm_say(const struct pm_agent *agent, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = print(fmt, args);
	va_end(args);
	if (!text)
		return;
	if (!agent->quiet && !(agent->given & PM_OPT_JSON))
		puts(text);
	to_log(agent, LOG_INFO, text);
}

void pm_warn(const struct pm_agent *agent, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = print(fmt, args);
	va_end(args);
	if (!text)
		return;
	if (!agent->quiet)
		fprintf(stderr, "pmctl: %s: %s\n", agent->verb->name, text);
	to_log(agent, LOG_WARNING, text);
}
