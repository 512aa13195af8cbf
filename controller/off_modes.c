/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/off_modes.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
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

/* The node may have been woken since the table was loaded: it then gets the mode of a job. */
static bool is_so_now(const char *name, char **ret_features)
{
	node_info_msg_t *nodes = NULL;
	bool is_so = false;

	if (slurm_load_node_single(&nodes, (char *)name, SHOW_ALL))
		return false;
	if (nodes->record_count == 1 && is_without_mode(&nodes->node_array[0])) {
		const char *others = nodes->node_array[0].features_act;

		*ret_features =
			pm_asprintf("%s%s", others ? others : "", others && *others ? "," : "");
		is_so = *ret_features != NULL;
	}
	slurm_free_node_info_msg(nodes);
	return is_so;
}

static int update(const char *name, const char *others, const char *feature)
{
	cleanup_free char *features = pm_asprintf("%s%s", others, feature);
	update_node_msg_t request;

	if (!features)
		return -ENOMEM;
	slurm_init_update_node_msg(&request);
	request.node_names = (char *)name;
	request.features_act = features;
	return slurm_update_node(&request) ? -errno : 0;
}

static void say(struct pm_off_modes *off, const char *name, const char *feature, int rc)
{
	const char *mode = pm_mode_name_of_feature(feature);

	if (!rc)
		fprintf(stderr,
			"%s is off in mode %s, which slurmctld had forgotten: it knows it again\n",
			name, mode);
	else if (!off->failing)
		fprintf(stderr,
			"%s is off in mode %s, which slurmctld has forgotten and does not take "
			"(%s); trying again\n",
			name, mode, slurm_strerror(-rc));
	off->failing = rc != 0;
}

void pm_off_modes_tell(struct pm_off_modes *off, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots)
{
	for (uint32_t i = 0; i < cluster->n_by_name; i++) {
		const node_info_t *node = cluster->by_name[i];
		const char *feature =
			is_without_mode(node) ? pm_reboots_feature(reboots, node->name) : NULL;
		cleanup_free char *others = NULL;

		if (feature && is_so_now(node->name, &others))
			say(off, node->name, feature, update(node->name, others, feature));
	}
}
