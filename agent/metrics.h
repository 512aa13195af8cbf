/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_METRICS_H
#define PM_AGENT_METRICS_H

/*
 * Metrics: samples of the rows of agent/metrics.def, and their text for Prometheus ("Text-based
 * format", exposition format 0.0.4). A metric without a sample is not printed at all.
 */
#include <stdbool.h>

#include "agent/pmctl.h"
#include "base/json.h"

enum pm_metric {
#define PM_METRIC(NAME, ...) PM_METRIC_##NAME,
#include "agent/metrics.def"
	PM_METRICS
};

struct pm_metrics {
	const struct pm_agent *agent;
	json_object *samples[PM_METRICS]; /* arrays of {labels, value}; NULL: none */
};

/* Adds a sample; `labels` are the values of the row's labels, in its order. */
void pm_metrics_add(
	struct pm_metrics *metrics, enum pm_metric metric, double value, const char *const *labels);

#define pm_metric(metrics_, name_, value_, ...)                                                    \
	pm_metrics_add(metrics_, PM_METRIC_##name_, (double)(value_),                              \
		(const char *const[]){NULL, ##__VA_ARGS__} + 1)

/* Notes whether a part could be read (`rc` is not 0: no), and warns with the error's sentence. */
void pm_metrics_note_part(
	struct pm_metrics *metrics, const char *part, int rc, const struct pm_err *err);

/* The text for Prometheus; malloc'ed, NULL when out of memory. */
char *pm_metrics_text(const struct pm_metrics *metrics);

/* {"version": 1, "metrics": [{name, type, help, samples: [{labels, value}]}]} */
json_object *pm_metrics_json(const struct pm_metrics *metrics);

void pm_metrics_done(struct pm_metrics *metrics);

/* The metrics of this node, in three parts. A value that cannot be read is left out, and noted. */
void pm_metrics_add_node(struct pm_metrics *metrics);
void pm_metrics_add_modules(struct pm_metrics *metrics);
void pm_metrics_add_bad_blocks(struct pm_metrics *metrics);

/* The metrics of the cluster. Errors of agent/ask_cluster.h; then CONTROLLER_UP is 0 and alone. */
int pm_metrics_add_cluster(struct pm_metrics *metrics, struct pm_err *err);

#endif
