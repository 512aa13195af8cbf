/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/reboots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/numbers.h"
#include "base/strv.h"
#include "controller/node_features.h"
#include "controller/partition_nodes.h"
#include "controller/state_file.h"
#include "site/modes.h"

#define MAX_BYTES (4 * 1024 * 1024)

/* Readings of the clock may differ by so much. */
#define AHEAD_S 60

static const struct pm_field reboot_fields[] = {
	{"node", PM_FIELD_STRING, PM_FIELD(struct pm_reboot, node), .filled = true},
	{"from", PM_FIELD_STRING, PM_FIELD(struct pm_reboot, from), .optional = true},
	{"to", PM_FIELD_STRING, PM_FIELD(struct pm_reboot, to), .optional = true},
	{"start", PM_FIELD_U64, PM_FIELD(struct pm_reboot, start_s)},
	{"end", PM_FIELD_U64, PM_FIELD(struct pm_reboot, end_s), .optional = true},
	{"failure", PM_FIELD_STRING, PM_FIELD(struct pm_reboot, failure), .optional = true},
	{"job", PM_FIELD_U32, PM_FIELD(struct pm_reboot, job_id), .optional = true},
	{"uid", PM_FIELD_U32, PM_FIELD(struct pm_reboot, uid), .optional = true},
	{"account", PM_FIELD_STRING, PM_FIELD(struct pm_reboot, account), .optional = true},
	{"partition", PM_FIELD_STRING, PM_FIELD(struct pm_reboot, partition), .optional = true},
	{"qos", PM_FIELD_STRING, PM_FIELD(struct pm_reboot, qos), .optional = true},
	{"reservation", PM_FIELD_STRING, PM_FIELD(struct pm_reboot, reservation), .optional = true},
	{0},
};

static const struct pm_field fields[] = {
	{"reboots", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_reboots, list, n),
		.entry = reboot_fields},
	{0},
};

static const struct pm_store store = {
	.what = "a list of reboots",
	.version = 1,
	.mode = 0600,
	.max_bytes = MAX_BYTES,
	.starts_empty = true,
	.size = sizeof(struct pm_reboots),
	.fields = fields,
};

/* --- features of nodes --- */

static void free_known(struct pm_node_feature *known, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(known[i].node);
	free(known);
}

const char *pm_reboots_feature(const struct pm_reboots *reboots, const char *node)
{
	size_t low = 0, high = reboots->n_known;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(reboots->known[middle].node, node);

		if (!order)
			return reboots->known[middle].feature;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool is_off_or_wakes(uint32_t node_state)
{
	return node_state &
	       (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN | NODE_STATE_POWERING_UP);
}

/* In which the node came back from its last reboot; NULL: not known. */
static const char *feature_since_reboot(const struct pm_reboots *reboots, const char *node)
{
	size_t n;
	const struct pm_reboot *list = pm_reboots_of(reboots, node, &n), *last;
	const struct pm_mode_info *mode;

	if (!n)
		return NULL;
	last = &list[n - 1];
	if (!last->end_s || last->failure || !last->to)
		return NULL;
	mode = pm_mode_by_feature(last->to);
	return mode ? mode->feature : NULL;
}

/* A node that was turned off while no service ran has been in no table with its feature. */
static const char *feature_of(const struct pm_reboots *reboots, const node_info_t *node)
{
	const char *feature = pm_node_feature(node);

	if (feature || !is_off_or_wakes(node->node_state))
		return feature;
	feature = pm_reboots_feature(reboots, node->name);
	return feature ? feature : feature_since_reboot(reboots, node->name);
}

/* Slurm shows a node's next mode as active from the order of the reboot on. */
static void learn_features(struct pm_reboots *reboots, const struct pm_cluster *cluster)
{
	struct pm_node_feature *known = calloc(cluster->n_by_name + 1, sizeof(*known));
	size_t n = 0;

	for (; known && n < cluster->n_by_name; n++) {
		known[n].node = strdup(cluster->by_name[n]->name);
		known[n].feature = feature_of(reboots, cluster->by_name[n]);
		if (!known[n].node)
			break;
	}
	if (!known || n < cluster->n_by_name) {
		free_known(known, known ? n : 0);
		return;
	}
	free_known(reboots->known, reboots->n_known);
	reboots->known = known;
	reboots->n_known = n;
}

/* --- the list --- */

/* The place of the first reboot behind those of the node. */
static size_t end_of(const struct pm_reboots *reboots, const char *node)
{
	size_t low = 0, high = reboots->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(reboots->list[middle].node, node) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct pm_reboot *pm_reboots_of(
	const struct pm_reboots *reboots, const char *node, size_t *ret_n)
{
	size_t end = end_of(reboots, node), first = end;

	while (first && !strcmp(reboots->list[first - 1].node, node))
		first--;
	*ret_n = end - first;
	return *ret_n ? &reboots->list[first] : NULL;
}

/* The reboot that a node is in is its last one. True: *ret_at is its place. */
static bool find_open(const struct pm_reboots *reboots, const char *node, size_t *ret_at)
{
	size_t end = end_of(reboots, node);

	*ret_at = end - 1;
	return end && !strcmp(reboots->list[end - 1].node, node) && !reboots->list[end - 1].end_s;
}

const struct pm_reboot *pm_reboots_open_of(const struct pm_reboots *reboots, const char *node)
{
	size_t at;

	return find_open(reboots, node, &at) ? &reboots->list[at] : NULL;
}

static void remove_at(struct pm_reboots *reboots, size_t at)
{
	pm_fields_done(reboot_fields, &reboots->list[at]);
	memmove(&reboots->list[at], &reboots->list[at + 1],
		(reboots->n - at - 1) * sizeof(*reboots->list));
	reboots->n--;
}

static void remove_oldest(struct pm_reboots *reboots)
{
	size_t oldest = 0;

	for (size_t i = 1; i < reboots->n; i++)
		if (reboots->list[i].start_s < reboots->list[oldest].start_s)
			oldest = i;
	remove_at(reboots, oldest);
}

/* Takes over the reboot's texts. */
static void insert(struct pm_reboots *reboots, const struct pm_reboot *reboot)
{
	size_t at;

	if (reboots->n == PM_REBOOTS_MAX)
		remove_oldest(reboots);
	if (!pm_list_next(&reboots->list, reboots->n, sizeof(*reboots->list))) {
		struct pm_reboot lost = *reboot;

		pm_fields_done(reboot_fields, &lost);
		return;
	}
	at = end_of(reboots, reboot->node);
	memmove(&reboots->list[at + 1], &reboots->list[at],
		(reboots->n - at) * sizeof(*reboots->list));
	reboots->list[at] = *reboot;
	reboots->n++;
}

/* --- what a table shows --- */

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void begin(struct pm_reboots *reboots, const node_info_t *node, uint64_t now_s)
{
	struct pm_reboot reboot = {.node = strdup(node->name),
		.from = copy_of(pm_reboots_feature(reboots, node->name)),
		.to = copy_of(pm_node_feature(node)),
		.start_s = now_s};

	if (reboot.node)
		insert(reboots, &reboot);
}

/* The node is back, or Slurm has given it up. */
static void end(struct pm_reboot *reboot, const node_info_t *node, uint64_t now_s)
{
	const char *feature = pm_node_feature(node);

	reboot->end_s = now_s > reboot->start_s ? now_s : reboot->start_s + 1;
	if (pm_node_readiness(node->node_state) == PM_UNUSABLE)
		reboot->failure = pm_asprintf("did not come back: %s",
			node->reason && *node->reason ? node->reason : "Slurm gave no reason");
	else if (!pm_feature_is(feature, reboot->to))
		reboot->failure = pm_asprintf("came back in mode %s, not %s",
			pm_mode_name_of_feature(feature), pm_mode_name_of_feature(reboot->to));
	if (pm_feature_is(feature, reboot->to))
		return;
	free(reboot->to);
	reboot->to = copy_of(feature);
}

static bool find_waiter(struct pm_reboot *reboot, const struct pm_waiters *waiters)
{
	for (const struct pm_waiter *waiter = waiters->first; waiter; waiter = waiter->next)
		if (pm_strv_contains(waiter->names, reboot->node)) {
			reboot->job_id = waiter->job_id;
			reboot->uid = waiter->uid;
			return true;
		}
	return false;
}

/* A prolog that began while the service was dead asks Slurm itself. */
static bool find_configuring(
	struct pm_reboot *reboot, const struct pm_cluster *cluster, const node_info_t *node)
{
	int32_t index = (int32_t)(node - cluster->nodes->node_array);

	for (uint32_t i = 0; cluster->jobs && i < cluster->jobs->record_count; i++) {
		const slurm_job_info_t *job = &cluster->jobs->job_array[i];

		if (!(job->job_state & JOB_CONFIGURING) || !pm_node_inx_has(job->node_inx, index))
			continue;
		reboot->job_id = job->job_id;
		reboot->uid = job->user_id;
		return true;
	}
	return false;
}

/* The job that waits for the node. */
static bool find_job(struct pm_reboot *reboot, const struct pm_cluster *cluster,
	const struct pm_waiters *waiters, const node_info_t *node)
{
	return find_waiter(reboot, waiters) || find_configuring(reboot, cluster, node);
}

static void copy(char **field, const char *text)
{
	if (text && *text)
		*field = strdup(text);
}

/* A pending job may have several partitions: the table is older than the job's start. */
static bool find_account(struct pm_reboot *reboot, const struct pm_cluster *cluster)
{
	const slurm_job_info_t *job = pm_cluster_job(cluster, reboot->job_id);

	if (!job || !job->partition || strchr(job->partition, ','))
		return false;
	reboot->partition = strdup(job->partition);
	copy(&reboot->account, job->account);
	copy(&reboot->qos, job->qos);
	copy(&reboot->reservation, job->resv_name);
	return true;
}

/* True: the list has changed. A job that waits for a node that is back may be the next one. */
static bool look_at(struct pm_reboots *reboots, const struct pm_cluster *cluster,
	const struct pm_waiters *waiters, const node_info_t *node, uint64_t now_s)
{
	size_t at;
	struct pm_reboot *open = find_open(reboots, node->name, &at) ? &reboots->list[at] : NULL;
	bool is_back = open && pm_node_readiness(node->node_state) != PM_NOT_READY, learned = false;

	if (!open && pm_node_is_rebooting(node->node_state)) {
		begin(reboots, node, now_s);
		if (find_open(reboots, node->name, &at))
			(void)find_job(&reboots->list[at], cluster, waiters, node);
		return true;
	}
	if (open && !is_back && !open->job_id)
		learned = find_job(open, cluster, waiters, node);
	if (open && open->job_id && !open->partition)
		learned |= find_account(open, cluster);
	if (is_back)
		end(open, node, now_s);
	return learned || is_back;
}

/* Nodes that were taken out of slurm.conf while they rebooted. */
static bool end_unknown(
	struct pm_reboots *reboots, const struct pm_cluster *cluster, uint64_t now_s)
{
	bool changed = false;

	for (size_t i = 0; i < reboots->n; i++) {
		struct pm_reboot *reboot = &reboots->list[i];

		if (reboot->end_s || pm_cluster_node(cluster, reboot->node))
			continue;
		reboot->end_s = now_s;
		reboot->failure = strdup("did not come back: Slurm does not know it any more");
		changed = true;
	}
	return changed;
}

static size_t count_open(const struct pm_reboots *reboots)
{
	size_t n = 0;

	for (size_t i = 0; i < reboots->n; i++)
		n += !reboots->list[i].end_s;
	return n;
}

/*
 * Of a clock that has been set back since: they count as of now, in RebootsPerDay for a day, and
 * not until the clock is there again.
 */
static void bring_back(struct pm_reboots *reboots, uint64_t now_s)
{
	for (size_t i = 0; i < reboots->n; i++) {
		struct pm_reboot *reboot = &reboots->list[i];
		uint64_t took_s = reboot->end_s - reboot->start_s;

		if (!reboot->end_s || reboot->end_s <= now_s + AHEAD_S)
			continue;
		reboot->end_s = now_s;
		reboot->start_s = now_s > took_s ? now_s - took_s : 0;
	}
}

void pm_reboots_look(struct pm_reboots *reboots, const struct pm_cluster *cluster,
	const struct pm_waiters *waiters, uint64_t now_s)
{
	bool changed = false;
	struct pm_err err;

	bring_back(reboots, now_s);
	if (!cluster->nodes ||
		(cluster->nodes->last_update == reboots->table_time && !reboots->n_open))
		return;
	reboots->table_time = cluster->nodes->last_update;
	for (uint32_t i = 0; i < cluster->n_by_name; i++)
		if (pm_node_has_modes(cluster->by_name[i]))
			changed |= look_at(reboots, cluster, waiters, cluster->by_name[i], now_s);
	if (reboots->n_open)
		changed |= end_unknown(reboots, cluster, now_s);
	learn_features(reboots, cluster);
	reboots->n_open = count_open(reboots);
	if (changed && pm_state_file_write(&store, reboots->path, reboots, &err))
		fprintf(stderr, "%s\n", err.text);
}

/* Those that have ended keep their times: they are of the clock as it was. */
void pm_reboots_shift(struct pm_reboots *reboots, int64_t by_s)
{
	for (size_t i = 0; i < reboots->n; i++)
		if (!reboots->list[i].end_s)
			reboots->list[i].start_s =
				(uint64_t)((int64_t)reboots->list[i].start_s + by_s);
}

/* --- how long reboots take --- */

static int newest_first(const void *a, const void *b)
{
	uint64_t x = (*(const struct pm_reboot *const *)a)->end_s;
	uint64_t y = (*(const struct pm_reboot *const *)b)->end_s;

	return (x < y) - (x > y);
}

uint64_t pm_reboots_median_s(const struct pm_reboots *reboots, const char *feature)
{
	cleanup_free const struct pm_reboot **found = calloc(reboots->n + 1, sizeof(*found));
	uint64_t seconds[PM_REBOOTS_MEDIAN_OF] = {0};
	size_t n = 0;

	for (size_t i = 0; found && i < reboots->n; i++)
		if (reboots->list[i].end_s && !reboots->list[i].failure &&
			pm_feature_is(reboots->list[i].to, feature))
			found[n++] = &reboots->list[i];
	if (!n)
		return 0;
	qsort(found, n, sizeof(*found), newest_first);
	n = n < PM_REBOOTS_MEDIAN_OF ? n : PM_REBOOTS_MEDIAN_OF;
	for (size_t i = 0; i < n; i++)
		seconds[i] = found[i]->end_s - found[i]->start_s;
	pm_numbers_sort(seconds, n);
	return seconds[n / 2];
}

/* --- the file --- */

int pm_reboots_open(struct pm_reboots *reboots, const char *path, struct pm_err *err)
{
	pm_state_file_read(&store, path, reboots);
	reboots->n_open = count_open(reboots);
	reboots->path = strdup(path);
	return reboots->path ? 0 : pm_err_nomem(err);
}

void pm_reboots_done(struct pm_reboots *reboots)
{
	pm_fields_done(fields, reboots);
	free_known(reboots->known, reboots->n_known);
	free(reboots->path);
	*reboots = (struct pm_reboots){0};
}
