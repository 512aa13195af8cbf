/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/flat.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "node/act/actions.h"
#include "node/act/caches.h"
#include "node/act/substate.h"
#include "node/state/state.h"
#include "node/tools/knob.h"
#include "node/tools/node_memory.h"
#include "node/tools/tools.h"

#define MAX_NODES 64

static const char policy_file[] = "sys/devices/system/memory/auto_online_blocks";

/*
 * The policy goes into the journal before it is changed. If an interrupted run has left "offline",
 * the policy in the journal stays.
 */
static int suspend_policy(
	const struct pm_operation *op, struct pm_os_journal *journal, struct pm_err *err)
{
	const struct pm_config *config = &op->config;
	char policy[PM_KNOB_MAX] = "";
	int rc = pm_knob_read(config, policy_file, policy, err);

	if (rc || !strcmp(policy, "offline"))
		return rc;
	strcpy(journal->policy, policy);
	rc = pm_state_write_os_journal(config, journal, err);
	return rc ? rc : pm_knob_write(config, policy_file, "offline", err);
}

int pm_flat_restore_policy(
	const struct pm_operation *op, struct pm_os_journal *journal, struct pm_err *err)
{
	int rc;

	if (!*journal->policy)
		return 0;
	rc = pm_knob_write(&op->config, policy_file, journal->policy, err);
	if (rc)
		return rc;
	journal->policy[0] = '\0';
	return pm_state_write_os_journal(&op->config, journal, err);
}

static int act_all(const struct pm_config *config, const struct pm_step *steps, size_t n,
	unsigned timeout_s, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++)
		rc = pm_action_run(config, &steps[i], timeout_s, err);
	return rc;
}

int pm_flat_make(const struct pm_operation *op, struct pm_os_journal *journal,
	const struct pm_step *steps, size_t n, struct pm_err *err)
{
	struct pm_err second;
	int rc = suspend_policy(op, journal, err);

	if (!rc)
		rc = act_all(&op->config, steps, n, 0, err);
	if (pm_flat_restore_policy(op, journal, &second)) {
		pm_warn(op, "%s", second.text);
		if (!rc)
			rc = pm_err_set(err, second.code, "%s", second.text);
	}
	return rc;
}

static int check_room(
	const struct pm_config *config, const struct pm_step *steps, size_t n, struct pm_err *err)
{
	struct pm_node_memory memory, others;
	int nodes[MAX_NODES], rc;
	size_t n_nodes = 0;

	for (size_t i = 0; i < n && n_nodes < MAX_NODES; i++)
		nodes[n_nodes++] = steps[i].region->nd.target_node;
	rc = pm_node_memory_split(config->fs_root, nodes, n_nodes, &memory, &others, err);
	if (rc || pm_node_memory_fits(&memory, &others))
		return rc;
	return pm_err_set(err, PM_NEEDS_REBOOT,
		"%llu MiB are in use on the NUMA nodes of persistent memory, and only %llu MiB of "
		"the other NUMA nodes' %llu MiB are free; only a reboot removes the flat memory",
		(unsigned long long)(memory.used_bytes >> 20),
		(unsigned long long)(others.free_bytes >> 20),
		(unsigned long long)(others.total_bytes >> 20));
}

static int is_ram(const struct pm_config *config, const struct pm_inventory_ns *ns, bool *ret,
	struct pm_err *err)
{
	cleanup_with(pm_daxes_done) struct pm_daxes daxes = {0};
	int rc = pm_tool_daxes(config, &daxes, err);

	*ret = false;
	for (size_t i = 0; !rc && i < daxes.n; i++)
		*ret |= !strcmp(daxes.list[i].chardev, ns->nd.chardev) &&
			pm_dax_is_ram(&daxes.list[i]);
	return rc;
}

/*
 * A device that the kernel could not offline may be offline in part: all of it is onlined again.
 * The status is ignored, as daxctl(1) fails if all was online already.
 */
static int online_again(
	const struct pm_operation *op, const struct pm_step *step, struct pm_err *err)
{
	struct pm_step online = *step;
	struct pm_err why = *err;
	bool failed;
	int rc = is_ram(&op->config, step->ns, &failed, err);

	if (rc || !failed)
		return rc;
	online.kind = PM_STEP_ONLINE;
	pm_action_run(&op->config, &online, 0, NULL);
	return pm_err_set(err, PM_NEEDS_REBOOT,
		"the kernel cannot offline the memory of %s (node %d): %.700s; only a reboot "
		"removes it",
		step->region->nd.dev, step->region->nd.target_node, why.text);
}

static int offline_all(
	const struct pm_operation *op, const struct pm_step *steps, size_t n, struct pm_err *err)
{
	int rc = check_room(&op->config, steps, n, err);

	for (size_t i = 0; !rc && i < n; i++) {
		rc = pm_action_run(&op->config, &steps[i], op->config.offline_timeout_s, err);
		if (rc == -EREMOTEIO || rc == -ETIMEDOUT)
			rc = online_again(op, &steps[i], err);
	}
	return rc;
}

int pm_flat_offline(
	const struct pm_operation *op, const struct pm_step *steps, size_t n, struct pm_err *err)
{
	struct pm_caches_evictor evictor;
	int rc = pm_caches_evictor_start(&evictor, &op->config, err);

	if (rc)
		return rc;
	rc = offline_all(op, steps, n, err);
	pm_caches_evictor_stop(&evictor);
	return rc;
}
