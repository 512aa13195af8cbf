/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/metrics.h"
#include "base/cleanup.h"
#include "tests/unit/tap.h"

static char last[400];

static void hear(const struct pm_operation *op, enum pm_tone tone, const char *text)
{
	(void)op;
	snprintf(last, sizeof(last), "%d %s", tone, text);
}

static void test_text(void)
{
	cleanup_with(pm_metrics_done) struct pm_metrics metrics = {0};
	cleanup_free char *none = pm_metrics_text(&metrics), *text = NULL;

	is_text(none, "", "no sample is no text");
	pm_metric(&metrics, MODULE_LIFE, 0.07, "0x0001");
	pm_metric(&metrics, MODULE_HEALTH, 1, "0x0001", "a \"b\" \\ c\nd");
	pm_metric(&metrics, NODE_SERVES, 1);
	text = pm_metrics_text(&metrics);
	is_text(text,
		"# HELP slurm_pmem_node_serves 1 if the node may serve, 0 if 'pmctl health' says "
		"why not.\n"
		"# TYPE slurm_pmem_node_serves gauge\n"
		"slurm_pmem_node_serves 1\n"
		"# HELP slurm_pmem_module_health 1, with the health state that ipmctl prints.\n"
		"# TYPE slurm_pmem_module_health gauge\n"
		"slurm_pmem_module_health{module=\"0x0001\",state=\"a \\\"b\\\" \\\\ c\\nd\"} 1\n"
		"# HELP slurm_pmem_module_remaining_life_ratio Remaining life: 1 of a new module, "
		"0 at the end of its rated life.\n"
		"# TYPE slurm_pmem_module_remaining_life_ratio gauge\n"
		"slurm_pmem_module_remaining_life_ratio{module=\"0x0001\"} 0.07\n",
		"in the order of the table, with escapes, without what has no sample");
}

static const struct {
	double value;
	const char *text;
} numbers[] = {
	{0, "0"},
	{-7, "-7"},
	{0.1, "0.1"},
	{1769862896.789, "1769862896.789"},
	{542101086242752, "542101086242752"},
};

static void test_numbers(void)
{
	FOR_EACH(row, numbers)
	{
		cleanup_with(pm_metrics_done) struct pm_metrics metrics = {0};
		cleanup_free char *text = NULL;
		char line[80];

		pm_metric(&metrics, JOBS, row->value);
		text = pm_metrics_text(&metrics);
		snprintf(line, sizeof(line), "\nslurm_pmem_jobs %s\n", row->text);
		has_text(text, line, row->text);
	}
}

static void test_parts(void)
{
	const struct pm_agent agent = {.op.report = hear};
	cleanup_with(pm_metrics_done) struct pm_metrics metrics = {.agent = &agent};
	cleanup_free char *text = NULL;
	struct pm_err err = {.text = "ipmctl failed"};

	pm_metrics_note_part(&metrics, "mode", 0, &err);
	is_text(last, "", "a part that is read is not told");
	pm_metrics_note_part(&metrics, "sensors", -5, &err);
	is_text(last, "1 sensors: ipmctl failed", "one that is not read is a warning");
	text = pm_metrics_text(&metrics);
	has_text(text, "slurm_pmem_read_failed{part=\"mode\"} 0\n", "and both");
	has_text(text, "slurm_pmem_read_failed{part=\"sensors\"} 1\n", "are metrics");
}

int main(void)
{
	test_text();
	test_numbers();
	test_parts();
	return tap_done();
}
