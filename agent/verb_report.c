/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/ask_controller.h"
#include "agent/job_report.h"
#include "agent/job_report_here.h"
#include "agent/job_report_text.h"
#include "agent/pmctl.h"
#include "agent/pmreport.h"
#include "agent/print.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "node/state/jobs.h"

#define TIMEOUT_MS 10000
#define WAIT_MAX_S 3600

/* Moves the rows to the end of the list. Their number. */
static size_t move(json_object *rows, json_object *list)
{
	size_t n = json_object_array_length(rows);

	for (size_t i = 0; i < n; i++)
		json_object_array_add(list, json_object_get(json_object_array_get_idx(rows, i)));
	return n;
}

static int ask(
	const struct pm_agent *agent, uint32_t job_id, json_object *lines, struct pm_err *err)
{
	char after[24];
	size_t n;

	do {
		cleanup_with(pm_message_done) struct pm_message reply = {0};
		struct pm_message request = {
			.type = PM_MESSAGE_REPORT, .job_id = job_id, .after = after};
		int rc;

		snprintf(after, sizeof(after), "%zu", json_object_array_length(lines));
		rc = pm_ask_controller(&agent->op.config, TIMEOUT_MS, &request, &reply, err);
		if (rc)
			return rc;
		n = move(reply.list, lines);
	} while (n);
	return 0;
}

/* All that is known now; *ret is an array. */
static int gather(
	const struct pm_agent *agent, uint32_t job_id, json_object **ret, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *lines = json_object_new_array();
	int rc = lines ? ask(agent, job_id, lines, err) : pm_err_nomem(err);

	if (rc)
		return rc;
	pm_job_report_add_here(&agent->op.config, job_id, lines);
	*ret = pm_steal(lines);
	return 0;
}

static bool is_whole(json_object *lines)
{
	cleanup_with(pm_job_report_done) struct pm_job_report report = {0};

	return pm_job_report_read(lines, &report, &(struct pm_err){0}) ||
	       pm_job_report_is_whole(&report);
}

/* Asks again each second, until all nodes have reported or the time has passed. */
static int gather_within(const struct pm_agent *agent, uint32_t job_id, uint64_t wait_s,
	json_object **ret, struct pm_err *err)
{
	uint64_t end_ms = pm_now_ms() + wait_s * 1000;
	int rc;

	while (!(rc = gather(agent, job_id, ret, err)) && pm_now_ms() < end_ms && !is_whole(*ret)) {
		json_object_put(pm_steal(*ret));
		(void)sleep(1);
	}
	return rc;
}

/* "job" is one object, "reboot" and "node" are arrays of them. */
static void add_line(json_object *root, json_object *line)
{
	const char *type = pm_json_string(line, "type");
	json_object *list;

	if (!type)
		return;
	if (!strcmp(type, "job")) {
		json_object_object_add(root, type, json_object_get(line));
		return;
	}
	if (!json_object_object_get_ex(root, type, &list))
		list = pm_json_add_array(root, type);
	json_object_array_add(list, json_object_get(line));
}

static json_object *whole_of(json_object *lines, const struct pm_runtime_sums *runtime)
{
	json_object *root = json_object_new_object();

	pm_json_add_u64(root, "version", 1);
	for (size_t i = 0; i < json_object_array_length(lines); i++)
		add_line(root, json_object_array_get_idx(lines, i));
	if (runtime->processes)
		pm_runtime_reports_format(runtime, pm_json_add_object(root, "runtime"));
	return root;
}

static int write_page(const struct pm_agent *agent, json_object *root, struct pm_err *err)
{
	return pm_run_pmreport_of_job(
		json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN), agent->output, err);
}

static int print(
	const struct pm_agent *agent, uint32_t job_id, json_object *lines, struct pm_err *err)
{
	cleanup_with(pm_job_report_done) struct pm_job_report report = {0};
	int rc = pm_job_report_read(lines, &report, err);

	if (!rc && agent->runtime)
		rc = pm_runtime_reports_read(agent->runtime, &report.runtime, err);
	if (rc)
		return rc;
	if (agent->output) {
		cleanup_with(pm_json_cleanup) json_object *root = whole_of(lines, &report.runtime);

		return write_page(agent, root, err);
	}
	if (agent->given & PM_OPT_JSON)
		pm_print_json(whole_of(lines, &report.runtime));
	else
		pm_job_report_print(&report, job_id, &agent->op.config, stdout);
	return 0;
}

/* -EINVAL after a sentence about the command line. */
static int check(const struct pm_agent *agent, uint32_t *ret_job_id, uint64_t *ret_wait_s)
{
	if (pm_job_parse_id(agent->words[0], ret_job_id)) {
		fprintf(stderr, "pmctl: report: '%s' is not a job's number\n", agent->words[0]);
		return -EINVAL;
	}
	if (agent->wait && (pm_parse_u64(agent->wait, ret_wait_s) || *ret_wait_s > WAIT_MAX_S)) {
		fprintf(stderr, "pmctl: report: --wait: '%s' is not a number of seconds up to %d\n",
			agent->wait, WAIT_MAX_S);
		return -EINVAL;
	}
	if (agent->runtime && !geteuid()) {
		fprintf(stderr, "pmctl: report: --runtime: root does not read users' files, run it "
				"as the user\n");
		return -EINVAL;
	}
	return 0;
}

int pm_verb_report(struct pm_agent *agent)
{
	cleanup_with(pm_json_cleanup) json_object *lines = NULL;
	uint64_t wait_s = 0;
	uint32_t job_id;
	struct pm_err err;
	int rc;

	if (check(agent, &job_id, &wait_s))
		return PM_EXIT_USAGE;
	rc = gather_within(agent, job_id, wait_s, &lines, &err);
	if (!rc)
		rc = print(agent, job_id, lines, &err);
	return pm_finish(agent, rc, &err);
}
