/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cluster_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/drain_cause.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "site/modes.h"

#define MODES_MAX 64
#define TIME_MAX  32

/* The modes that share a feature: "appdirect, flat"; "none" for no feature. */
static const char *modes_of(const char *feature, char ret[MODES_MAX])
{
	size_t length = 0;

	snprintf(ret, MODES_MAX, "none");
	pm_mode_foreach(row)
		if (!strcmp(row->feature, feature) && length < MODES_MAX)
			length += (size_t)snprintf(ret + length, MODES_MAX - length, "%s%s",
				length ? ", " : "", row->name);
	return ret;
}

static const char *local_time(uint64_t seconds, char ret[TIME_MAX])
{
	time_t at = (time_t)seconds;
	struct tm parts;

	if (!localtime_r(&at, &parts) || !strftime(ret, TIME_MAX, "%Y-%m-%d %H:%M", &parts))
		snprintf(ret, TIME_MAX, "-");
	return ret;
}

/* --- by mode --- */

static const char *size_or_dash(uint64_t bytes, char ret[PM_SIZE_TEXT])
{
	if (bytes)
		return pm_format_size(bytes, ret);
	return strcpy(ret, "-");
}

static const char *seconds_or_dash(uint64_t seconds, char ret[TIME_MAX])
{
	snprintf(ret, TIME_MAX, seconds ? "%" PRIu64 " s" : "-", seconds);
	return ret;
}

static void print_mode(const struct pm_config *config, const json_object *row)
{
	const struct pm_mode_info *mode = pm_mode_by_feature(pm_json_text(row, "feature"));
	uint64_t memory = mode ? config->usable_memory_bytes[mode->mode] : 0;
	uint64_t pmem = mode && mode->substate ? config->usable_pmem_bytes : 0;
	char modes[MODES_MAX], reboot[TIME_MAX], sizes[2][PM_SIZE_TEXT];

	printf("%-16s %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %10" PRIu64 " %6" PRIu64 " %6" PRIu64
	       " %13" PRIu64 " %8s %10s %12s\n",
		modes_of(pm_json_text(row, "feature"), modes), pm_json_number(row, "nodes"),
		pm_json_number(row, "idle"), pm_json_number(row, "busy"),
		pm_json_number(row, "rebooting"), pm_json_number(row, "out"),
		pm_json_number(row, "could"), pm_json_number(row, "jobs"),
		seconds_or_dash(pm_json_number(row, "reboot_s"), reboot),
		size_or_dash(memory, sizes[0]), size_or_dash(pmem, sizes[1]));
}

void pm_print_cluster_modes(const struct pm_config *config, json_object *list)
{
	printf("%-16s %6s %6s %6s %10s %6s %6s %13s %8s %10s %12s\n", "MODE", "NODES", "IDLE",
		"BUSY", "REBOOTING", "OUT", "COULD", "JOBS WAITING", "REBOOT", "MEMORY",
		"PMEM/SOCKET");
	for (size_t i = 0; i < json_object_array_length(list); i++)
		print_mode(config, json_object_array_get_idx(list, i));
}

/* --- by node --- */

static void print_reboot(const json_object *row)
{
	char at[TIME_MAX];

	if (!pm_json_number(row, "start"))
		return;
	printf("  %s: %s to %s, %" PRIu64 " s", local_time(pm_json_number(row, "start"), at),
		pm_mode_name_of_feature(pm_json_text(row, "from")),
		pm_mode_name_of_feature(pm_json_text(row, "to")), pm_json_number(row, "seconds"));
	if (*pm_json_text(row, "failure"))
		printf(", FAILED: %s", pm_json_text(row, "failure"));
}

static void print_node(const json_object *row)
{
	const char *substate = pm_json_text(row, "substate");

	printf("%-16s %-10s %-9s %-10s %7" PRIu64 " %6" PRIu64, pm_json_text(row, "node"),
		pm_mode_name_of_feature(pm_json_text(row, "feature")), *substate ? substate : "-",
		pm_json_text(row, "state"), pm_json_number(row, "reboots"),
		pm_json_number(row, "failures"));
	print_reboot(row);
	putchar('\n');
}

void pm_print_cluster_nodes(json_object *list)
{
	printf("%-16s %-10s %-9s %-10s %7s %6s  %s\n", "NODE", "MODE", "SUB-STATE", "STATE",
		"REBOOTS", "FAILED", "LAST REBOOT");
	for (size_t i = 0; i < json_object_array_length(list); i++)
		print_node(json_object_array_get_idx(list, i));
}

/* --- nodes that do not serve --- */

static bool is_problem(const json_object *row)
{
	return !strcmp(pm_json_text(row, "state"), "out") ||
	       (!*pm_json_text(row, "feature") &&
		       strcmp(pm_json_text(row, "state"), "rebooting") != 0);
}

/* A node without a time is told last. */
static int oldest_first(const void *a, const void *b)
{
	uint64_t x = pm_json_number(*(json_object *const *)a, "since") - 1;
	uint64_t y = pm_json_number(*(json_object *const *)b, "since") - 1;

	return (x > y) - (x < y);
}

/* "jobs on it: 17, 18" */
static void print_jobs(const json_object *row, const char *key, const char *label)
{
	json_object *list;

	if (!json_object_object_get_ex(row, key, &list) ||
		!json_object_is_type(list, json_type_array))
		return;
	printf("  %s: ", label);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		printf("%s%" PRId64, i ? ", " : "",
			json_object_get_int64(json_object_array_get_idx(list, i)));
	putchar('\n');
}

static void print_affected(const json_object *row)
{
	print_jobs(row, "running", "jobs on it");
	print_jobs(row, "waiting", "jobs that require it");
	print_jobs(row, "turned_away", "jobs that it has turned away");
	if (pm_json_number(row, "more"))
		printf("  further jobs: %" PRIu64 "\n", pm_json_number(row, "more"));
}

static void print_failure(const json_object *row)
{
	if (!*pm_json_text(row, "failure"))
		return;
	printf("  last reboot: %s", pm_json_text(row, "failure"));
	if (pm_json_number(row, "job"))
		printf(", for job %" PRIu64, pm_json_number(row, "job"));
	putchar('\n');
}

/* In another mode than that with the most memory a node has less than slurm.conf says. */
static void print_next(const char *node, const char *reason)
{
	if (!strcmp(pm_drain_cause(reason), "low_memory"))
		puts("  slurmctld up to 24.11 may misread node_reg_mem_percent; then "
		     "pm-reregister.timer on the controller resumes the node within a minute\n"
		     "  next, if it does not: on the controller systemctl status "
		     "pm-reregister.timer");
	else
		printf("  next: ssh %s pmctl health; when that prints nothing: scontrol update "
		       "NodeName=%s State=RESUME\n",
			node, node);
}

static void print_problem(const json_object *row)
{
	const char *node = pm_json_text(row, "node"), *reason = pm_json_text(row, "reason");
	char at[TIME_MAX];

	printf("%s", node);
	if (pm_json_number(row, "since"))
		printf(", since %s", local_time(pm_json_number(row, "since"), at));
	printf(": %s\n", *reason ? reason
			 : *pm_json_text(row, "feature")
				 ? "Slurm has no reason for it"
				 : "none of its active features is a mode's");
	print_failure(row);
	if (*pm_json_text(row, "comment"))
		printf("  in the way of other modes: %s\n", pm_json_text(row, "comment"));
	print_affected(row);
	print_next(node, reason);
}

void pm_print_cluster_problems(json_object *list)
{
	size_t n = json_object_array_length(list), found = 0;
	cleanup_free json_object **rows = calloc(n + 1, sizeof(*rows));

	if (!rows)
		return;
	for (size_t i = 0; i < n; i++) {
		json_object *row = json_object_array_get_idx(list, i);

		if (is_problem(row))
			rows[found++] = row;
	}
	if (found)
		qsort(rows, found, sizeof(*rows), oldest_first);
	for (size_t i = 0; i < found; i++)
		print_problem(rows[i]);
	if (!found)
		puts("all nodes that have modes serve");
}
