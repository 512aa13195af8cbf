/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "agent/ask_controller.h"
#include "agent/explain_policy.h"
#include "agent/pmctl.h"
#include "agent/print.h"
#include "base/cleanup.h"
#include "node/state/jobs.h"

#define TIMEOUT_MS 10000

static void print_sentences(json_object *job)
{
	json_object *list;

	if (!json_object_object_get_ex(job, "sentences", &list))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++)
		puts(json_object_get_string(json_object_array_get_idx(list, i)));
}

int pm_verb_explain(struct pm_agent *agent)
{
	cleanup_with(pm_message_done) struct pm_message reply = {0};
	struct pm_message request = {.type = PM_MESSAGE_EXPLAIN};
	json_object *job;
	struct pm_err err;

	if (*agent->words[0] == '-' || agent->n_words > 1)
		return pm_explain_policy(agent);
	if (pm_job_parse_id(agent->words[0], &request.job_id)) {
		fprintf(stderr, "pmctl: explain: '%s' is not a job's number\n", agent->words[0]);
		return PM_EXIT_USAGE;
	}
	if (pm_ask_controller(&agent->op.config, TIMEOUT_MS, &request, &reply, &err))
		return pm_fail(agent, &err);
	job = json_object_array_get_idx(reply.list, 0);
	if (!json_object_is_type(job, json_type_object)) {
		(void)pm_err_set(&err, -EBADMSG, "the reply of pm-controller has no job");
		return pm_fail(agent, &err);
	}
	if (agent->given & PM_OPT_JSON)
		pm_print_json(json_object_get(job));
	else
		print_sentences(job);
	return PM_EXIT_DONE;
}
