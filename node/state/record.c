/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/store.h"
#include "base/timestamp.h"

/* The kernel's numbers by the names they have in the file; those that stay as they are until the
 * next boot. */
static const struct number {
	const char *key;
	size_t offset;
	bool is_fixed;
} numbers[] = {
	{"mem_total_bytes", offsetof(struct pm_kernel, mem_total_bytes), false},
	{"n_regions", offsetof(struct pm_kernel, n_regions), true},
	{"region_bytes", offsetof(struct pm_kernel, region_bytes), true},
	{"n_flat_regions", offsetof(struct pm_kernel, n_flat_regions), false},
	{"flat_bytes", offsetof(struct pm_kernel, flat_bytes), false},
	{"side_cache_bytes", offsetof(struct pm_kernel, side_cache_bytes), true},
};

#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static uint64_t get_number(const struct pm_kernel *kernel, const struct number *number)
{
	return *(const uint64_t *)((const char *)kernel + number->offset);
}

static void format(const void *from, json_object *root)
{
	const struct pm_record *record = from;
	const struct pm_capabilities *caps = &record->capabilities;
	char now[32];

	pm_timestamp(now);
	pm_json_add_string(root, "platform", pm_platform_name(record->verdict.platform));
	pm_json_add_string(root, "why", record->verdict.why);
	pm_json_add_string(root, "time", now);
	pm_json_add_string(root, "boot_id", record->kernel.boot_id);
	for (size_t i = 0; i < N_NUMBERS; i++)
		pm_json_add_u64(root, numbers[i].key, get_number(&record->kernel, &numbers[i]));
	pm_json_add_string(root, "allowed_volatile_mode", caps->allowed_volatile_mode);
	pm_json_add_string(root, "current_volatile_mode", caps->current_volatile_mode);
	pm_json_add_u64(root, "alignment_bytes", caps->alignment_bytes);
}

static bool read_capabilities(const json_object *root, struct pm_capabilities *caps)
{
	return pm_json_copy(root, "allowed_volatile_mode", caps->allowed_volatile_mode,
		       sizeof(caps->allowed_volatile_mode)) &&
	       pm_json_copy(root, "current_volatile_mode", caps->current_volatile_mode,
		       sizeof(caps->current_volatile_mode)) &&
	       !pm_json_u64(root, "alignment_bytes", &caps->alignment_bytes);
}

static bool read_object(const json_object *root, void *into)
{
	struct pm_record *record = into;
	const char *name = pm_json_string(root, "platform");
	enum pm_platform platform = pm_platform_by_name(name);

	if (!name || strcmp(name, pm_platform_name(platform)))
		return false;
	record->verdict.platform = platform;
	for (size_t i = 0; i < N_NUMBERS; i++)
		if (pm_json_u64(root, numbers[i].key,
			    (uint64_t *)((char *)&record->kernel + numbers[i].offset)))
			return false;
	return read_capabilities(root, &record->capabilities) &&
	       pm_json_copy(root, "why", record->verdict.why, sizeof(record->verdict.why)) &&
	       pm_json_copy(root, "time", record->time, sizeof(record->time)) &&
	       pm_json_copy(
		       root, "boot_id", record->kernel.boot_id, sizeof(record->kernel.boot_id));
}

static const struct pm_store store = {
	.what = "a record of the mode",
	.version = 2,
	.mode = 0644,
	.max_bytes = 64 * 1024,
	.is_ours = true,
	.size = sizeof(struct pm_record),
	.read = read_object,
	.format = format,
};

int pm_record_write(const char *path, const struct pm_record *record, struct pm_err *err)
{
	return pm_store_write(&store, path, record, err);
}

/* The store's sentence asks to look at a file that cannot be made again: this one is, each boot. */
int pm_record_read(const char *path, struct pm_record *ret, struct pm_err *err)
{
	int rc = pm_store_read(&store, path, ret, err);

	return rc == -EBADMSG ? pm_err_set(err, rc, "read '%s': not a record of the mode", path)
			      : rc;
}

static bool is_near(uint64_t then, uint64_t now, bool may_grow)
{
	uint64_t slack = then / 100;

	return now + slack >= then && (may_grow || now <= then + slack);
}

static int differs(const char *what, uint64_t then, uint64_t now, struct pm_err *err)
{
	return pm_err_set(err, -ESTALE, "the record says %s %llu, the kernel %llu", what,
		(unsigned long long)then, (unsigned long long)now);
}

int pm_record_check(const struct pm_record *record, const struct pm_kernel *now, struct pm_err *err)
{
	const struct pm_kernel *then = &record->kernel;
	uint64_t old = pm_kernel_boot_memory(then), new = pm_kernel_boot_memory(now);

	if (strcmp(then->boot_id, now->boot_id))
		return pm_err_set(err, -ESTALE, "the record is of an earlier boot");
	if (!is_near(old, new, record->verdict.platform == PM_PLATFORM_APPDIRECT))
		return differs("mem_total_bytes", old, new, err);
	for (size_t i = 0; i < N_NUMBERS; i++) {
		if (!numbers[i].is_fixed)
			continue;
		old = get_number(then, &numbers[i]);
		new = get_number(now, &numbers[i]);
		if (old != new)
			return differs(numbers[i].key, old, new, err);
	}
	return 0;
}
