/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/job_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/list.h"

static int add_node(struct pm_job_report *report, json_object *line, struct pm_err *err)
{
	struct pm_report_node *node = pm_list_next(&report->nodes, report->n_nodes, sizeof(*node));

	if (!node)
		return pm_err_nomem(err);
	node->node = pm_json_string(line, "node");
	if (!node->node || !pm_fields_read(pm_job_use_fields, 1, line, &node->use, err)) {
		pm_job_use_done(&node->use);
		return pm_err_set(err, -EBADMSG, "the reply of pm-controller has a malformed line");
	}
	report->n_nodes++;
	return 0;
}

static void add_reboot(struct pm_job_report *report, const json_object *line)
{
	uint64_t start = pm_json_number(line, "start"), end = pm_json_number(line, "end");

	report->failed += pm_json_string(line, "failure") != NULL;
	report->first_s = report->reboots ? MIN(report->first_s, start) : start;
	report->last_s = MAX(report->last_s, end);
	report->reboots++;
}

/* The nodes of earlier runs of a requeued job are dropped. */
static void keep_last_run(struct pm_job_report *report)
{
	const struct pm_report_node *last = NULL;
	char run[64];
	size_t kept = 0;

	for (size_t i = 0; i < report->n_nodes; i++)
		if (!last || report->nodes[i].use.begin_s > last->use.begin_s)
			last = &report->nodes[i];
	if (!last)
		return;
	strcpy(run, last->use.run);
	for (size_t i = 0; i < report->n_nodes; i++) {
		if (!strcmp(report->nodes[i].use.run, run))
			report->nodes[kept++] = report->nodes[i];
		else
			pm_job_use_done(&report->nodes[i].use);
	}
	report->n_nodes = kept;
}

int pm_job_report_read(json_object *lines, struct pm_job_report *ret, struct pm_err *err)
{
	struct pm_job_report report = {0};
	int rc = 0;

	for (size_t i = 0; !rc && i < json_object_array_length(lines); i++) {
		json_object *line = json_object_array_get_idx(lines, i);

		if (pm_json_is(line, "type", "job"))
			report.job = line;
		else if (pm_json_is(line, "type", "reboot"))
			add_reboot(&report, line);
		else if (pm_json_is(line, "type", "node"))
			rc = add_node(&report, line, err);
	}
	if (rc) {
		pm_job_report_done(&report);
		return rc;
	}
	keep_last_run(&report);
	*ret = report;
	return 0;
}

bool pm_job_report_is_running(const struct pm_job_report *report)
{
	return report->job && pm_json_is(report->job, "state", "RUNNING");
}

bool pm_job_report_has_mode(const struct pm_job_report *report)
{
	return report->n_nodes || (report->job && *pm_json_text(report->job, "feature"));
}

bool pm_job_report_lost_node(const struct pm_job_report *report)
{
	return report->job && pm_json_is(report->job, "state", "NODE_FAIL");
}

bool pm_job_report_is_elsewhere(const struct pm_job_report *report)
{
	return report->job && pm_json_is(report->job, "state", "REVOKED");
}

bool pm_job_report_is_whole(const struct pm_job_report *report)
{
	if (!report->job || pm_job_report_is_elsewhere(report))
		return true;
	if (pm_job_report_is_running(report) || pm_json_is(report->job, "state", "PENDING"))
		return false;
	return !pm_job_report_has_mode(report) ||
	       report->n_nodes >= pm_json_number(report->job, "n_nodes");
}

static uint64_t peak_of(const struct pm_job_use *use, const char *tier)
{
	return tier ? pm_job_use_peak(use, tier) : use->memory_peak_bytes;
}

const struct pm_report_node *pm_job_report_highest(
	const struct pm_job_report *report, const char *tier)
{
	const struct pm_report_node *highest = NULL;

	for (size_t i = 0; i < report->n_nodes; i++)
		if (peak_of(&report->nodes[i].use, tier) >
			(highest ? peak_of(&highest->use, tier) : 0))
			highest = &report->nodes[i];
	return highest;
}

void pm_job_report_done(struct pm_job_report *report)
{
	for (size_t i = 0; i < report->n_nodes; i++)
		pm_job_use_done(&report->nodes[i].use);
	free(report->nodes);
	*report = (struct pm_job_report){0};
}
