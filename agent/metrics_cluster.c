/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "agent/ask_cluster.h"
#include "agent/drain_cause.h"
#include "agent/metrics.h"
#include "base/cleanup.h"
#include "site/modes.h"

/* Modes that share a feature are counted by the first one; "none" for no feature. */
static const char *mode_of(const json_object *row, const char *key)
{
	return pm_mode_name_of_feature(pm_json_text(row, key));
}

/* --- by mode --- */

static void add_mode(struct pm_metrics *metrics, const json_object *row)
{
	static const char *const states[] = {"idle", "busy", "rebooting", "out"};
	const char *mode = mode_of(row, "feature");
	uint64_t failures = pm_json_number(row, "failures");

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		pm_metric(metrics, CLUSTER_NODES, pm_json_number(row, states[i]), mode, states[i]);
	if (!*pm_json_text(row, "feature"))
		return;
	pm_metric(metrics, CLUSTER_COULD, pm_json_number(row, "could"), mode);
	pm_metric(metrics, CLUSTER_JOBS, pm_json_number(row, "jobs"), mode);
	pm_metric(
		metrics, CLUSTER_REBOOTS, pm_json_number(row, "reboots") - failures, mode, "done");
	pm_metric(metrics, CLUSTER_REBOOTS, failures, mode, "failed");
	if (pm_json_number(row, "reboot_s"))
		pm_metric(metrics, CLUSTER_REBOOT_TIME, pm_json_number(row, "reboot_s"), mode);
}

/* --- by node --- */

static bool is_in(const json_object *row, const char *state)
{
	return !strcmp(pm_json_text(row, "state"), state);
}

static void add_reboot(struct pm_metrics *metrics, const json_object *row)
{
	const char *node = pm_json_text(row, "node"), *mode = mode_of(row, "to");

	if (!pm_json_number(row, "start"))
		return;
	if (is_in(row, "rebooting"))
		pm_metric(metrics, NODE_REBOOT_START, pm_json_number(row, "start"), node, mode);
	else
		pm_metric(metrics, NODE_LAST_REBOOT, pm_json_number(row, "seconds"), node, mode,
			*pm_json_text(row, "failure") ? "failed" : "done");
}

static void add_out(struct pm_metrics *metrics, const json_object *row)
{
	if (is_in(row, "out") && pm_json_number(row, "since"))
		pm_metric(metrics, NODE_OUT_SINCE, pm_json_number(row, "since"),
			pm_json_text(row, "node"), pm_drain_cause(pm_json_text(row, "reason")));
}

/* All causes have a number, so that a graph ends at 0. */
static void add_causes(struct pm_metrics *metrics, json_object *nodes)
{
	for (const char *const *cause = pm_drain_causes(); *cause; cause++) {
		unsigned n = 0;

		for (size_t i = 0; i < json_object_array_length(nodes); i++) {
			const json_object *row = json_object_array_get_idx(nodes, i);

			n += is_in(row, "out") &&
			     !strcmp(pm_drain_cause(pm_json_text(row, "reason")), *cause);
		}
		pm_metric(metrics, CLUSTER_OUT, n, *cause);
	}
}

int pm_metrics_add_cluster(struct pm_metrics *metrics, struct pm_err *err)
{
	cleanup_with(pm_json_cleanup) json_object *modes = json_object_new_array();
	cleanup_with(pm_json_cleanup) json_object *nodes = json_object_new_array();
	int rc = pm_ask_modes(&metrics->agent->op.config, modes, err);

	if (!rc)
		rc = pm_ask_nodes(&metrics->agent->op.config, nodes, err);
	pm_metric(metrics, CONTROLLER_UP, !rc);
	if (rc)
		return rc;
	for (size_t i = 0; i < json_object_array_length(modes); i++)
		add_mode(metrics, json_object_array_get_idx(modes, i));
	add_causes(metrics, nodes);
	for (size_t i = 0; i < json_object_array_length(nodes); i++) {
		add_out(metrics, json_object_array_get_idx(nodes, i));
		add_reboot(metrics, json_object_array_get_idx(nodes, i));
	}
	return 0;
}
