/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/leases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "controller/federation.h"
#include "controller/job_update.h"
#include "controller/lease_note.h"
#include "controller/lease_table.h"
#include "controller/permit_limits.h"
#include "controller/slurm_api.h"
#include "site/job_rules.h"

/* Changes of jobs in one look: those who wait for this service wait no longer for them. */
#define CHANGES_MAX 50

/* Users ask for 2.5 times the run time until the cluster's own share is learnt. */
#define USED_OF_LIMIT 0.4
#define LEARN	      0.02

/* --- the site's wish --- */

static bool is_federated(struct pm_leases *leases, const char *own_cluster)
{
	cleanup_free char *federation = NULL;
	cleanup_free char *others = pm_federation_others(own_cluster, &federation);

	if (others && !leases->said_federation)
		fprintf(stderr,
			"HoldTime of pmem.conf: this cluster is in a federation, where jobs do not "
			"wait for nodes in their mode\n");
	leases->said_federation = others != NULL;
	return others != NULL;
}

static bool bars_jobs(const struct pm_config *config)
{
	return pm_job_rule_is_used(config, PM_KEY_REBOOT_USERS) ||
	       pm_job_rule_is_used(config, PM_KEY_REBOOT_TIME_LIMIT);
}

void pm_leases_configure(
	struct pm_leases *leases, const struct pm_config *config, const struct pm_cluster *cluster)
{
	leases->configured = true;
	leases->wanted =
		(pm_job_rule_is_used(config, PM_KEY_HOLD_TIME) || pm_permit_config_limits(config) ||
			(cluster->wakes_regardless && bars_jobs(config))) &&
		!is_federated(leases, cluster->name);
}

void pm_leases_shift(struct pm_leases *leases, int64_t by_s, uint64_t now_s)
{
	pm_lease_clock_set(&leases->clock, by_s, now_s);
	leases->licence.renewed_ms = 0;
}

bool pm_leases_are_wanted(const struct pm_leases *leases)
{
	return leases->wanted;
}

/* --- what jobs use of their limits --- */

static void learn_from(struct pm_leases *leases, const slurm_job_info_t *job)
{
	double limit_s = job->time_limit * 60.0, used;

	if ((job->job_state & JOB_STATE_BASE) != JOB_COMPLETE ||
		job->end_time <= leases->learnt_s || job->time_limit == INFINITE ||
		job->time_limit == NO_VAL || !job->time_limit)
		return;
	used = (double)(job->end_time - job->start_time) / limit_s;
	used = used > 1 ? 1 : used;
	leases->used_of_limit += LEARN * (used - leases->used_of_limit);
}

static void learn(struct pm_leases *leases, const struct pm_cluster *cluster, uint64_t now_s)
{
	if (!leases->used_of_limit)
		leases->used_of_limit = USED_OF_LIMIT;
	for (uint32_t i = 0; i < cluster->jobs->record_count; i++)
		learn_from(leases, &cluster->jobs->job_array[i]);
	leases->learnt_s = (time_t)now_s;
}

/* --- changes of jobs --- */

/* NULL leaves a field as it is. */
static int change(const slurm_job_info_t *job, char *licences, char *comment)
{
	job_desc_msg_t update;

	slurm_init_job_desc_msg(&update);
	update.licenses = licences;
	update.admin_comment = comment;
	return pm_job_update(job, &update, "change the licence by which it waits");
}

static int release_tasks(const slurm_job_info_t *job, size_t n)
{
	cleanup_free char *licences = pm_lease_without(job->licenses);
	job_desc_msg_t update;

	if (!licences)
		return -ENOMEM;
	slurm_init_job_desc_msg(&update);
	update.licenses = licences;
	return pm_job_update_tasks(job, n, &update, "let its first tasks start");
}

static int release(const slurm_job_info_t *job)
{
	cleanup_free char *licences = pm_lease_without(job->licenses);

	return licences ? change(job, licences, NULL) : -ENOMEM;
}

static int hold(const slurm_job_info_t *job, bool begins, uint64_t now_s)
{
	cleanup_free char *licences =
		pm_lease_is_on(job->licenses) ? NULL : pm_lease_with(job->licenses);
	cleanup_free char *comment = begins ? pm_lease_note_write(job->admin_comment, now_s) : NULL;

	return licences || comment ? change(job, licences, comment) : 0;
}

/* --- verdicts --- */

/* What the rule's answers mean for a record. */
struct verdict {
	size_t free; /* tasks that may start */
	bool holds;  /* others wait */
	bool begins; /* the first hold is now */
};

static struct verdict verdict_of(
	const struct pm_lease_table *table, const struct pm_lease_job *record)
{
	const struct pm_lease_note note = pm_lease_note_read(record->job->admin_comment);
	bool has = pm_lease_is_on(record->job->licenses);
	struct verdict verdict = {0};

	for (size_t i = record->first; i < record->first + record->count; i++) {
		verdict.free +=
			table->answers[i].until_s == 0 && !(has && table->answers[i].either);
		verdict.begins = verdict.begins || (table->answers[i].counts && !note.first_held_s);
	}
	verdict.holds =
		verdict.free < record->count ||
		(record->count < record->tasks &&
			(table->jobs[record->first].may_hold || table->jobs[record->first].barred));
	return verdict;
}

static bool needs_change(const struct pm_lease_job *record, const struct verdict *verdict)
{
	bool has = pm_lease_is_on(record->job->licenses);

	return verdict->holds ? !has || verdict->begins || verdict->free : has;
}

static const char *tasks_of(const slurm_job_info_t *job)
{
	return job->array_task_str ? job->array_task_str : "";
}

/*
 * `job` is `old` as it is now. If some tasks have started meanwhile the verdict's count is not of
 * the tasks that are left: those wait for the next look.
 */
static void carry_out(const slurm_job_info_t *job, const slurm_job_info_t *old,
	const struct verdict *verdict, uint64_t now_s)
{
	if (!verdict->holds) {
		(void)release(job);
		return;
	}
	if (!hold(job, verdict->begins, now_s) && verdict->free &&
		!strcmp(tasks_of(job), tasks_of(old)))
		(void)release_tasks(job, verdict->free);
}

/* The table may be some seconds old, and the job's licences are replaced whole. */
static void carry_out_now(
	const slurm_job_info_t *old, const struct verdict *verdict, uint64_t now_s)
{
	job_info_msg_t *jobs = NULL;

	if (slurm_load_job(&jobs, pm_slurm_id(old->job_id), PM_CLUSTER_SHOWN))
		return;
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];

		if (job->job_id == old->job_id && pm_job_is_pending(job))
			carry_out(job, old, verdict, now_s);
	}
	pm_cluster_free_jobs(jobs);
}

/* Returns the number of changes. */
static unsigned settle(const struct pm_lease_table *table, unsigned most, uint64_t now_s)
{
	unsigned changes = 0;

	for (size_t i = 0; i < table->n_records && changes < most; i++) {
		const struct pm_lease_job *record = &table->records[i];
		struct verdict verdict = verdict_of(table, record);

		if (!needs_change(record, &verdict))
			continue;
		carry_out_now(record->job, &verdict, now_s);
		changes++;
	}
	return changes;
}

/* --- a look --- */

/* True if an earlier job in the table has the same partitions. */
static bool is_seen(const char **seen, size_t n, const char *partitions)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(seen[i], partitions))
			return true;
	return false;
}

static unsigned settle_partitions(struct pm_leases *leases, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, const char *partitions, unsigned most, uint64_t now_s)
{
	cleanup_with(pm_lease_table_done) struct pm_lease_table table = {.clock = leases->clock};

	if (pm_lease_table_fill(&table, cluster, reboots, partitions, leases->used_of_limit, now_s))
		return 0;
	return settle(&table, most, now_s);
}

/*
 * Takes the lease from the jobs that the rule does not look at: one without a mode has asked for
 * the licence itself. With `all`, from all jobs.
 */
static void release_jobs(const struct pm_cluster *cluster, bool all)
{
	const struct verdict start = {0};
	unsigned changes = 0;

	for (uint32_t i = 0; i < cluster->jobs->record_count && changes < CHANGES_MAX; i++) {
		const slurm_job_info_t *job = &cluster->jobs->job_array[i];

		if (!pm_job_is_pending(job) || !pm_lease_is_on(job->licenses) ||
			(!all && (!job->priority || pm_lease_table_has(job))))
			continue;
		carry_out_now(job, &start, 0);
		changes++;
	}
}

static void settle_all(struct pm_leases *leases, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, uint64_t now_s)
{
	cleanup_free const char **seen = calloc(cluster->jobs->record_count + 1, sizeof(*seen));
	unsigned changes = 0;
	size_t n = 0;

	for (uint32_t i = 0; seen && i < cluster->jobs->record_count; i++) {
		const slurm_job_info_t *job = &cluster->jobs->job_array[i];

		if (!job->partition || is_seen(seen, n, job->partition) || !pm_lease_table_has(job))
			continue;
		seen[n++] = job->partition;
		changes += settle_partitions(
			leases, cluster, reboots, job->partition, CHANGES_MAX - changes, now_s);
	}
	release_jobs(cluster, /* all= */ false);
}

void pm_leases_look(struct pm_leases *leases, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, const char *run_dir, bool settled, uint64_t now_s)
{
	if (!leases->configured || !cluster->jobs || !cluster->nodes || !cluster->partitions)
		return;
	learn(leases, cluster, now_s);
	if (!leases->wanted ||
		!pm_lease_licence_keep(&leases->licence, run_dir, cluster->wakes_regardless))
		release_jobs(cluster, /* all= */ true);
	else if (settled)
		settle_all(leases, cluster, reboots, now_s);
}
