/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/reboot_sums.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "controller/page.h"

struct item {
	char uid[12];
	const char *name; /* of an account or a partition; NULL: `uid`, "" for none */
	const struct pm_reboot *reboot;
};

static const char *name_of(const struct item *item)
{
	return item->name ? item->name : item->uid;
}

/* Those without a name come last: a page cannot begin behind such a row. */
static int compare(const void *a, const void *b)
{
	const char *x = name_of(a), *y = name_of(b);

	return *x && *y ? strcmp(x, y) : !*x - !*y;
}

static struct item item_of(const struct pm_reboot *reboot, enum pm_reboots_by by)
{
	struct item item = {.reboot = reboot};

	if (by == PM_BY_USER && reboot->job_id)
		snprintf(item.uid, sizeof(item.uid), "%" PRIu32, reboot->uid);
	else if (by == PM_BY_ACCOUNT)
		item.name = reboot->account;
	else if (by == PM_BY_PARTITION)
		item.name = reboot->partition;
	return item;
}

static bool is_wanted(const struct item *item, const struct pm_message *request, const uid_t *only)
{
	const struct pm_reboot *reboot = item->reboot;

	if (reboot->start_s < request->since_s)
		return false;
	if (only && (!reboot->job_id || reboot->uid != *only))
		return false;
	return !request->after || !*name_of(item) || strcmp(name_of(item), request->after) > 0;
}

static uint64_t seconds_of(const struct pm_reboot *reboot, uint64_t now_s)
{
	uint64_t end_s = reboot->end_s ? reboot->end_s : now_s;

	return end_s > reboot->start_s ? end_s - reboot->start_s : 0;
}

/* The sums of the items with the first one's name; *ret_n is their number. */
static json_object *sum_of(const struct item *items, size_t n, uint64_t now_s, size_t *ret_n)
{
	json_object *row = json_object_new_object();
	const char *name = name_of(items);
	uint64_t failed = 0, seconds = 0;
	size_t i = 0;

	for (; i < n && !strcmp(name_of(&items[i]), name); i++) {
		failed += items[i].reboot->failure != NULL;
		seconds += seconds_of(items[i].reboot, now_s);
	}
	*ret_n = i;
	if (!row)
		return NULL;
	pm_json_add_string(row, "name", *name ? name : NULL);
	pm_json_add_u64(row, "reboots", i);
	pm_json_add_u64(row, "failed", failed);
	pm_json_add_u64(row, "seconds", seconds);
	return row;
}

json_object *pm_reboot_sums(const struct pm_reboots *reboots, const struct pm_message *request,
	const uid_t *only, uint64_t now_s)
{
	cleanup_free struct item *items = calloc(reboots->n + 1, sizeof(*items));
	json_object *list = items ? json_object_new_array() : NULL;
	size_t n = 0, bytes = 0, same;

	for (size_t i = 0; list && i < reboots->n; i++) {
		items[n] = item_of(&reboots->list[i], request->by);
		n += is_wanted(&items[n], request, only);
	}
	if (n)
		qsort(items, n, sizeof(*items), compare);
	for (size_t i = 0; i < n; i += same)
		if (!pm_page_add(list, sum_of(&items[i], n - i, now_s, &same), &bytes))
			break;
	return list;
}
