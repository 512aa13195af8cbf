/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/store.h"
#include "base/timestamp.h"

#define TEXT(key_, member_)                                                                        \
	{                                                                                          \
		key_, PM_FIELD_TEXT, PM_FIELD(struct pm_record, member_)                           \
	}
#define NUMBER(key_, member_)                                                                      \
	{                                                                                          \
		key_, PM_FIELD_U64, PM_FIELD(struct pm_record, member_)                            \
	}

static const struct pm_field fields[] = {
	{"platform", PM_FIELD_NAME, PM_FIELD(struct pm_record, verdict.platform),
		.name = pm_platform_name, .last = PM_PLATFORM_MIXED},
	TEXT("why", verdict.why),
	TEXT("time", time),
	TEXT("boot_id", kernel.boot_id),
	NUMBER("mem_total_bytes", kernel.mem_total_bytes),
	NUMBER("n_regions", kernel.n_regions),
	NUMBER("region_bytes", kernel.region_bytes),
	NUMBER("n_flat_regions", kernel.n_flat_regions),
	NUMBER("flat_bytes", kernel.flat_bytes),
	NUMBER("side_cache_bytes", kernel.side_cache_bytes),
	TEXT("allowed_volatile_mode", capabilities.allowed_volatile_mode),
	TEXT("current_volatile_mode", capabilities.current_volatile_mode),
	NUMBER("alignment_bytes", capabilities.alignment_bytes),
	{0},
};

/* The kernel's numbers that cannot change until the next boot. */
static const struct pm_field fixed[] = {
	{"n_regions", PM_FIELD_U64, PM_FIELD(struct pm_kernel, n_regions)},
	{"region_bytes", PM_FIELD_U64, PM_FIELD(struct pm_kernel, region_bytes)},
	{"side_cache_bytes", PM_FIELD_U64, PM_FIELD(struct pm_kernel, side_cache_bytes)},
	{0},
};

static uint64_t get_number(const struct pm_kernel *kernel, const struct pm_field *number)
{
	return *(const uint64_t *)((const char *)kernel + number->offset);
}

static const struct pm_store store = {
	.what = "a record of the mode",
	.version = 2,
	.mode = 0644,
	.max_bytes = 64 * 1024,
	.is_ours = true,
	.size = sizeof(struct pm_record),
	.fields = fields,
};

int pm_record_write(const char *path, const struct pm_record *record, struct pm_err *err)
{
	struct pm_record now = *record;

	pm_timestamp(now.time);
	return pm_store_write(&store, path, &now, err);
}

/*
 * The sentence of the store asks an administrator to save the file; that is pointless for a mode
 * record, which is written anew at each boot.
 */
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
	for (const struct pm_field *number = fixed; number->key; number++) {
		old = get_number(then, number);
		new = get_number(now, number);
		if (old != new)
			return differs(number->key, old, new, err);
	}
	return 0;
}
