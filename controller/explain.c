/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/explain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "controller/candidates.h"
#include "controller/lease_licence.h"
#include "controller/lease_note.h"
#include "controller/node_features.h"
#include "controller/overview.h"
#include "controller/waiters.h"
#include "site/modes.h"

#define SENTENCE_MAX 400
#define LIST_MAX     4000
#define NODES_TOLD   20 /* sentences about single nodes */

/*
 * Slurm's reasons that a reboot into another mode causes, or that it changes the meaning of; and
 * their meaning then.
 */
static const struct {
	uint32_t reason;
	const char *name, *meaning;
} reasons[] = {
	{WAIT_LICENSES, "Licenses",
		"a licence that the job asks for is not free; pm_wait is the one by which "
		"pm-controller lets jobs wait"},
	{WAIT_RESOURCES, "Resources",
		"Slurm waits for nodes; a node that runs another job, or reboots for one, is not "
		"free"},
	{WAIT_NODE_NOT_AVAIL, "ReqNodeNotAvail",
		"a node that the job needs reboots, is reserved or is out of service; if it "
		"reboots, the job starts after that"},
	{WAIT_PRIORITY, "Priority", "jobs with a higher priority are before it"},
	{WAIT_TIME, "BeginTime",
		"the time of the job's own --begin has not come; or a node could not start the "
		"job, and Slurm tries again within about two minutes"},
	{WAIT_HELD_USER, "JobHeldUser",
		"the job is held; if several nodes could not serve it, AdminComment has their "
		"reasons; 'scontrol release' starts it again"},
	{WAIT_HELD, "JobHeldAdmin", "an administrator holds the job"},
	{FAIL_BAD_CONSTRAINTS, "BadConstraints",
		"no node of the partition can have all that the job asks for at once"},
	{WAIT_DEPENDENCY, "Dependency", "another job has to end before"},
};

__attribute__((format(printf, 2, 3))) static void say(json_object *list, const char *format, ...)
{
	char text[SENTENCE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_object_array_add(list, json_object_new_string(text));
}

/* --- pending --- */

static void explain_reason(const slurm_job_info_t *job, json_object *row, json_object *list)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].reason == job->state_reason) {
			pm_json_add_string(row, "reason", reasons[i].name);
			say(list, "Slurm's reason is %s: %s.", reasons[i].name, reasons[i].meaning);
		}
}

/* A job that is leased, but was never held, has found no nodes at all yet. */
static void explain_lease(const slurm_job_info_t *job, const char *feature, json_object *list)
{
	struct pm_lease_note note = pm_lease_note_read(job->admin_comment);
	char end[32] = "";
	time_t end_s = (time_t)(note.first_held_s + note.most_min * 60ULL);
	struct tm local;

	if (!pm_lease_is_on(job->licenses) || pm_permit_is_awaited(job) || pm_permit_is_never(job))
		return;
	if (note.first_held_s && localtime_r(&end_s, &local))
		(void)strftime(end, sizeof(end), "until %FT%T", &local);
	say(list,
		"The job waits for nodes in mode %s to come free, %s at the latest (HoldTime=%u), "
		"before others are rebooted for it; a job with --pm-now does not.",
		pm_mode_name_of_feature(feature),
		*end ? end : "that long from the time at which as many nodes are idle",
		note.most_min);
}

static void explain_permit(
	struct pm_permits *permits, const slurm_job_info_t *job, uint64_t now_s, json_object *list)
{
	cleanup_free char *sentence = pm_permits_explain(permits, job, now_s);

	if (sentence)
		say(list, "%s", sentence);
}

struct supply {
	const char *feature;
	unsigned ready, rebooting, could; /* idle in the mode; on their way; idle in another */
};

static void count(void *context, const node_info_t *node)
{
	struct supply *supply = context;
	enum pm_node_use use = pm_node_use(node->node_state);
	bool has = pm_feature_is(pm_node_feature(node), supply->feature);

	supply->ready += has && use == PM_NODE_IDLE;
	supply->could += !has && use == PM_NODE_IDLE;
	supply->rebooting += use == PM_NODE_REBOOTING;
}

static void explain_pending(const struct pm_cluster *cluster, const struct pm_reboots *reboots,
	const slurm_job_info_t *job, const char *feature, json_object *list)
{
	struct supply supply = {.feature = feature};
	uint64_t median_s = pm_reboots_median_s(reboots, feature);

	pm_candidates_each(
		cluster, job, /* excluded= */ NULL, /* modes_only= */ true, count, &supply);
	say(list,
		"The job needs nodes in mode %s: %u. Idle in it: %u; rebooting: %u; idle in "
		"another mode, could be rebooted: %u.",
		pm_mode_name_of_feature(feature), pm_candidates_needed(job), supply.ready,
		supply.rebooting, supply.could);
	if (median_s)
		say(list, "A reboot into it takes %" PRIu64 " s here, the median of the last ones.",
			median_s);
}

/* --- starting --- */

static void explain_node(const struct pm_cluster *cluster, const struct pm_reboots *reboots,
	const char *name, uint64_t now_s, json_object *list)
{
	const struct pm_reboot *reboot = pm_reboots_open_of(reboots, name);
	const node_info_t *node = pm_cluster_node(cluster, name);
	uint64_t median_s, since_s;

	if (!reboot) {
		say(list, "%s is %s.", name,
			node && pm_node_readiness(node->node_state) == PM_IS_READY
				? "ready"
				: "not ready; Slurm waits for it");
		return;
	}
	since_s = now_s > reboot->start_s ? now_s - reboot->start_s : 0;
	median_s = pm_reboots_median_s(reboots, reboot->to);
	if (median_s)
		say(list,
			"%s has been rebooting into mode %s for %" PRIu64 " s; the median here is "
			"%" PRIu64 " s.",
			name, pm_mode_name_of_feature(reboot->to), since_s, median_s);
	else
		say(list, "%s has been rebooting into mode %s for %" PRIu64 " s.", name,
			pm_mode_name_of_feature(reboot->to), since_s);
}

static void explain_starting(const struct pm_cluster *cluster, const struct pm_reboots *reboots,
	const slurm_job_info_t *job, uint64_t now_s, json_object *list)
{
	cleanup_with(pm_strv_cleanup) char **names =
		job->nodes ? pm_cluster_names(job->nodes) : NULL;
	size_t n = names ? pm_strv_length(names) : 0;

	say(list, "The job has its nodes, %s; its time begins when they are ready.",
		job->nodes ? job->nodes : "none");
	for (size_t i = 0; i < n && i < NODES_TOLD; i++)
		explain_node(cluster, reboots, names[i], now_s, list);
}

/* --- all states --- */

static const char *state_of(const slurm_job_info_t *job)
{
	uint32_t base = job->job_state & JOB_STATE_BASE;

	if (pm_job_is_elsewhere(job))
		return "elsewhere";
	if (base == JOB_PENDING)
		return "pending";
	if (base > JOB_SUSPENDED)
		return "ended";
	return job->job_state & JOB_CONFIGURING ? "starting" : "running";
}

static void explain_elsewhere(const slurm_job_info_t *job, json_object *list)
{
	const char *clusters = job->fed_siblings_active_str;

	if (clusters && *clusters)
		say(list,
			"Cluster %s of the federation has started the job: ask 'pmctl explain %u' "
			"there.",
			clusters, (unsigned)job->job_id);
	else
		say(list,
			"Another cluster of the federation has started the job, and it has ended.");
}

/* The clusters are those that still may start the job. */
static void explain_federation(const slurm_job_info_t *job, json_object *list)
{
	const char *clusters = job->fed_siblings_active_str;

	if (clusters && strchr(clusters, ','))
		say(list,
			"Clusters %s of the federation have the job in their queues: the first "
			"that can "
			"starts it, and reboots nodes for it.",
			clusters);
}

static void explain_state(const struct pm_cluster *cluster, const struct pm_reboots *reboots,
	struct pm_permits *permits, const slurm_job_info_t *job, uint64_t now_s, json_object *row)
{
	const char *state = state_of(job), *feature = pm_job_feature(job);
	json_object *list = pm_json_add_array(row, "sentences");

	if (!feature)
		say(list, "The job asks for no mode, so modes of nodes do not keep it waiting.");
	if (pm_job_is_elsewhere(job)) {
		explain_elsewhere(job, list);
	} else if (!strcmp(state, "pending")) {
		explain_reason(job, row, list);
		explain_federation(job, list);
		if (feature) {
			explain_permit(permits, job, now_s, list);
			explain_lease(job, feature, list);
			explain_pending(cluster, reboots, job, feature, list);
		}
	} else if (!strcmp(state, "starting")) {
		explain_starting(cluster, reboots, job, now_s, list);
	} else if (!strcmp(state, "running")) {
		say(list, "The job runs on %s.", job->nodes ? job->nodes : "none");
	} else {
		say(list, "The job has ended.");
	}
}

/* A list of thousands of nodes may be longer than a reply. */
static void add_nodes(json_object *row, const char *nodes)
{
	char text[LIST_MAX];

	snprintf(text, sizeof(text), "%s", nodes);
	pm_json_add_string(row, "nodes", strlen(nodes) < sizeof(text) ? text : "(many)");
}

json_object *pm_explain(const struct pm_cluster *cluster, const struct pm_reboots *reboots,
	struct pm_permits *permits, const slurm_job_info_t *job, uint64_t now_s)
{
	json_object *list = json_object_new_array(), *row;
	const char *feature = pm_job_feature(job);

	if (!list)
		return NULL;
	row = pm_json_append_object(list);
	pm_json_add_u64(row, "job", job->job_id);
	pm_json_add_u64(row, "uid", job->user_id);
	pm_json_add_string(row, "state", state_of(job));
	pm_json_add_string(row, "feature", feature ? feature : "");
	add_nodes(row, job->nodes ? job->nodes : "");
	explain_state(cluster, reboots, permits, job, now_s, row);
	return list;
}
