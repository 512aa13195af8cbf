/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strv.h"

/* The answer has to fit a frame. */
#define LIST_MAX   500
#define LIST_NODES 100

enum pm_readiness pm_node_readiness(uint32_t node_state)
{
	/* Not REBOOT_REQUESTED: such a reboot waits for the job, which must not wait for it. */
	const uint32_t given_up = NODE_STATE_FAIL | NODE_STATE_INVALID_REG;
	const uint32_t coming = NODE_STATE_POWERING_UP | NODE_STATE_POWER_UP |
				NODE_STATE_REBOOT_ISSUED | NODE_STATE_NO_RESPOND;
	uint32_t base = node_state & NODE_STATE_BASE;

	if (base == NODE_STATE_DOWN || node_state & given_up)
		return PM_GIVEN_UP;
	return base == NODE_STATE_UNKNOWN || node_state & coming ? PM_NOT_READY : PM_IS_READY;
}

bool pm_node_is_free(uint32_t node_state)
{
	return (node_state & NODE_STATE_BASE) == NODE_STATE_IDLE &&
	       !(node_state & NODE_STATE_COMPLETING);
}

static void free_wait(struct pm_wait *wait)
{
	free(wait->nodes);
	pm_strv_free(wait->names);
	free(wait);
}

int pm_waits_add(struct pm_waits *waits, const struct pm_cluster *cluster, struct pm_peer *peer,
	const struct pm_message *question, struct pm_err *err)
{
	struct pm_wait *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return pm_err_nomem(err);
	wait->names = pm_cluster_names(question->nodes);
	wait->nodes = strdup(question->nodes);
	if (!wait->names || !wait->nodes) {
		free_wait(wait);
		return pm_err_set(err, -EINVAL, "job %u: cannot read its list of nodes '%.200s'",
			question->job_id, question->nodes);
	}
	wait->peer = peer;
	wait->job_id = question->job_id;
	wait->uid = question->uid;
	wait->node_asks = cluster->node_asks;
	wait->job_asks = cluster->job_asks;
	wait->since_ms = wait->told_ms = pm_now_ms();
	wait->next = waits->first;
	waits->first = wait;
	waits->count++;
	peer->wait = wait;
	return 0;
}

void pm_waits_remove(struct pm_waits *waits, struct pm_wait *wait)
{
	for (struct pm_wait **at = &waits->first; *at; at = &(*at)->next)
		if (*at == wait) {
			*at = wait->next;
			waits->count--;
			break;
		}
	wait->peer->wait = NULL;
	free_wait(wait);
}

/* One node that is given up, taken out of Slurm, or no longer the job's ends the wait for all. */
static bool nodes_say_so(const struct pm_wait *wait, const struct pm_cluster *cluster)
{
	bool ready = true;

	for (char **name = wait->names; *name; name++) {
		const node_info_t *node = pm_cluster_node(cluster, *name);
		enum pm_readiness readiness;

		if (!node || pm_node_is_free(node->node_state))
			return true;
		readiness = pm_node_readiness(node->node_state);
		if (readiness == PM_GIVEN_UP)
			return true;
		ready &= readiness == PM_IS_READY;
	}
	return ready;
}

static bool job_says_so(const struct pm_wait *wait, const struct pm_cluster *cluster)
{
	const slurm_job_info_t *job = pm_cluster_job(cluster, wait->job_id);

	return !job || !(job->job_state & JOB_CONFIGURING);
}

bool pm_wait_is_over(const struct pm_wait *wait, const struct pm_cluster *cluster)
{
	if (cluster->node_asks > wait->node_asks && nodes_say_so(wait, cluster))
		return true;
	return cluster->job_asks > wait->job_asks && job_says_so(wait, cluster);
}

static json_object *as_json(const struct pm_wait *wait)
{
	json_object *row = json_object_new_object();

	if (!row)
		return NULL;
	pm_json_add_u64(row, "job", wait->job_id);
	pm_json_add_u64(row, "uid", wait->uid);
	if (strlen(wait->nodes) <= LIST_NODES)
		pm_json_add_string(row, "nodes", wait->nodes);
	pm_json_add_u64(row, "seconds", (pm_now_ms() - wait->since_ms) / 1000);
	return row;
}

json_object *pm_waits_list(const struct pm_waits *waits, bool all, uid_t uid)
{
	json_object *list = json_object_new_array();
	size_t n = 0;

	for (struct pm_wait *wait = waits->first; list && wait && n < LIST_MAX; wait = wait->next)
		if (all || wait->uid == uid) {
			json_object_array_add(list, as_json(wait));
			n++;
		}
	return list;
}
