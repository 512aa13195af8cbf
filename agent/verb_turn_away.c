/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/ask_controller.h"
#include "agent/pmctl.h"
#include "base/cleanup.h"
#include "node/state/jobs.h"

/* Ample: pm-controller asks slurmctld about the job before it replies. */
#define TIMEOUT_MS 10000

#define MAX_SENTENCE 300

/* Makes the sentence one line: pm-controller accepts no control characters. */
static void clean(const char *sentence, char text[MAX_SENTENCE + 1])
{
	snprintf(text, MAX_SENTENCE + 1, "%s", sentence);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == '\177')
			*at = ' ';
}

int pm_verb_job_turn_away(struct pm_agent *agent)
{
	cleanup_with(pm_message_done) struct pm_message reply = {0};
	struct pm_message told = {.type = PM_MESSAGE_TURNED_AWAY, .node = agent->op.config.node};
	char text[MAX_SENTENCE + 1];
	struct pm_err err;

	if (!agent->job || pm_job_parse_id(agent->job, &told.job_id)) {
		fprintf(stderr, "pmctl: %s: --job=ID: a job's number expected\n",
			agent->verb->name);
		return PM_EXIT_USAGE;
	}
	clean(agent->words[0], text);
	told.text = text;
	if (pm_ask_controller(&agent->op.config, TIMEOUT_MS, &told, &reply, &err))
		return pm_fail(agent, &err);
	puts(reply.type == PM_MESSAGE_REQUEUED ? PM_ANSWER_REQUEUED : PM_ANSWER_NOTED);
	return PM_EXIT_DONE;
}
