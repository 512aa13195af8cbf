/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "agent/pmctl.h"
#include "base/file.h"
#include "node/act/substate.h"

static void to_log(const struct pm_agent *agent, int priority, const char *text)
{
	if (agent->verb && (agent->verb->flags & PM_VERB_LOGS))
		syslog(LOG_DAEMON | priority, "%s: %s", agent->verb->name, text);
}

int pm_fail(const struct pm_agent *agent, const struct pm_err *err)
{
	if (!agent->quiet)
		fprintf(stderr, "pmctl: %s%s%s\n", agent->verb ? agent->verb->name : "",
			agent->verb ? ": " : "", err->text);
	to_log(agent, LOG_ERR, err->text);
	return PM_EXIT_FAILED;
}

int pm_write_output(const char *path, const char *text, struct pm_err *err)
{
	if (path)
		return pm_file_write(path, 0644, text, strlen(text), err);
	return fputs(text, stdout) < 0 ? pm_err_sys(err, -errno, "write to stdout") : 0;
}

int pm_finish(const struct pm_agent *agent, int rc, const struct pm_err *err)
{
	if (!rc)
		return PM_EXIT_DONE;
	(void)pm_fail(agent, err);
	return rc == PM_NEEDS_REBOOT ? PM_EXIT_REBOOT : PM_EXIT_FAILED;
}

static void report_fact(const struct pm_agent *agent, const char *text)
{
	if (!agent->quiet && !(agent->given & PM_OPT_JSON))
		puts(text);
	to_log(agent, LOG_INFO, text);
}

static void report_warning(const struct pm_agent *agent, const char *text)
{
	if (!agent->quiet)
		fprintf(stderr, "pmctl: %s: %s\n", agent->verb->name, text);
	to_log(agent, LOG_WARNING, text);
}

void pm_agent_report(const struct pm_operation *op, enum pm_tone tone, const char *text)
{
	const struct pm_agent *agent = (const struct pm_agent *)op;

	if (tone == PM_TONE_FACT)
		report_fact(agent, text);
	else
		report_warning(agent, text);
}
