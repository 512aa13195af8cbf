/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/overview.h"

#include <stdio.h>
#include <string.h>

#include "controller/affected.h"
#include "controller/modes_file.h"
#include "controller/node_features.h"
#include "controller/page.h"
#include "controller/waiters.h"
#include "site/modes.h"

#define DAY_S 86400

/* In front of a node's comment that pmctl has set (spank_plugin/reachable.c). */
#define OUR_COMMENT "pm: "

/* Slurm's reasons have no limit. */
#define REASON_MAX 300

/* How Slurm's reason begins for a node that registers with less memory than slurm.conf has. */
#define LOW_MEMORY "Low RealMemory"

static const char *const use_names[PM_NODE_USES] = {
	[PM_NODE_IDLE] = "idle",
	[PM_NODE_BUSY] = "busy",
	[PM_NODE_REBOOTING] = "rebooting",
	[PM_NODE_OUT] = "out",
};

enum pm_node_use pm_node_use(uint32_t node_state)
{
	if (pm_node_is_rebooting(node_state))
		return PM_NODE_REBOOTING;
	if (pm_node_readiness(node_state) != PM_IS_READY || node_state & NODE_STATE_DRAIN)
		return PM_NODE_OUT;
	return pm_node_is_idle(node_state) ? PM_NODE_IDLE : PM_NODE_BUSY;
}

/* --- by mode --- */

static unsigned count_waiting(const struct pm_cluster *cluster, const char *feature)
{
	unsigned n = 0;

	for (uint32_t i = 0; cluster->jobs && i < cluster->jobs->record_count; i++) {
		const slurm_job_info_t *job = &cluster->jobs->job_array[i];

		n += pm_job_is_pending(job) && pm_feature_is(pm_job_feature(job), feature);
	}
	return n;
}

/* Reboots that ended in the last day; with `failed` those that failed. */
static unsigned count_reboots(
	const struct pm_reboot *list, size_t n, const char *feature, bool failed, uint64_t now_s)
{
	unsigned count = 0;

	for (size_t i = 0; i < n; i++)
		count += list[i].end_s + DAY_S > now_s &&
			 (!feature || pm_feature_is(list[i].to, feature)) &&
			 (!failed || list[i].failure);
	return count;
}

struct tally {
	unsigned uses[PM_NODE_USES], nodes, could;
};

static struct tally count_nodes(const struct pm_cluster *cluster, const char *feature)
{
	struct tally tally = {0};

	for (uint32_t i = 0; i < cluster->n_by_name; i++) {
		const node_info_t *node = cluster->by_name[i];
		enum pm_node_use use = pm_node_use(node->node_state);

		if (!pm_node_has_modes(node))
			continue;
		if (pm_feature_is(pm_node_feature(node), feature)) {
			tally.uses[use]++;
			tally.nodes++;
		} else if (feature && use != PM_NODE_OUT && pm_node_can_be(node, feature)) {
			tally.could++;
		}
	}
	return tally;
}

static void add_feature(json_object *list, const char *feature, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, uint64_t now_s)
{
	struct tally tally = count_nodes(cluster, feature);
	uint64_t median = pm_reboots_median_s(reboots, feature);
	json_object *row;

	if (!feature && !tally.nodes)
		return;
	row = pm_json_append_object(list);
	pm_json_add_string(row, "feature", feature ? feature : "");
	pm_json_add_u64(row, "nodes", tally.nodes);
	for (int use = 0; use < PM_NODE_USES; use++)
		pm_json_add_u64(row, use_names[use], tally.uses[use]);
	if (!feature)
		return;
	pm_json_add_u64(row, "could", tally.could);
	pm_json_add_u64(row, "jobs", count_waiting(cluster, feature));
	if (median)
		pm_json_add_u64(row, "reboot_s", median);
	pm_json_add_u64(row, "reboots",
		count_reboots(reboots->list, reboots->n, feature, /* failed= */ false, now_s));
	pm_json_add_u64(row, "failures",
		count_reboots(reboots->list, reboots->n, feature, /* failed= */ true, now_s));
}

json_object *pm_overview_modes(
	const struct pm_cluster *cluster, const struct pm_reboots *reboots, uint64_t now_s)
{
	json_object *list = json_object_new_array();

	if (!list)
		return NULL;
	pm_mode_foreach(row)
		if (pm_mode_by_feature(row->feature) == row)
			add_feature(list, row->feature, cluster, reboots, now_s);
	add_feature(list, NULL, cluster, reboots, now_s);
	return list;
}

/* --- node by node --- */

static bool may_name_job(const struct pm_overview *overview, const struct pm_reboot *reboot)
{
	return reboot->job_id && (!overview->only || *overview->only == reboot->uid);
}

static void add_last(
	json_object *row, const struct pm_overview *overview, const struct pm_reboot *last)
{
	uint64_t end_s = last->end_s ? last->end_s : overview->now_s;

	pm_json_add_string(row, "from", last->from ? last->from : "");
	pm_json_add_string(row, "to", last->to ? last->to : "");
	pm_json_add_u64(row, "start", last->start_s);
	pm_json_add_u64(row, "seconds", end_s > last->start_s ? end_s - last->start_s : 0);
	if (last->failure)
		pm_json_add_string(row, "failure", last->failure);
	if (may_name_job(overview, last)) {
		pm_json_add_u64(row, "job", last->job_id);
		pm_json_add_u64(row, "uid", last->uid);
	}
}

static void add_reboots(json_object *row, const struct pm_overview *overview, const char *node)
{
	size_t n;
	const struct pm_reboot *list = pm_reboots_of(overview->reboots, node, &n);
	unsigned in_day = count_reboots(list, n, NULL, /* failed= */ false, overview->now_s);
	unsigned failed = count_reboots(list, n, NULL, /* failed= */ true, overview->now_s);

	if (n)
		add_last(row, overview, &list[n - 1]);
	if (in_day)
		pm_json_add_u64(row, "reboots", in_day);
	if (failed)
		pm_json_add_u64(row, "failures", failed);
}

static void add_cut(json_object *row, const char *key, const char *text)
{
	char cut[REASON_MAX + 1];

	snprintf(cut, sizeof(cut), "%s", text);
	pm_json_add_string(row, key, cut);
}

static void add_reason(json_object *row, const node_info_t *node)
{
	if (!node->reason || !*node->reason)
		return;
	add_cut(row, "reason", node->reason);
	pm_json_add_u64(row, "since", node->reason_time > 0 ? (uint64_t)node->reason_time : 0);
	if (node->reason_uid != NO_VAL)
		pm_json_add_u64(row, "by", node->reason_uid);
}

/* Of the boot that Slurm or the service has seen last: a virtual node's boot time is its host's. */
static uint64_t boot_of(const struct pm_overview *overview, const node_info_t *node)
{
	size_t n;
	const struct pm_reboot *list = pm_reboots_of(overview->reboots, node->name, &n);
	uint64_t boot_s = node->boot_time > 0 ? (uint64_t)node->boot_time : 0;

	return n && list[n - 1].start_s > boot_s ? list[n - 1].start_s : boot_s;
}

static void add_substate(
	json_object *row, const struct pm_overview *overview, const node_info_t *node)
{
	const char *substate = overview->substates ? pm_substates_of(overview->substates,
							     node->name, boot_of(overview, node))
						   : NULL;

	if (substate)
		pm_json_add_string(row, "substate", substate);
}

static bool serves(const node_info_t *node)
{
	enum pm_node_use use = pm_node_use(node->node_state);

	return use == PM_NODE_REBOOTING || (use != PM_NODE_OUT && pm_node_feature(node));
}

static void add_problem(
	json_object *row, const struct pm_overview *overview, const node_info_t *node)
{
	size_t length = strlen(OUR_COMMENT);

	if (node->comment && !strncmp(node->comment, OUR_COMMENT, length))
		add_cut(row, "comment", node->comment + length);
	pm_affected_add(row, overview->cluster, overview->rejected, node, overview->only);
}

static json_object *as_json(const struct pm_overview *overview, const node_info_t *node)
{
	json_object *row = json_object_new_object();
	const char *feature = pm_node_feature(node);

	if (!row)
		return NULL;
	pm_json_add_string(row, "node", node->name);
	pm_json_add_string(row, "feature", feature ? feature : "");
	pm_json_add_string(row, "state", use_names[pm_node_use(node->node_state)]);
	add_substate(row, overview, node);
	add_reboots(row, overview, node->name);
	add_reason(row, node);
	if (!serves(node))
		add_problem(row, overview, node);
	return row;
}

/*
 * slurmctld that misreads node_reg_mem_percent at a node's first registration refuses the node's
 * features, too: without them it is told by Slurm's reason.
 */
static bool is_told(const node_info_t *node)
{
	bool has_features = node->features && *node->features;

	return pm_node_has_modes(node) ||
	       (!has_features && node->reason &&
		       !strncmp(node->reason, LOW_MEMORY, strlen(LOW_MEMORY)) &&
		       pm_node_use(node->node_state) == PM_NODE_OUT);
}

/* The place of the first node with a name behind `after`. */
static uint32_t first_behind(const struct pm_cluster *cluster, const char *after)
{
	uint32_t i = 0;

	while (after && i < cluster->n_by_name && strcmp(cluster->by_name[i]->name, after) <= 0)
		i++;
	return i;
}

json_object *pm_overview_nodes(const struct pm_overview *overview, const char *after)
{
	const struct pm_cluster *cluster = overview->cluster;
	json_object *list = json_object_new_array();
	size_t bytes = 0;

	for (uint32_t i = first_behind(cluster, after); list && i < cluster->n_by_name; i++)
		if (is_told(cluster->by_name[i]) &&
			!pm_page_add(list, as_json(overview, cluster->by_name[i]), &bytes))
			break;
	return list;
}
