/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/top_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/columns.h"
#include "base/units.h"

static void add_size(struct pm_columns *columns, uint64_t bytes)
{
	char size[PM_SIZE_TEXT];

	pm_columns_add(columns, "%s", bytes ? pm_format_size(bytes, size) : "-");
}

/* "DRAM, socket 0", "PMem, socket 0", "$PM_DIR0, socket 0". */
static void add_part(struct pm_columns *columns, const char *node, const json_object *part)
{
	const char *tier = pm_json_text(part, "tier");

	pm_columns_add(columns, "%s", node);
	if (!strcmp(tier, "dir"))
		pm_columns_add(columns, "$PM_DIR%" PRIu64 ", socket %" PRIu64,
			pm_json_number(part, "number"), pm_json_number(part, "socket"));
	else
		pm_columns_add(columns, "%s, socket %" PRIu64,
			!strcmp(tier, "pmem") ? "PMem" : "DRAM", pm_json_number(part, "socket"));
	add_size(columns, pm_json_number(part, "bytes"));
	add_size(columns, pm_json_number(part, "limit_bytes"));
	pm_columns_add(columns, "%s", "");
}

static void add_rank(struct pm_columns *columns, const char *node, const json_object *rank)
{
	const char *step = pm_json_text(rank, "step");

	pm_columns_add(columns, "%s", node);
	if (step[0] >= '0' && step[0] <= '9')
		pm_columns_add(
			columns, "step %s, rank %" PRIu64, step, pm_json_number(rank, "rank"));
	else
		pm_columns_add(columns, "%s", step);
	add_size(columns, pm_json_number(rank, "dram_bytes"));
	add_size(columns, pm_json_number(rank, "budget_bytes"));
	add_size(columns, pm_json_number(rank, "pmem_bytes"));
}

static void add_memory(struct pm_columns *columns, const json_object *node)
{
	pm_columns_add(columns, "%s", pm_json_text(node, "node"));
	pm_columns_add(columns, "%s", "job, highest");
	add_size(columns, pm_json_number(node, "memory_peak_bytes"));
	add_size(columns, pm_json_number(node, "memory_limit_bytes"));
	pm_columns_add(columns, "%s", "");
}

static void add_node(struct pm_columns *columns, json_object *node)
{
	json_object *list;

	add_memory(columns, node);
	if (json_object_object_get_ex(node, "parts", &list))
		for (size_t i = 0; i < json_object_array_length(list); i++)
			add_part(columns, pm_json_text(node, "node"),
				json_object_array_get_idx(list, i));
	if (json_object_object_get_ex(node, "ranks", &list))
		for (size_t i = 0; i < json_object_array_length(list); i++)
			add_rank(columns, pm_json_text(node, "node"),
				json_object_array_get_idx(list, i));
}

void pm_top_print(json_object *nodes)
{
	struct pm_columns columns = {0};

	pm_columns_head(&columns, "NODE", false);
	pm_columns_head(&columns, "OF", false);
	pm_columns_head(&columns, "USED", true);
	pm_columns_head(&columns, "BUDGET", true);
	pm_columns_head(&columns, "PMEM", true);
	for (size_t i = 0; i < json_object_array_length(nodes); i++)
		add_node(&columns, json_object_array_get_idx(nodes, i));
	(void)pm_columns_print(&columns, stdout);
}
