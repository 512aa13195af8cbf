/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/health.h"
#include "agent/metrics.h"
#include "base/cleanup.h"
#include "base/timestamp.h"
#include "node/act/job.h"
#include "node/see/observe.h"
#include "node/state/counters.h"

static void add_mode(struct pm_metrics *metrics)
{
	struct pm_observation seen;
	enum pm_mode mode = PM_MODE_UNKNOWN;
	struct pm_err err;
	int rc = pm_observe(&metrics->agent->op.config, /* fresh= */ false, &seen, &err);

	pm_metrics_note_part(metrics, "mode", rc, &err);
	if (rc)
		return;
	mode = seen.record.verdict.mode;
	pm_mode_foreach(row)
		pm_metric(metrics, NODE_MODE, row->mode == mode, row->name);
	pm_metric(metrics, NODE_MODE, mode == PM_MODE_UNKNOWN, pm_mode_name(PM_MODE_UNKNOWN));
}

/* The health is known when it is bad: its sentence is that of 'pmctl health', and no warning. */
static void add_health(struct pm_metrics *metrics)
{
	pm_metric(metrics, NODE_SERVES, !pm_node_health(&metrics->agent->op.config, NULL));
}

static void add_jobs(struct pm_metrics *metrics)
{
	const struct pm_operation *op = &metrics->agent->op;
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	char boot_id[PM_BOOT_ID_MAX];
	unsigned n = 0;
	struct pm_err err;
	int rc = geteuid() == 0 ? pm_kernel_boot_id(op->config.fs_root, boot_id, &err)
				: pm_err_set(&err, -EPERM, "must be root");

	if (!rc)
		rc = pm_jobs_of(op, &jobs, &err);
	pm_metrics_note_part(metrics, "jobs", rc, &err);
	if (rc)
		return;
	for (size_t i = 0; i < jobs.n; i++)
		n += jobs.list[i].state == PM_JOB_READY && !strcmp(jobs.list[i].boot_id, boot_id);
	pm_metric(metrics, JOBS, n);
}

static bool is_end(enum pm_journal_state state)
{
	return state == PM_JOURNAL_DONE || state == PM_JOURNAL_FAILED || state == PM_JOURNAL_UNDONE;
}

/* The step that ended the change, or with `state` the last such step; NULL: there is none. */
static const struct pm_journal_step *find_step(
	const struct pm_journal *journal, enum pm_journal_state state)
{
	for (size_t i = journal->n_steps; i > 0; i--) {
		const struct pm_journal_step *step = &journal->steps[i - 1];

		if (state ? step->state == state : is_end(step->state))
			return step;
	}
	return NULL;
}

/* Steps have their times to the millisecond, and so has the difference. */
static void add_seconds(struct pm_metrics *metrics, enum pm_metric metric,
	const struct pm_journal_step *from, const struct pm_journal_step *to)
{
	double start, end, ms;

	if (!pm_timestamp_read(from->time, &start) || !pm_timestamp_read(to->time, &end))
		return;
	ms = (double)(int64_t)((end - start) * 1000 + 0.5);
	pm_metrics_add(metrics, metric, ms > 0 ? ms / 1000 : 0, NULL);
}

static void add_change(struct pm_metrics *metrics, const struct pm_journal *journal)
{
	const struct pm_journal_step *end = find_step(journal, PM_JOURNAL_NONE);
	const struct pm_journal_step *reboot = find_step(journal, PM_JOURNAL_REBOOTING);
	double start;

	if (!journal->state || !journal->n_steps)
		return;
	pm_metric(metrics, LAST_CHANGE, 1, pm_mode_name(journal->from), pm_mode_name(journal->mode),
		pm_journal_state_name(journal->state));
	if (pm_timestamp_read(journal->steps[0].time, &start))
		pm_metric(metrics, LAST_CHANGE_START, start);
	if (end)
		add_seconds(metrics, PM_METRIC_LAST_CHANGE_TIME, journal->steps, end);
	if (end && reboot && strcmp(end->boot_id, reboot->boot_id) != 0)
		add_seconds(metrics, PM_METRIC_LAST_REBOOT_TIME, reboot, end);
}

static void add_journal(struct pm_metrics *metrics)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	struct pm_err err;
	int rc = pm_state_read_journal(&metrics->agent->op.config, &journal, &err);

	pm_metrics_note_part(metrics, "journal", rc, &err);
	if (!rc)
		add_change(metrics, &journal);
}

static void add_counters(struct pm_metrics *metrics)
{
	struct pm_counters counters = {0};
	struct pm_err err;
	int rc = pm_counters_read(&metrics->agent->op.config, &counters, &err);

	pm_metrics_note_part(metrics, "counters", rc, &err);
	if (rc)
		return;
	pm_metric(metrics, CHANGES, counters.done, "done");
	pm_metric(metrics, CHANGES, counters.failed, "failed");
	pm_metric(metrics, CHANGES, counters.undone, "undone");
	pm_metric(metrics, WIPES, counters.wipes, "done");
	pm_metric(metrics, WIPES, counters.failed_wipes, "failed");
	pm_metric(metrics, WIPED_BYTES, counters.wiped_bytes);
	pm_metric(metrics, WIPE_TIME, (double)counters.wipe_ms / 1000);
}

void pm_metrics_add_node(struct pm_metrics *metrics)
{
	pm_metric(metrics, BUILD_INFO, 1, PM_VERSION);
	add_mode(metrics);
	add_health(metrics);
	add_jobs(metrics);
	add_journal(metrics);
	add_counters(metrics);
}
