/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/dry_run.h"
#include "agent/pmctl.h"
#include "agent/print.h"
#include "base/cleanup.h"
#include "node/act/recover.h"
#include "node/state/state.h"

/* The facts of this recovery, in the order in which they came. */
static json_object *facts;

static void note(const struct pm_operation *op, enum pm_tone tone, const char *text)
{
	if (tone == PM_TONE_FACT)
		json_object_array_add(facts, json_object_new_string(text));
	pm_agent_report(op, tone, text);
}

static void print_facts(const struct pm_agent *agent)
{
	json_object *root;

	if (!json_object_array_length(facts))
		pm_agent_report(&agent->op, PM_TONE_FACT, "nothing to recover");
	if (!(agent->given & PM_OPT_JSON) || agent->given & PM_OPT_DRY_RUN)
		return;
	root = json_object_new_object();
	pm_json_add_u64(root, "version", 1);
	json_object_object_add(root, "report", json_object_get(facts));
	pm_print_json(root);
}

static int recover(struct pm_agent *agent, struct pm_err *err)
{
	bool dry_run = agent->given & PM_OPT_DRY_RUN;
	cleanup_close int lock_fd = -1;
	int rc = pm_state_lock_within(&agent->op, agent->op.config.tool_timeout_s, &lock_fd, err);

	if (rc)
		return rc;
	if (dry_run && agent->given & PM_OPT_JSON)
		(void)pm_dry_run_begin(agent);
	rc = pm_recover(&agent->op, dry_run, err);
	pm_dry_run_end(agent, rc);
	if (!rc)
		print_facts(agent);
	return rc;
}

int pm_verb_recover(struct pm_agent *agent)
{
	struct pm_err err;
	int rc;

	facts = json_object_new_array();
	if (!facts)
		return pm_finish(agent, pm_err_nomem(&err), &err);
	agent->op.report = note;
	rc = recover(agent, &err);
	json_object_put(pm_steal(facts));
	return pm_finish(agent, rc, &err);
}
