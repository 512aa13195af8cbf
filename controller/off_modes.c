/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/off_modes.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "controller/node_features.h"
#include "site/modes.h"

/* It is off, and nothing wakes it. */
static bool is_off(uint32_t node_state)
{
	const uint32_t wakes = NODE_STATE_POWERING_UP | NODE_STATE_POWER_UP;

	return node_state & NODE_STATE_POWERED_DOWN && !(node_state & wakes);
}

static bool is_without_mode(const node_info_t *node)
{
	return is_off(node->node_state) && pm_node_has_modes(node) && !pm_node_feature(node);
}

/* --- nodes that get the same features --- */

struct group {
	char *features, *names; /* with commas */
	const char *feature;	/* of the mode */
};

struct groups {
	struct group *list;
	size_t n;
};

static void groups_done(struct groups *groups)
{
	for (size_t i = 0; i < groups->n; i++) {
		free(groups->list[i].features);
		free(groups->list[i].names);
	}
	free(groups->list);
}

/* Takes over `features`. NULL: out of memory. */
static struct group *group_of(struct groups *groups, char *features, const char *feature)
{
	struct group *group;

	for (size_t i = 0; i < groups->n; i++)
		if (!strcmp(groups->list[i].features, features)) {
			free(features);
			return &groups->list[i];
		}
	group = pm_list_next(&groups->list, groups->n, sizeof(*groups->list));
	if (!group) {
		free(features);
		return NULL;
	}
	*group = (struct group){.features = features, .feature = feature};
	groups->n++;
	return group;
}

/* A node that does not fit into memory is told of in the next look. */
static void add(struct groups *groups, const node_info_t *node, const char *feature)
{
	const char *others = node->features_act ? node->features_act : "";
	char *features = pm_asprintf("%s%s%s", others, *others ? "," : "", feature);
	struct group *group = features ? group_of(groups, features, feature) : NULL;

	if (group)
		(void)pm_append(&group->names, ",", node->name);
}

/* --- */

static int update(const struct group *group)
{
	update_node_msg_t request;

	slurm_init_update_node_msg(&request);
	request.node_names = group->names;
	request.features_act = group->features;
	return slurm_update_node(&request) ? -errno : 0;
}

static void say(struct pm_off_modes *off, const struct group *group, int rc)
{
	const char *mode = pm_mode_name_of_feature(group->feature);

	if (!rc)
		fprintf(stderr, "told slurmctld that these nodes are off in mode %s: %s\n", mode,
			group->names);
	else if (!off->failing)
		fprintf(stderr,
			"slurmctld does not take that these nodes are off in mode %s (%s): %s; "
			"trying again\n",
			mode, slurm_strerror(-rc), group->names);
	off->failing = rc != 0;
}

static const char *forgotten(const struct pm_reboots *reboots, const node_info_t *node)
{
	return is_without_mode(node) ? pm_reboots_feature(reboots, node->name) : NULL;
}

static bool is_any_forgotten(const struct pm_cluster *cluster, const struct pm_reboots *reboots)
{
	for (uint32_t i = 0; i < cluster->n_by_name; i++)
		if (forgotten(reboots, cluster->by_name[i]))
			return true;
	return false;
}

void pm_off_modes_tell(struct pm_off_modes *off, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots)
{
	cleanup_with(groups_done) struct groups groups = {0};
	node_info_msg_t *now = NULL;

	/* A node may have been woken since the table was loaded: it then gets a job's mode. */
	if (!is_any_forgotten(cluster, reboots) || slurm_load_node(0, &now, PM_CLUSTER_SHOWN))
		return;
	for (uint32_t i = 0; i < now->record_count; i++) {
		const node_info_t *node = &now->node_array[i];
		const char *feature = node->name ? forgotten(reboots, node) : NULL;

		if (feature)
			add(&groups, node, feature);
	}
	for (size_t i = 0; i < groups.n; i++)
		if (groups.list[i].names)
			say(off, &groups.list[i], update(&groups.list[i]));
	slurm_free_node_info_msg(now);
}
