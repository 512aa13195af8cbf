/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/permits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "controller/candidates.h"
#include "controller/job_update.h"
#include "controller/lease_array.h"
#include "controller/node_features.h"
#include "controller/overview.h"
#include "controller/partition_nodes.h"
#include "controller/usable_nodes.h"
#include "site/delay_boot.h"

/* Reboots permitted now may begin until the next look. */
#define LOOK_S 10

bool pm_permit_is_awaited(const slurm_job_info_t *job)
{
	return job->delay_boot >= PM_DELAY_WAIT_S && job->delay_boot < PM_DELAY_FOREVER_S;
}

bool pm_permit_is_never(const slurm_job_info_t *job)
{
	return job->delay_boot >= PM_DELAY_FOREVER_S && job->delay_boot != NO_VAL;
}

/* A job for which pmem.lua or its user wants no reboot at all is none of ours. */
static bool concerns_us(const slurm_job_info_t *job)
{
	return pm_job_is_pending(job) && pm_job_feature(job) && !pm_permit_is_never(job);
}

/* --- configuration --- */

void pm_permits_configure(struct pm_permits *permits, struct pm_config *config, const char *run_dir)
{
	permits->wanted = pm_permit_config_limits(config);
	pm_permit_site_set(&permits->site, config, run_dir);
}

/* --- changes of jobs --- */

static int set_delay(const slurm_job_info_t *job, uint32_t delay_s)
{
	job_desc_msg_t update;

	slurm_init_job_desc_msg(&update);
	update.delay_boot = delay_s;
	return pm_job_update(job, &update, "change its DelayBoot");
}

static void permit_tasks(const slurm_job_info_t *job, size_t n)
{
	job_desc_msg_t update;

	slurm_init_job_desc_msg(&update);
	update.delay_boot = job->delay_boot - PM_DELAY_WAIT_S;
	(void)pm_job_update_tasks(job, n, &update, "let its first tasks have nodes rebooted");
}

static void permit(slurm_job_info_t *job)
{
	if (pm_permit_is_awaited(job) && !set_delay(job, job->delay_boot - PM_DELAY_WAIT_S))
		job->delay_boot -= PM_DELAY_WAIT_S;
}

static void withdraw(slurm_job_info_t *job)
{
	uint32_t own_s = job->delay_boot < PM_DELAY_YEAR_S ? job->delay_boot : 0;

	if (!pm_permit_is_awaited(job) && !set_delay(job, own_s + PM_DELAY_WAIT_S))
		job->delay_boot = own_s + PM_DELAY_WAIT_S;
}

/* --- nodes --- */

static void count_node(void *context, const node_info_t *node)
{
	struct pm_permit_nodes *nodes = context;
	enum pm_node_use use = pm_node_use(node->node_state);
	enum pm_mode mode = pm_mode_of_feature(pm_node_feature(node));

	nodes->idle[mode] += use == PM_NODE_IDLE;
	nodes->total[mode] += use != PM_NODE_OUT;
	nodes->out[mode] += use == PM_NODE_OUT;
	nodes->all += use != PM_NODE_OUT;
}

/* The nodes of partitions that have been counted. */
struct counted {
	const char *partitions;
	struct pm_permit_nodes nodes;
};

/* --- a look --- */

struct look {
	struct pm_permits *permits;
	const struct pm_cluster *cluster;
	slurm_job_info_t **jobs; /* in the order of priority */
	struct counted *counted;
	size_t n_jobs, n_counted;
	struct pm_permit_sum sum;
	bool settled; /* slurmctld knows its nodes: else nothing more is permitted */
};

static void look_done(struct look *look)
{
	free(look->jobs);
	free(look->counted);
}

/* Of jobs with the same priority one that has a permit keeps it. */
static int by_priority(const void *a, const void *b)
{
	const slurm_job_info_t *x = *(slurm_job_info_t *const *)a;
	const slurm_job_info_t *y = *(slurm_job_info_t *const *)b;

	if (x->priority == y->priority && pm_permit_is_awaited(x) != pm_permit_is_awaited(y))
		return pm_permit_is_awaited(x) ? 1 : -1;
	return pm_job_order(x, y);
}

static int list_jobs(struct look *look)
{
	job_info_msg_t *jobs = look->cluster->jobs;

	look->jobs = calloc(jobs->record_count + 1, sizeof(*look->jobs));
	look->counted = calloc(jobs->record_count + 1, sizeof(*look->counted));
	look->permits->waits = calloc(jobs->record_count + 1, sizeof(*look->permits->waits));
	if (!look->jobs || !look->counted || !look->permits->waits)
		return -ENOMEM;
	for (uint32_t i = 0; i < jobs->record_count; i++)
		if (concerns_us(&jobs->job_array[i]))
			look->jobs[look->n_jobs++] = &jobs->job_array[i];
	qsort(look->jobs, look->n_jobs, sizeof(*look->jobs), by_priority);
	return 0;
}

static struct pm_permit_nodes *nodes_of(struct look *look, const char *partitions)
{
	struct counted *counted = look->counted;

	for (; counted < look->counted + look->n_counted; counted++)
		if (!strcmp(counted->partitions, partitions))
			return &counted->nodes;
	counted->partitions = partitions;
	look->n_counted++;
	pm_partition_nodes_each(look->cluster, partitions, count_node, &counted->nodes);
	return &counted->nodes;
}

/* A job that cannot start needs no permit; it gets one in the look after. */
static bool may_start(const slurm_job_info_t *job, uint64_t now_s)
{
	return job->priority && job->eligible_time && (uint64_t)job->eligible_time <= now_s;
}

static void note_wait(struct pm_permits *permits, const slurm_job_info_t *job, enum pm_permit why)
{
	if (why != PM_PERMIT_NOT_NEEDED && why != PM_PERMIT_GIVEN)
		permits->waits[permits->n_waits++] = (struct pm_permit_wait){job->job_id, why};
}

/* Of an array each task is judged. */
static void judge(struct look *look, slurm_job_info_t *job, const struct pm_permit_limits *limits)
{
	struct pm_permit_nodes *nodes = nodes_of(look, job->partition);
	struct pm_permit_job request = {.mode = pm_mode_of_feature(pm_job_feature(job)),
		.needed = pm_candidates_needed(job)};
	size_t tasks = pm_lease_array_count(job->array_task_str), given = 0, n = 0;
	enum pm_permit answer = PM_PERMIT_NOT_NEEDED;

	request.usable = pm_usable_nodes(look->cluster, job, request.mode, request.needed);
	for (; n < tasks && (answer == PM_PERMIT_NOT_NEEDED || answer == PM_PERMIT_GIVEN); n++) {
		answer = pm_permit_decide(limits, nodes, &look->sum, &request);
		given += answer == PM_PERMIT_GIVEN;
	}
	note_wait(look->permits, job, answer);
	if (given == tasks && !look->settled)
		return; /* it keeps what it has */
	if (given == tasks)
		permit(job);
	else
		withdraw(job);
	if (given && given < tasks && look->settled)
		permit_tasks(job, given);
}

static void settle(struct look *look, slurm_job_info_t *job, uint64_t now_s)
{
	struct pm_permit_limits limits;

	if (!job->partition ||
		!pm_permit_limits_of(&look->permits->site, job, now_s, LOOK_S, &limits))
		permit(job);
	else if (may_start(job, now_s))
		judge(look, job, &limits);
	else
		withdraw(job);
}

/* Without a limit in pmem.conf: jobs that waited for a permit wait no longer. */
static void permit_all(job_info_msg_t *jobs)
{
	for (uint32_t i = 0; i < jobs->record_count; i++)
		if (concerns_us(&jobs->job_array[i]))
			permit(&jobs->job_array[i]);
}

void pm_permits_look(struct pm_permits *permits, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, bool settled, uint64_t now_s)
{
	cleanup_with(look_done) struct look look = {
		.permits = permits, .cluster = cluster, .settled = settled};

	if (!permits->site.configured || !cluster->jobs || !cluster->nodes || !cluster->partitions)
		return;
	free(permits->waits);
	permits->waits = NULL;
	permits->n_waits = 0;
	if (!permits->wanted) {
		permit_all(cluster->jobs);
		return;
	}
	if (list_jobs(&look))
		return;
	pm_permit_site_count(&permits->site, reboots, now_s);
	for (size_t i = 0; i < look.n_jobs; i++)
		settle(&look, look.jobs[i], now_s);
}

/* --- explain --- */

static enum pm_permit why_waits(const struct pm_permits *permits, uint32_t job_id)
{
	for (size_t i = 0; i < permits->n_waits; i++)
		if (permits->waits[i].job_id == job_id)
			return permits->waits[i].why;
	return PM_PERMIT_GIVEN;
}

char *pm_permits_explain(struct pm_permits *permits, const slurm_job_info_t *job, uint64_t now_s)
{
	enum pm_permit why = why_waits(permits, job->job_id);

	if (pm_permit_is_never(job))
		return pm_permit_site_explain(&permits->site, job, PM_PERMIT_USERS, now_s);
	if (why == PM_PERMIT_GIVEN || !pm_permit_is_awaited(job))
		return NULL;
	return pm_permit_site_explain(&permits->site, job, why, now_s);
}

void pm_permits_done(struct pm_permits *permits)
{
	pm_permit_site_done(&permits->site);
	free(permits->waits);
	*permits = (struct pm_permits){0};
}
