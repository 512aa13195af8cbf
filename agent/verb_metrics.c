/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/metrics.h"
#include "base/cleanup.h"

static int print(const struct pm_agent *agent, const struct pm_metrics *metrics, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *root = NULL;
	cleanup_free char *text = NULL;

	if (agent->given & PM_OPT_JSON) {
		root = pm_metrics_json(metrics);
		text = pm_json_format(root);
	} else {
		text = pm_metrics_text(metrics);
	}
	return text ? pm_write_output(agent->output, text, err) : pm_err_nomem(err);
}

static void add_node(struct pm_metrics *metrics)
{
	pm_metrics_add_node(metrics);
	pm_metrics_add_modules(metrics);
	pm_metrics_add_bad_blocks(metrics);
}

/* That pm-controller does not answer is a metric, too: it is written, and the verb fails. */
int pm_verb_metrics(struct pm_agent *agent)
{
	cleanup_with(pm_metrics_done) struct pm_metrics metrics = {.agent = agent};
	struct pm_err err, why;
	int rc = 0, wrote;

	if (agent->given & PM_OPT_CLUSTER)
		rc = pm_metrics_add_cluster(&metrics, &why);
	else
		add_node(&metrics);
	wrote = print(agent, &metrics, &err);
	if (rc)
		(void)pm_fail(agent, &why);
	if (wrote)
		(void)pm_fail(agent, &err);
	return rc || wrote ? PM_EXIT_FAILED : PM_EXIT_DONE;
}
