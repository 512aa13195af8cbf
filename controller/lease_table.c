/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/lease_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "controller/candidates.h"
#include "controller/lease_array.h"
#include "controller/lease_note.h"
#include "controller/node_features.h"
#include "controller/overview.h"
#include "controller/partition_nodes.h"
#include "controller/permits.h"
#include "controller/usable_nodes.h"
#include "site/delay_boot.h"
#include "site/modes.h"

/* `make bench-policy-slurm` builds this file with the times of a faster clock. */
#ifndef PM_LEASE_FASTER
#define PM_LEASE_FASTER 1
#endif

/* Reboots of which none has been seen. */
#define REBOOT_S (600 / PM_LEASE_FASTER)

/* A job that has used more than the usual share of its limit has half of the rest to go, at least.
 */
#define LEAST_S (30 / PM_LEASE_FASTER)

/*
 * The parameters of the rule by the longest hold: docs/dev/hold-rule.md. They were judged on 64
 * nodes; `guarded` is a share of the nodes.
 */
static const struct {
	unsigned from_min;
	double soon, rent;
	unsigned guarded_of; /* one of so many nodes */
} parameters[] = {{120 / PM_LEASE_FASTER, 8, 16, 4}, {0, 4, 8, 8}};
#define GAP_S (7200 / PM_LEASE_FASTER)

/* If the clock has been set back by more since the first hold, the job waits no longer. */
#define CLOCK_BACK_S 60

/* --- jobs --- */

bool pm_lease_table_has(const slurm_job_info_t *job)
{
	return pm_job_is_pending(job) && job->priority && pm_job_feature(job);
}

static bool is_given(const char *text)
{
	return text && *text;
}

/* "matlab:1|fluent:1": Slurm takes no third licence beside it. */
static bool has_alternatives(const char *licences)
{
	return licences && strchr(licences, '|');
}

/* It can be given the licence, and gets no nodes but those that the rule counts. */
static bool takes_lease(const slurm_job_info_t *job)
{
	return job->shared == JOB_SHARED_NONE && !is_given(job->resv_name) &&
	       !is_given(job->fed_origin_str) && !job->het_job_id &&
	       !has_alternatives(job->licenses) && !job->deadline && !(job->bitflags & CRON_JOB);
}

static bool is_eligible(const slurm_job_info_t *job, uint64_t now_s)
{
	return !is_given(job->dependency) && job->eligible_time &&
	       (uint64_t)job->eligible_time <= now_s;
}

bool pm_lease_suits(const slurm_job_info_t *job, uint64_t now_s)
{
	return takes_lease(job) && is_eligible(job, now_s) && !is_given(job->req_nodes) &&
	       !job->restart_cnt &&
	       (job->delay_boot < PM_DELAY_YEAR_S || pm_permit_is_awaited(job));
}

static double limit_s(const slurm_job_info_t *job)
{
	return job->time_limit == INFINITE || job->time_limit == NO_VAL ? 86400.0 * 365
									: job->time_limit * 60.0;
}

static bool may_hold(const slurm_job_info_t *job, const struct pm_lease_note *note, uint64_t now_s)
{
	uint64_t most_s = note->most_min * 60ULL;

	if (!most_s || !pm_lease_suits(job, now_s))
		return false;
	return !note->first_held_s ||
	       (now_s < note->first_held_s + most_s && now_s + CLOCK_BACK_S > note->first_held_s);
}

/* A node that is in another mode and off. */
static bool is_any_off(const struct pm_lease_table *table, enum pm_mode mode)
{
	for (unsigned other = 0; other < PM_HOLD_MODES_MAX; other++)
		if (other != mode && table->off[other])
			return true;
	return false;
}

/*
 * slurmctld reboots no node for a job before its DelayBoot is over, but it may wake one that is in
 * another mode. While there is one the job is barred whatever else it waits for: it would get nodes
 * at the moment at which that is over.
 */
static enum pm_hold_bar bar_of(const struct pm_lease_table *table, const struct pm_cluster *cluster,
	const slurm_job_info_t *job, uint64_t now_s)
{
	enum pm_mode mode = pm_mode_of_feature(pm_job_feature(job));
	unsigned needed = pm_candidates_needed(job);
	bool awaits = pm_permit_is_awaited(job);

	if (!awaits && !pm_permit_is_never(job))
		return PM_HOLD_NOT_BARRED;
	if (!cluster->wakes_regardless || !is_any_off(table, mode))
		return awaits && pm_lease_suits(job, now_s) ? PM_HOLD_BARRED : PM_HOLD_NOT_BARRED;
	if (!takes_lease(job))
		return PM_HOLD_NOT_BARRED;
	return is_eligible(job, now_s) && pm_usable_nodes(cluster, job, mode, needed) >= needed
		       ? PM_HOLD_BARRED
		       : PM_HOLD_BARRED_FROM_ALL;
}

static struct pm_hold_job row_of(const struct pm_lease_table *table,
	const struct pm_cluster *cluster, const slurm_job_info_t *job, double used_of_limit,
	uint64_t now_s)
{
	struct pm_lease_note note = pm_lease_note_read(job->admin_comment);

	note.first_held_s = pm_lease_clock_first(&table->clock, note.first_held_s);
	return (struct pm_hold_job){.run_s = limit_s(job) * used_of_limit,
		.first_held_s = (double)note.first_held_s,
		.nodes = pm_candidates_needed(job),
		.mode = pm_mode_of_feature(pm_job_feature(job)),
		.may_hold = may_hold(job, &note, now_s),
		.barred = bar_of(table, cluster, job, now_s)};
}

static int by_priority(const void *a, const void *b)
{
	const slurm_job_info_t *x = ((const struct pm_lease_job *)a)->job;
	const slurm_job_info_t *y = ((const struct pm_lease_job *)b)->job;

	return pm_job_order(x, y);
}

/* Also finds the longest hold. */
static void list_records(struct pm_lease_table *table, const struct pm_cluster *cluster,
	const char *partitions, unsigned *ret_most_min)
{
	for (uint32_t i = 0; i < cluster->jobs->record_count; i++) {
		const slurm_job_info_t *job = &cluster->jobs->job_array[i];
		unsigned most_min;

		if (!job->partition || strcmp(job->partition, partitions) != 0 ||
			!pm_lease_table_has(job))
			continue;
		table->records[table->n_records++] = (struct pm_lease_job){
			.job = job, .tasks = pm_lease_array_count(job->array_task_str)};
		most_min = pm_lease_note_read(job->admin_comment).most_min;
		if (most_min > *ret_most_min)
			*ret_most_min = most_min;
	}
	qsort(table->records, table->n_records, sizeof(*table->records), by_priority);
}

static void count_rows(struct pm_lease_table *table)
{
	for (size_t i = 0; i < table->n_records; i++) {
		struct pm_lease_job *record = &table->records[i];

		record->first = table->n_jobs;
		record->count = record->tasks < table->n_nodes ? record->tasks : table->n_nodes;
		record->count += !record->count;
		table->n_jobs += record->count;
	}
}

static void write_rows(struct pm_lease_table *table, const struct pm_cluster *cluster,
	double used_of_limit, uint64_t now_s)
{
	for (size_t i = 0; i < table->n_records; i++) {
		const struct pm_lease_job *record = &table->records[i];

		const struct pm_hold_job row =
			row_of(table, cluster, record->job, used_of_limit, now_s);

		for (size_t k = 0; k < record->count; k++)
			table->jobs[record->first + k] = row;
	}
}

/* --- nodes --- */

/* When the job is expected to end: it uses as much of its limit as others do. */
static double expected_end_s(const slurm_job_info_t *job, double used_of_limit, uint64_t now_s)
{
	double end_s = (double)job->start_time + limit_s(job) * used_of_limit, left_s;

	if (end_s > (double)now_s)
		return end_s;
	left_s = (double)job->start_time + limit_s(job) - (double)now_s;
	return (double)now_s + (left_s > LEAST_S ? left_s : LEAST_S) / 2 * used_of_limit;
}

static void mark_job(double *ends_s, uint32_t n, const slurm_job_info_t *job, double end_s)
{
	for (const int32_t *pair = job->node_inx; pair && pair[0] >= 0; pair += 2)
		for (int32_t i = pair[0]; i <= pair[1] && (uint32_t)i < n; i++)
			ends_s[i] = ends_s[i] > end_s ? ends_s[i] : end_s;
}

/* By index of node: the end of the job that ends last there; 0 without jobs. */
static double *ends_of_nodes(const struct pm_cluster *cluster, double used_of_limit, uint64_t now_s)
{
	double *ends_s = calloc(cluster->nodes->record_count + 1, sizeof(*ends_s));

	for (uint32_t i = 0; ends_s && i < cluster->jobs->record_count; i++) {
		const slurm_job_info_t *job = &cluster->jobs->job_array[i];
		uint32_t base = job->job_state & JOB_STATE_BASE;

		if (base == JOB_RUNNING || base == JOB_SUSPENDED)
			mark_job(ends_s, cluster->nodes->record_count, job,
				expected_end_s(job, used_of_limit, now_s));
	}
	return ends_s;
}

struct listing {
	struct pm_lease_table *table;
	const node_info_msg_t *nodes;
	const double *ends_s; /* of ends_of_nodes() */
	double now_s;
};

/* Off, or on its way from or to that: slurmctld may give it to a job that has to wake it. */
static bool is_off(uint32_t node_state)
{
	return node_state &
	       (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN | NODE_STATE_POWER_DOWN |
		       NODE_STATE_POWERING_UP | NODE_STATE_POWER_UP);
}

static void add_node(void *context, const node_info_t *node)
{
	const struct listing *listing = context;
	struct pm_lease_table *table = listing->table;
	enum pm_node_use use = pm_node_use(node->node_state);
	enum pm_mode mode = pm_mode_of_feature(pm_node_feature(node));
	double end_s = listing->ends_s[node - listing->nodes->node_array];

	table->off[mode] += node->name && is_off(node->node_state);
	if (!node->name || use == PM_NODE_OUT || mode == PM_MODE_UNKNOWN)
		return;
	if (use == PM_NODE_IDLE)
		end_s = 0;
	else if (end_s <= listing->now_s) /* it boots, or its last job has just ended */
		end_s = listing->now_s +
			(use == PM_NODE_REBOOTING ? table->rule.reboot_s : LEAST_S);
	table->nodes[table->n_nodes++] = (struct pm_hold_node){.free_s = end_s, .mode = mode};
}

static void list_nodes(struct pm_lease_table *table, const struct pm_cluster *cluster,
	const char *partitions, const double *ends_s, uint64_t now_s)
{
	struct listing listing = {
		.table = table, .nodes = cluster->nodes, .ends_s = ends_s, .now_s = (double)now_s};

	pm_partition_nodes_each(cluster, partitions, add_node, &listing);
}

/* --- the rule --- */

/* The longest of the modes' medians. */
static double reboot_s(const struct pm_reboots *reboots)
{
	uint64_t longest_s = 0;

	pm_mode_foreach(row) {
		uint64_t median_s = pm_reboots_median_s(reboots, row->feature);

		longest_s = median_s > longest_s ? median_s : longest_s;
	}
	return longest_s ? (double)longest_s : REBOOT_S;
}

static void set_rule(struct pm_lease_table *table, unsigned most_min)
{
	size_t i = 0;

	while (most_min < parameters[i].from_min)
		i++;
	table->rule.most_s = most_min * 60.0;
	table->rule.soon = parameters[i].soon;
	table->rule.rent = parameters[i].rent;
	table->rule.gap_s = GAP_S;
	table->rule.lease_s = 1; /* the licence's lease is for all jobs */
	table->rule.guarded = (uint32_t)(table->n_nodes / parameters[i].guarded_of) + 1;
}

int pm_lease_table_fill(struct pm_lease_table *table, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, const char *partitions, double used_of_limit,
	uint64_t now_s)
{
	cleanup_free double *ends_s = ends_of_nodes(cluster, used_of_limit, now_s);
	unsigned most_min = 0;

	table->nodes = calloc(cluster->nodes->record_count + 1, sizeof(*table->nodes));
	table->records = calloc(cluster->jobs->record_count + 1, sizeof(*table->records));
	if (!ends_s || !table->nodes || !table->records)
		return -ENOMEM;
	table->rule.reboot_s = reboot_s(reboots);
	list_nodes(table, cluster, partitions, ends_s, now_s);
	list_records(table, cluster, partitions, &most_min);
	set_rule(table, most_min);
	count_rows(table);
	table->jobs = calloc(table->n_jobs + 1, sizeof(*table->jobs));
	table->answers = calloc(table->n_jobs + 1, sizeof(*table->answers));
	if (!table->jobs || !table->answers)
		return -ENOMEM;
	write_rows(table, cluster, used_of_limit, now_s);
	return pm_hold_decide(&table->rule, (double)now_s, table->jobs, table->n_jobs, table->nodes,
		table->n_nodes, table->answers);
}

void pm_lease_table_done(struct pm_lease_table *table)
{
	free(table->nodes);
	free(table->jobs);
	free(table->answers);
	free(table->records);
	*table = (struct pm_lease_table){0};
}
