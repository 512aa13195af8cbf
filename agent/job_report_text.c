/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/job_report_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "agent/job_report_cause.h"
#include "base/units.h"
#include "site/modes.h"

#define SPAN_MAX 40

__attribute__((format(printf, 3, 4))) static void line(
	FILE *out, const char *word, const char *format, ...)
{
	va_list args;

	fprintf(out, "%-12s", word);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fputc('\n', out);
}

static uint64_t number(const struct pm_job_report *report, const char *key)
{
	return report->job ? pm_json_number(report->job, key) : 0;
}

static const char *text(const struct pm_job_report *report, const char *key)
{
	return report->job ? pm_json_text(report->job, key) : "";
}

/* "1.4 s", "55 s", "2 h 5 min". */
static const char *span(uint64_t ms, char ret[SPAN_MAX])
{
	uint64_t s = ms / 1000;

	if (s < 10)
		snprintf(ret, SPAN_MAX, "%.1f s", (double)ms / 1000);
	else if (s < 120)
		snprintf(ret, SPAN_MAX, "%" PRIu64 " s", s);
	else if (s < 7200)
		snprintf(ret, SPAN_MAX, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else if (s < 48 * 3600)
		snprintf(ret, SPAN_MAX, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
	else
		snprintf(ret, SPAN_MAX, "%" PRIu64 " days", s / 86400);
	return ret;
}

/* --- lines --- */

static void print_job(const struct pm_job_report *report, uint32_t job_id, FILE *out)
{
	line(out, "Job:", "%u%s%s%s%s", (unsigned)job_id, *text(report, "name") ? ", " : "",
		text(report, "name"), *text(report, "state") ? ", " : "", text(report, "state"));
}

static void print_mode(const struct pm_job_report *report, FILE *out)
{
	const char *mode = report->n_nodes ? report->nodes[0].use.mode
			   : pm_job_report_has_mode(report)
				   ? pm_mode_name_of_feature(text(report, "feature"))
				   : NULL;

	if (!mode)
		line(out, "Mode:", "none asked for");
	else if (*text(report, "nodes"))
		line(out, "Mode:", "%s, on %s", mode, text(report, "nodes"));
	else
		line(out, "Mode:", "%s", mode);
}

static void print_reboots(const struct pm_job_report *report, FILE *out)
{
	char took[SPAN_MAX];

	if (!report->reboots)
		return;
	line(out, "Reboot:", "of %u node%s, %s; not part of the job's time", report->reboots,
		report->reboots > 1 ? "s" : "",
		span((report->last_s > report->first_s ? report->last_s - report->first_s : 0) *
				1000,
			took));
}

/* The longest of the nodes: the job waits for all of them. */
static const struct pm_report_node *slowest(const struct pm_job_report *report, bool after)
{
	const struct pm_report_node *slowest = NULL;
	uint64_t longest = 0;

	for (size_t i = 0; i < report->n_nodes; i++) {
		if (after && !report->nodes[i].use.end_s)
			continue;
		uint64_t ms =
			after ? report->nodes[i].use.cleanup_ms : report->nodes[i].use.setup_ms;

		if (slowest && ms <= longest)
			continue;
		slowest = &report->nodes[i];
		longest = ms;
	}
	return slowest;
}

static void print_setup(const struct pm_job_report *report, FILE *out)
{
	const struct pm_report_node *node = slowest(report, /* after= */ false);
	char took[SPAN_MAX];

	if (node)
		line(out, "Set-up:", "%s (%s), part of the job's time",
			span(node->use.setup_ms, took), node->node);
}

static void print_cleanup(const struct pm_job_report *report, FILE *out)
{
	const struct pm_report_node *node = slowest(report, /* after= */ true);
	char took[SPAN_MAX];

	if (node)
		line(out, "Clean-up:", "%s (%s), after the job's time",
			span(node->use.cleanup_ms, took), node->node);
	else if (report->n_nodes)
		line(out, "Clean-up:", "not known yet, it follows the job's time");
}

/* Slurm has the end of the time limit as the end of a job that runs. */
static uint64_t end_of(const struct pm_job_report *report)
{
	return pm_job_report_is_running(report) ? (uint64_t)time(NULL) : number(report, "end");
}

static void print_time(const struct pm_job_report *report, FILE *out)
{
	uint64_t start = number(report, "start"), end = end_of(report);
	uint64_t limit = number(report, "time_limit_s");
	char took[SPAN_MAX], most[SPAN_MAX];

	if (!start || end <= start || !report->n_nodes)
		return;
	if (limit)
		line(out, "Time:", "%s of %s", span((end - start) * 1000, took),
			span(limit * 1000, most));
	else
		line(out, "Time:", "%s", span((end - start) * 1000, took));
}

static void print_energy(const struct pm_job_report *report, FILE *out)
{
	uint64_t joules = number(report, "energy_joules");

	if (!joules)
		return;
	if (joules < 1000)
		line(out, "Energy:", "%" PRIu64 " J", joules);
	else if (joules < 1000000)
		line(out, "Energy:", "%.1f kJ", (double)joules / 1e3);
	else
		line(out, "Energy:", "%.1f MJ", (double)joules / 1e6);
}

static void print_memory(const struct pm_job_report *report, FILE *out)
{
	const struct pm_report_node *node = pm_job_report_highest(report, NULL);
	char used[PM_SIZE_TEXT], limit[PM_SIZE_TEXT];

	if (!node && report->n_nodes)
		line(out, "Memory:", "not known, as the job had no memory cgroup");
	if (!node)
		return;
	if (node->use.memory_limit_bytes)
		line(out, "Memory:", "%s of %s at most (%s)",
			pm_format_size(node->use.memory_peak_bytes, used),
			pm_format_size(node->use.memory_limit_bytes, limit), node->node);
	else
		line(out, "Memory:", "%s at most (%s)",
			pm_format_size(node->use.memory_peak_bytes, used), node->node);
}

static void print_part(const struct pm_use_part *part, const char *name, FILE *out)
{
	char used[PM_SIZE_TEXT], limit[PM_SIZE_TEXT];

	fprintf(out, "%s%s on socket %u", name, pm_format_size(part->peak_bytes, used),
		(unsigned)part->socket);
	if (part->limit_bytes)
		fprintf(out, " of %s", pm_format_size(part->limit_bytes, limit));
}

/* A line for a tier, with the node that used most of it. */
static void print_tier(
	const struct pm_job_report *report, const char *tier, const char *word, FILE *out)
{
	const struct pm_report_node *node = pm_job_report_highest(report, tier);
	bool first = true;

	if (!node)
		return;
	fprintf(out, "%-12s", word);
	for (size_t i = 0; i < node->use.n_parts; i++) {
		if (strcmp(node->use.parts[i].tier, tier) != 0 || !node->use.parts[i].peak_bytes)
			continue;
		print_part(&node->use.parts[i], first ? "" : ", ", out);
		first = false;
	}
	fprintf(out, " at most (%s)\n", node->node);
}

static void print_runtime(const struct pm_job_report *report, FILE *out)
{
	if (!report->runtime.processes)
		return;
	fprintf(out, "%-12s", "Runtime:");
	pm_runtime_reports_print(&report->runtime, out);
	fputc('\n', out);
}

/* A node that is back may have kept nothing of the job. */
static void print_lost(const struct pm_job_report *report, uint64_t all, FILE *out)
{
	const char *nodes = text(report, "nodes");

	if (all > 1)
		line(out, "Reports:",
			"of %zu of %" PRIu64 " nodes; a node failed before it could "
			"report",
			report->n_nodes, all);
	else
		line(out, "Reports:", "none: %s failed before it could report",
			*nodes ? nodes : "the node");
}

/* Nodes report after their clean-up; of a job without a mode they do not. */
static void print_missing(const struct pm_job_report *report, FILE *out)
{
	uint64_t all = number(report, "n_nodes");

	if (!pm_job_report_has_mode(report) || (report->n_nodes && report->n_nodes >= all))
		return;
	if (pm_job_report_is_elsewhere(report))
		line(out, "So far:",
			"another cluster of the federation has started the job; ask there");
	else if (pm_job_report_lost_node(report))
		print_lost(report, all, out);
	else if (!report->n_nodes)
		line(out, "So far:", "no node has reported; they do at the job's end");
	else
		line(out, "So far:",
			"of %zu of %" PRIu64 " nodes; the others report at the job's end",
			report->n_nodes, all);
}

void pm_job_report_print(const struct pm_job_report *report, uint32_t job_id,
	const struct pm_config *config, FILE *out)
{
	char sentence[PM_CAUSE_MAX];

	print_job(report, job_id, out);
	print_mode(report, out);
	print_reboots(report, out);
	print_setup(report, out);
	print_time(report, out);
	print_energy(report, out);
	print_memory(report, out);
	print_tier(report, "dram", "  DRAM:", out);
	print_tier(report, "pmem", "  PMem:", out);
	print_tier(report, "dir", "  $PM_DIR:", out);
	print_runtime(report, out);
	print_cleanup(report, out);
	print_missing(report, out);
	if (pm_job_report_cause(report, config, sentence))
		line(out, pm_job_report_is_running(report) ? "Killed:" : "Ended:", "%s", sentence);
	else if (pm_job_report_advice(report, config, sentence))
		line(out, "Try:", "%s", sentence);
}
