/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cluster_reboots.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>

#include "base/columns.h"
#include "base/units.h"

static const char *const counts[] = {"reboots", "failed", "seconds"};

#define N_COUNTS (sizeof(counts) / sizeof(counts[0]))

/* The service sends uids, so that it never waits for a name service. */
static void add_user(json_object *row)
{
	const char *name = pm_json_string(row, "name");
	const struct passwd *user;
	uint64_t uid;

	if (!name || pm_parse_u64(name, &uid))
		return;
	pm_json_add_u64(row, "uid", uid);
	user = getpwuid((uid_t)uid);
	if (user)
		pm_json_add_string(row, "name", user->pw_name);
}

static int most_first(const void *a, const void *b)
{
	uint64_t x = pm_json_number(*(json_object *const *)a, "seconds");
	uint64_t y = pm_json_number(*(json_object *const *)b, "seconds");

	return (x < y) - (x > y);
}

static void add_total(json_object *root, json_object *rows)
{
	json_object *total = pm_json_add_object(root, "total");

	for (size_t count = 0; count < N_COUNTS; count++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < json_object_array_length(rows); i++)
			sum += pm_json_number(json_object_array_get_idx(rows, i), counts[count]);
		pm_json_add_u64(total, counts[count], sum);
	}
}

json_object *pm_cluster_reboots(json_object *rows, const struct pm_message *request)
{
	json_object *root = json_object_new_object();

	for (size_t i = 0; request->by == PM_BY_USER && i < json_object_array_length(rows); i++)
		add_user(json_object_array_get_idx(rows, i));
	json_object_array_sort(rows, most_first);
	pm_json_add_u64(root, "version", 1);
	pm_json_add_string(root, "by", pm_reboots_by_names[request->by]);
	pm_json_add_u64(root, "since", request->since_s);
	json_object_object_add(root, "reboots", json_object_get(rows));
	add_total(root, rows);
	return root;
}

static void add_row(struct pm_columns *columns, const char *name, const json_object *row)
{
	pm_columns_add(columns, "%s", name ? name : "-");
	pm_columns_add(columns, "%" PRIu64, pm_json_number(row, "reboots"));
	pm_columns_add(columns, "%" PRIu64, pm_json_number(row, "failed"));
	pm_columns_add(columns, "%.2f", (double)pm_json_number(row, "seconds") / 3600);
}

void pm_print_cluster_reboots(const json_object *root, enum pm_reboots_by by)
{
	static const char *const heads[PM_BY_MAX] = {[PM_BY_USER] = "USER",
		[PM_BY_ACCOUNT] = "ACCOUNT",
		[PM_BY_PARTITION] = "PARTITION"};
	struct pm_columns columns = {0};
	json_object *rows = NULL, *total = NULL;

	json_object_object_get_ex(root, "reboots", &rows);
	json_object_object_get_ex(root, "total", &total);
	pm_columns_head(&columns, heads[by], /* right= */ false);
	pm_columns_head(&columns, "REBOOTS", /* right= */ true);
	pm_columns_head(&columns, "FAILED", /* right= */ true);
	pm_columns_head(&columns, "NODE-HOURS", /* right= */ true);
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		const json_object *row = json_object_array_get_idx(rows, i);

		add_row(&columns, pm_json_string(row, "name"), row);
	}
	add_row(&columns, "total", total);
	(void)pm_columns_print(&columns, stdout);
}
