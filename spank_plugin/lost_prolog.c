/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/lost_prolog.h"

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "site/features.h"
#include "spank_plugin/batch_step.h"
#include "spank_plugin/command.h"
#include "spank_plugin/cancel.h"
#include "spank_plugin/node.h"
#include "spank_plugin/prolog_mark.h"
#include "spank_plugin/requeue.h"

#define IN_PROLOG    "Prolog"
#define PAST_PROLOG  "None"
#define FEATURES_MAX 1024
#define FORMAT	     "--Format=JobID:12,Reason:24,Feature:1024,BatchFlag:8,BatchHost:255"
#define JOBS_MAX     (sizeof((struct pm_unprepared){0}.jobs) / sizeof(struct pm_unprepared_job))

/* A line of squeue with FORMAT. The job's first node starts its batch step. */
static bool is_candidate(const char *line, const char *node, struct pm_unprepared_job *ret)
{
	char reason[32], constraint[FEATURES_MAX + 1], host[256] = "";
	int is_batch = 0;

	if (sscanf(line, "%u %31s %1024s %d %255s", &ret->id, reason, constraint, &is_batch, host) <
			3 ||
		!pm_features_may_be_ours(constraint))
		return false;
	ret->was_prepared = !strcmp(reason, PAST_PROLOG) && is_batch && !strcmp(host, node);
	return ret->was_prepared || !strcmp(reason, IN_PROLOG);
}

/*
 * After its restart slurmctld shows a node as UNKNOWN until the node registers, even one with jobs.
 */
static bool may_have_jobs(const struct pm_config *config, unsigned timeout_ms)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};

	return !pm_node_ask(config, timeout_ms, &known, NULL) &&
	       (strstr(known.state, "ALLOCATED") || strstr(known.state, "MIXED") ||
		       strstr(known.state, "UNKNOWN"));
}

/* slurmctld sends squeue the jobs of the whole cluster, so a node without jobs does not ask. */
static void look(const struct pm_config *config, unsigned timeout_ms, struct pm_unprepared *ret)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *node = pm_node_name();
	const char *argv[] = {config->squeue_path, "--local", "--noheader", "--states=RUNNING",
		"--nodelist", node, FORMAT, NULL};
	struct pm_err err = {0};

	*ret = (struct pm_unprepared){0};
	if (!node || !may_have_jobs(config, timeout_ms))
		return;
	if (pm_command_output(argv, timeout_ms, &output, &err)) {
		slurm_error("pm: %s, not looking for jobs that lost their prolog", err.text);
		return;
	}
	for (const char *line = output.out; *line && ret->count < JOBS_MAX;
		line = pm_next_line(line))
		if (is_candidate(line, node, &ret->jobs[ret->count]))
			ret->count++;
}

static void requeue_or_cancel(
	const struct pm_config *config, const struct pm_unprepared_job *job, unsigned timeout_ms)
{
	unsigned job_id = job->id;
	struct pm_err err = {0};

	if (job->was_prepared)
		slurm_error("pm: the launch of job %u was lost here, requeuing it", job_id);
	else
		slurm_error("pm: job %u lost its prolog here, requeuing it", job_id);
	if (!pm_job_requeue(config, job_id, timeout_ms, &err))
		return;
	slurm_error("pm: %s, job %u ends instead", err.text, job_id);
	if (pm_job_cancel(config, job_id, "slurmd was restarted while it prepared the node",
		    timeout_ms, &err))
		slurm_error("pm: end job %u: %s", job_id, err.text);
}

static bool contains(const struct pm_unprepared *jobs, uint32_t id)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->jobs[i].id == id)
			return true;
	return false;
}

/* True if the job waits for an earlier slurmd, which is gone. */
static bool is_lost(const struct pm_config *config, const struct pm_unprepared_job *job)
{
	if (pm_prolog_is_waited_for(config, job->id))
		return false;
	return !job->was_prepared ||
	       (pm_prolog_is_marked(config, job->id) && !pm_batch_step_exists(job->id));
}

void pm_lost_prologs(const struct pm_config *config, unsigned timeout_ms)
{
	struct pm_unprepared jobs;

	look(config, timeout_ms, &jobs);
	for (size_t i = 0; i < jobs.count; i++)
		if (!jobs.jobs[i].was_prepared && pm_prolog_is_marked(config, jobs.jobs[i].id))
			requeue_or_cancel(config, &jobs.jobs[i], timeout_ms);
}

void pm_unprepared_find(
	const struct pm_config *config, unsigned timeout_ms, struct pm_unprepared *ret)
{
	struct pm_unprepared jobs;

	look(config, timeout_ms, &jobs);
	*ret = (struct pm_unprepared){0};
	for (size_t i = 0; i < jobs.count; i++)
		if (is_lost(config, &jobs.jobs[i]))
			ret->jobs[ret->count++] = jobs.jobs[i];
}

void pm_unprepared_requeue(
	const struct pm_config *config, unsigned timeout_ms, const struct pm_unprepared *before)
{
	struct pm_unprepared now;

	if (!before->count)
		return;
	pm_unprepared_find(config, timeout_ms, &now);
	for (size_t i = 0; i < now.count; i++)
		if (contains(before, now.jobs[i].id))
			requeue_or_cancel(config, &now.jobs[i], timeout_ms);
}
