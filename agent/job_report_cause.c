/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/job_report_cause.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "site/modes.h"

/* A directory is full when less than this part is free: file systems round. */
#define FULL_PART 64

/* Below this part of what it may have, a job has room in a smaller mode. */
#define FITS_PERCENT 90

__attribute__((format(printf, 2, 3))) static bool say(
	char ret[PM_CAUSE_MAX], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret, PM_CAUSE_MAX, format, args);
	va_end(args);
	return true;
}

static bool is_state(const struct pm_job_report *report, const char *state)
{
	return report->job && pm_json_is(report->job, "state", state);
}

static uint64_t number(const struct pm_job_report *report, const char *key)
{
	return report->job ? pm_json_number(report->job, key) : 0;
}

/* --- memory --- */

static const struct pm_report_node *killed_node(const struct pm_job_report *report)
{
	for (size_t i = 0; i < report->n_nodes; i++)
		if (report->nodes[i].use.oom_kills)
			return &report->nodes[i];
	return is_state(report, "OUT_OF_MEMORY") ? pm_job_report_highest(report, NULL) : NULL;
}

/* ", or --pm-mode=memory, which has 3000 GiB here", if that is more than the limit. */
static const char *larger_mode(
	const struct pm_job_use *use, const struct pm_config *config, char ret[PM_CAUSE_MAX])
{
	const struct pm_mode_info *mode = pm_mode_by_name("memory");
	uint64_t has = config->usable_memory_bytes[mode->mode];
	char size[PM_SIZE_TEXT];

	ret[0] = '\0';
	if (strcmp(use->mode, mode->name) != 0 && has > use->memory_limit_bytes)
		say(ret, ", or for --pm-mode=memory, which has %s here", pm_format_size(has, size));
	return ret;
}

static bool of_memory(
	const struct pm_job_report *report, const struct pm_config *config, char ret[PM_CAUSE_MAX])
{
	const struct pm_report_node *node = killed_node(report);
	char used[PM_SIZE_TEXT], limit[PM_SIZE_TEXT], larger[PM_CAUSE_MAX];

	if (!node)
		return is_state(report, "OUT_OF_MEMORY") &&
		       say(ret, "out of memory; ask for more with --mem");
	if (!node->use.memory_limit_bytes)
		return say(ret,
			"out of memory on %s: %s were in use, all that the node has in mode %s%s",
			node->node, pm_format_size(node->use.memory_peak_bytes, used),
			node->use.mode, larger_mode(&node->use, config, larger));
	return say(ret, "out of memory on %s: %s of %s were in use; ask for more with --mem%s",
		node->node, pm_format_size(node->use.memory_peak_bytes, used),
		pm_format_size(node->use.memory_limit_bytes, limit),
		larger_mode(&node->use, config, larger));
}

/* --- space --- */

static bool is_full(const struct pm_use_part *part)
{
	return !strcmp(part->tier, "dir") && part->limit_bytes &&
	       part->peak_bytes >= part->limit_bytes - part->limit_bytes / FULL_PART;
}

static bool of_space(const struct pm_job_report *report, char ret[PM_CAUSE_MAX])
{
	char used[PM_SIZE_TEXT], limit[PM_SIZE_TEXT];

	for (size_t i = 0; i < report->n_nodes; i++)
		for (size_t k = 0; k < report->nodes[i].use.n_parts; k++) {
			const struct pm_use_part *part = &report->nodes[i].use.parts[k];

			if (is_full(part))
				return say(ret,
					"$PM_DIR%u, on socket %u of %s, was full: %s of %s; ask "
					"for more with --pm-size",
					(unsigned)part->number, (unsigned)part->socket,
					report->nodes[i].node,
					pm_format_size(part->peak_bytes, used),
					pm_format_size(part->limit_bytes, limit));
		}
	return false;
}

/* --- the rest --- */

static const struct pm_use_part *bad_part(
	const struct pm_job_report *report, const struct pm_report_node **ret_node)
{
	for (size_t i = 0; i < report->n_nodes; i++)
		for (size_t k = 0; k < report->nodes[i].use.n_parts; k++) {
			*ret_node = &report->nodes[i];
			if (report->nodes[i].use.parts[k].bad_pages)
				return &report->nodes[i].use.parts[k];
		}
	return NULL;
}

/* "$PM_DIR0 (persistent memory)" */
static const char *tier_of(const struct pm_use_part *part, char ret[PM_CAUSE_MAX])
{
	if (!strcmp(part->tier, "dir"))
		say(ret, "$PM_DIR%u (persistent memory)", (unsigned)part->number);
	else
		say(ret, "%s", strcmp(part->tier, "pmem") != 0 ? "DRAM" : "persistent memory");
	return ret;
}

static bool of_signal(const struct pm_job_report *report, char ret[PM_CAUSE_MAX])
{
	const struct pm_report_node *node;
	const struct pm_use_part *bad = bad_part(report, &node);
	char tier[PM_CAUSE_MAX];

	/* A shell reports a signal of its child as 128 and the number. */
	if (number(report, "signal") != SIGBUS && number(report, "exit_status") != 128 + SIGBUS)
		return false;
	if (bad)
		return say(ret,
			"ended by SIGBUS: a page of %s on socket %u of %s is bad; submit the job "
			"again with --exclude=%s, and tell your administrators",
			tier_of(bad, tier), (unsigned)bad->socket, node->node, node->node);
	return say(ret,
		"ended by SIGBUS: no node reports a bad page, so most likely a mapped file became "
		"shorter than its mapping; look which files the program maps");
}

static uint64_t longest_setup_s(const struct pm_job_report *report)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < report->n_nodes; i++)
		if (report->nodes[i].use.setup_ms > longest)
			longest = report->nodes[i].use.setup_ms;
	return longest / 1000;
}

static uint64_t setup_end_s(const struct pm_job_use *use)
{
	return use->begin_s + use->setup_ms / 1000;
}

/* The job starts when this one is set up; NULL: none has reported. */
static const struct pm_report_node *last_set_up(const struct pm_job_report *report)
{
	const struct pm_report_node *last = NULL;

	for (size_t i = 0; i < report->n_nodes; i++)
		if (!last || setup_end_s(&report->nodes[i].use) > setup_end_s(&last->use))
			last = &report->nodes[i];
	return last;
}

static bool of_time(const struct pm_job_report *report, char ret[PM_CAUSE_MAX])
{
	uint64_t limit_s = number(report, "time_limit_s"), end_s = number(report, "end");
	const struct pm_report_node *node;

	if (!is_state(report, "TIMEOUT"))
		return false;
	node = last_set_up(report);
	if (!node)
		return say(ret,
			"the time limit of %" PRIu64
			" s passed, and no node has told how long its set-up took; ask for more "
			"with --time",
			limit_s);
	if (end_s && end_s <= setup_end_s(&node->use))
		return say(ret,
			"the time limit of %" PRIu64 " s passed before %s was set up, which took "
			"%" PRIu64 " s; ask for more with --time: the set-up is part of the job's "
			"time",
			limit_s, node->node, node->use.setup_ms / 1000);
	return say(ret,
		"the time limit of %" PRIu64
		" s passed, in which the set-up of the nodes took up to "
		"%" PRIu64 " s; ask for more with --time",
		limit_s, longest_setup_s(report));
}

/* Slurm does not say which one; the others report. */
static bool of_lost_node(const struct pm_job_report *report, char ret[PM_CAUSE_MAX])
{
	const char *nodes = pm_json_text(report->job, "nodes");
	bool one = *nodes && !strpbrk(nodes, ",[");

	if (!one)
		return say(ret,
			"Slurm lost one of the nodes%s%s: its power, its network or its slurmd "
			"failed; 'pmctl cluster --problems' names it; submit the job again, with "
			"--requeue to have Slurm do that",
			*nodes ? " " : "", nodes);
	return say(ret,
		"Slurm lost %s: its power, its network or its slurmd failed; submit the job again "
		"with --exclude=%s, or with --requeue to have Slurm do that",
		nodes, nodes);
}

static bool of_node(const struct pm_job_report *report, char ret[PM_CAUSE_MAX])
{
	if (is_state(report, "BOOT_FAIL") || report->failed)
		return say(ret,
			"%u of the nodes did not come back from the reboot in the mode; 'pmctl "
			"cluster --problems' names them",
			report->failed ? report->failed : 1);
	return pm_job_report_lost_node(report) && of_lost_node(report, ret);
}

bool pm_job_report_cause(
	const struct pm_job_report *report, const struct pm_config *config, char ret[PM_CAUSE_MAX])
{
	if (is_state(report, "COMPLETED") || is_state(report, "PENDING") ||
		pm_job_report_is_elsewhere(report))
		return false;
	if (is_state(report, "RUNNING"))
		return killed_node(report) && of_memory(report, config, ret);
	return of_memory(report, config, ret) || of_space(report, ret) || of_signal(report, ret) ||
	       of_time(report, ret) || of_node(report, ret);
}

/* --- advice --- */

/* Memory Mode for what DRAM alone would hold. */
static bool fits_dram(
	const struct pm_job_report *report, const struct pm_config *config, char ret[PM_CAUSE_MAX])
{
	const struct pm_report_node *node = pm_job_report_highest(report, NULL);
	const struct pm_mode_info *smaller = pm_mode_by_name("appdirect");
	uint64_t has = config->usable_memory_bytes[smaller->mode];
	char used[PM_SIZE_TEXT], size[PM_SIZE_TEXT];

	if (!node || strcmp(node->use.mode, "memory") != 0 ||
		node->use.memory_peak_bytes > has / 100 * FITS_PERCENT)
		return false;
	return say(ret, "--pm-mode=appdirect: %s at most were in use, its DRAM is %s%s",
		pm_format_size(node->use.memory_peak_bytes, used), pm_format_size(has, size),
		report->reboots ? ", and nodes need not reboot if they are in it" : "");
}

static bool is_unused(const struct pm_job_report *report, const char *mode, const char *tier)
{
	for (size_t i = 0; i < report->n_nodes; i++)
		if (strcmp(report->nodes[i].use.mode, mode) != 0 ||
			pm_job_use_peak(&report->nodes[i].use, tier))
			return false;
	return report->n_nodes > 0;
}

static bool has_part(const struct pm_job_report *report, const char *tier)
{
	for (size_t i = 0; i < report->n_nodes; i++)
		for (size_t k = 0; k < report->nodes[i].use.n_parts; k++)
			if (!strcmp(report->nodes[i].use.parts[k].tier, tier))
				return true;
	return false;
}

bool pm_job_report_advice(
	const struct pm_job_report *report, const struct pm_config *config, char ret[PM_CAUSE_MAX])
{
	if (fits_dram(report, config, ret))
		return true;
	if (has_part(report, "dir") && is_unused(report, "appdirect", "dir"))
		return say(ret,
			"no --pm-mode: nothing was written to $PM_DIR, and DRAM held the rest");
	if (has_part(report, "pmem") && is_unused(report, "flat", "pmem"))
		return say(ret, "no --pm-mode: no page was on persistent memory");
	return false;
}
