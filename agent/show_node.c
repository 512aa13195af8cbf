/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "agent/show.h"
#include "base/cleanup.h"
#include "node/see/observe.h"
#include "node/state/state.h"
#include "node/tools/partition.h"
#include "node/tools/tools.h"

#define AS_ROOT "must be root"

static void add_change(const struct pm_agent *agent, json_object *root)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	json_object *change;
	struct pm_err err;

	if (pm_state_read_journal(&agent->op.config, &journal, &err)) {
		pm_show_block(root, "the journal cannot be read: %.300s", err.text);
		return;
	}
	change = pm_json_add_object(root, "change");
	pm_json_add_string(change, "state", pm_journal_state_name(journal.state));
	if (journal.state) {
		pm_json_add_string(change, "from", pm_mode_name(journal.from));
		pm_json_add_string(change, "to", pm_mode_name(journal.mode));
		pm_json_add_string(change, "reason", journal.reason);
	}
	if (journal.state == PM_JOURNAL_FAILED)
		pm_show_block(root, "the last change failed: %.400s", journal.reason);
}

void pm_show_mode(const struct pm_agent *agent, json_object *root)
{
	struct pm_observation seen;
	struct pm_err err;

	add_change(agent, root);
	if (pm_observe(&agent->op.config, /* fresh= */ false, &seen, &err)) {
		pm_show_unseen(root, "mode", err.text);
		return;
	}
	pm_json_add_string(root, "mode", pm_mode_name(seen.record.verdict.mode));
	pm_json_add_string(root, "platform", pm_platform_name(seen.record.verdict.platform));
	pm_json_add_string(root, "why", seen.record.verdict.why);
	pm_json_add_u64(root, "memory_bytes", seen.record.kernel.mem_total_bytes);
	pm_json_add_u64(root, "cache_bytes", seen.record.kernel.side_cache_bytes);
	if (!seen.record.verdict.platform)
		pm_show_block(root, "the node's mode is unknown: %.400s", seen.record.verdict.why);
}

/* "0x0001" as a number. */
static uint64_t socket_number(const char *text)
{
	return strtoull(text, NULL, 16);
}

static void add_dimms(const struct pm_dimms *dimms, json_object *root)
{
	json_object *list = pm_json_add_array(root, "modules");

	for (size_t i = 0; i < dimms->n; i++) {
		const struct pm_dimm *dimm = &dimms->list[i];
		json_object *one = pm_json_append_object(list);

		pm_json_add_string(one, "id", dimm->id);
		pm_json_add_u64(one, "socket", socket_number(dimm->socket));
		pm_json_add_u64(one, "capacity_bytes", dimm->capacity_bytes);
		pm_json_add_string(one, "health", dimm->health);
		pm_json_add_string(one, "lock", dimm->lock);
		pm_json_add_string(one, "manageability", dimm->manageability);
		pm_json_add_string(one, "configuration", dimm->config_status);
		if (!pm_dimm_is_sound(dimm))
			pm_show_block(root, "module %s is %s, lock %s, %s", dimm->id, dimm->health,
				dimm->lock, dimm->manageability);
	}
}

static void add_goals(const struct pm_goals *goals, json_object *root)
{
	json_object *list = pm_json_add_array(root, "goal");

	for (size_t i = 0; i < goals->n; i++) {
		const struct pm_goal *goal = &goals->list[i];
		json_object *one = pm_json_append_object(list);

		pm_json_add_string(one, "module", goal->dimm);
		pm_json_add_u64(one, "memory_bytes", goal->memory_bytes);
		pm_json_add_u64(
			one, "appdirect_bytes", goal->appdirect1_bytes + goal->appdirect2_bytes);
	}
}

/* A pending goal of an open change waits for its reboot, and does not block another change. */
static void judge_goals(
	const struct pm_agent *agent, const struct pm_goals *goals, json_object *root)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};

	if (!goals->n || pm_state_read_journal(&agent->op.config, &journal, NULL) ||
		pm_journal_is_open(&journal))
		return;
	pm_show_block(root, "a goal that pmctl did not set is pending on %zu modules", goals->n);
}

void pm_show_modules(const struct pm_agent *agent, json_object *root)
{
	cleanup_with(pm_dimms_done) struct pm_dimms dimms = {0};
	cleanup_with(pm_goals_done) struct pm_goals goals = {0};
	struct pm_err err;

	if (geteuid() != 0) {
		pm_show_unseen(root, "modules and goal", AS_ROOT);
		return;
	}
	if (pm_tool_dimms(&agent->op.config, &dimms, &err))
		pm_show_unseen(root, "modules", err.text);
	else
		add_dimms(&dimms, root);
	if (pm_tool_goals(&agent->op.config, &goals, &err)) {
		pm_show_unseen(root, "goal", err.text);
		return;
	}
	add_goals(&goals, root);
	judge_goals(agent, &goals, root);
}
