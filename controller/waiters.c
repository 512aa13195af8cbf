/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/waiters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strv.h"

/* Waiters in a reply at most, and bytes of a node list in it: the reply must fit a frame. */
#define LIST_MAX   500
#define LIST_NODES 100

enum pm_readiness pm_node_readiness(uint32_t node_state)
{
	/*
	 * Without REBOOT_REQUESTED: such a reboot waits for the job's end, so the job must not wait
	 * for it.
	 */
	const uint32_t unusable = NODE_STATE_FAIL | NODE_STATE_INVALID_REG;
	/*
	 * Without POWER_UP, an administrator's request, which stays on a node that was woken
	 * meanwhile.
	 */
	const uint32_t coming =
		NODE_STATE_POWERING_UP | NODE_STATE_REBOOT_ISSUED | NODE_STATE_NO_RESPOND;
	/* Slurm powers a node up some time after the job has got it. */
	const uint32_t off = NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN;
	uint32_t base = node_state & NODE_STATE_BASE;

	if (base == NODE_STATE_DOWN || node_state & unusable)
		return PM_UNUSABLE;
	if (base != NODE_STATE_IDLE && node_state & off)
		return PM_NOT_READY;
	return base == NODE_STATE_UNKNOWN || node_state & coming ? PM_NOT_READY : PM_IS_READY;
}

bool pm_node_is_rebooting(uint32_t node_state)
{
	const uint32_t coming =
		NODE_STATE_POWERING_UP | NODE_STATE_POWER_UP | NODE_STATE_REBOOT_ISSUED;

	return pm_node_readiness(node_state) == PM_NOT_READY && node_state & coming;
}

bool pm_node_is_free(uint32_t node_state)
{
	return (node_state & NODE_STATE_BASE) == NODE_STATE_IDLE &&
	       !(node_state & NODE_STATE_COMPLETING);
}

static void free_waiter(struct pm_waiter *waiter)
{
	free(waiter->nodes);
	pm_strv_free(waiter->names);
	free(waiter);
}

int pm_waiters_add(struct pm_waiters *waiters, const struct pm_cluster *cluster,
	struct pm_peer *peer, const struct pm_message *request, struct pm_err *err)
{
	struct pm_waiter *waiter = calloc(1, sizeof(*waiter));

	if (!waiter)
		return pm_err_nomem(err);
	waiter->names = pm_cluster_names(request->nodes);
	waiter->nodes = strdup(request->nodes);
	if (!waiter->names || !waiter->nodes) {
		free_waiter(waiter);
		return pm_err_set(err, -EINVAL, "job %u: cannot read its list of nodes '%.200s'",
			request->job_id, request->nodes);
	}
	waiter->peer = peer;
	waiter->job_id = request->job_id;
	waiter->uid = request->uid;
	waiter->node_asks = cluster->node_asks;
	waiter->job_asks = cluster->job_asks;
	waiter->since_ms = waiter->told_ms = pm_now_ms();
	waiter->next = waiters->first;
	waiters->first = waiter;
	peer->waiter = waiter;
	return 0;
}

void pm_waiters_remove(struct pm_waiters *waiters, struct pm_waiter *waiter)
{
	for (struct pm_waiter **at = &waiters->first; *at; at = &(*at)->next)
		if (*at == waiter) {
			*at = waiter->next;
			break;
		}
	waiter->peer->waiter = NULL;
	free_waiter(waiter);
}

/*
 * True if the nodes end the wait. One node that is unusable, not in Slurm any more, or not the
 * job's any more ends it for all.
 */
static bool nodes_say_so(const struct pm_waiter *waiter, const struct pm_cluster *cluster)
{
	bool ready = true;

	for (char **name = waiter->names; *name; name++) {
		const node_info_t *node = pm_cluster_node(cluster, *name);
		enum pm_readiness readiness;

		if (!node || pm_node_is_free(node->node_state))
			return true;
		readiness = pm_node_readiness(node->node_state);
		if (readiness == PM_UNUSABLE)
			return true;
		ready &= readiness == PM_IS_READY;
	}
	return ready;
}

static bool job_says_so(const struct pm_waiter *waiter, const struct pm_cluster *cluster)
{
	const slurm_job_info_t *job = pm_cluster_job(cluster, waiter->job_id);

	return !job || !(job->job_state & JOB_CONFIGURING);
}

bool pm_waiter_is_done(const struct pm_waiter *waiter, const struct pm_cluster *cluster)
{
	if (cluster->node_asks > waiter->node_asks && nodes_say_so(waiter, cluster))
		return true;
	return cluster->job_asks > waiter->job_asks && job_says_so(waiter, cluster);
}

static json_object *as_json(const struct pm_waiter *waiter)
{
	json_object *row = json_object_new_object();

	if (!row)
		return NULL;
	pm_json_add_u64(row, "job", waiter->job_id);
	pm_json_add_u64(row, "uid", waiter->uid);
	if (strlen(waiter->nodes) <= LIST_NODES)
		pm_json_add_string(row, "nodes", waiter->nodes);
	pm_json_add_u64(row, "seconds", (pm_now_ms() - waiter->since_ms) / 1000);
	return row;
}

json_object *pm_waiters_list(const struct pm_waiters *waiters, bool all, uid_t uid)
{
	json_object *list = json_object_new_array();
	size_t n = 0;

	for (struct pm_waiter *waiter = waiters->first; list && waiter && n < LIST_MAX;
		waiter = waiter->next)
		if (all || waiter->uid == uid) {
			json_object_array_add(list, as_json(waiter));
			n++;
		}
	return list;
}
