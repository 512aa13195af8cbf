/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/job_use.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"

static const struct pm_field part_fields[] = {
	{"tier", PM_FIELD_TEXT, PM_FIELD(struct pm_use_part, tier), .filled = true},
	{"number", PM_FIELD_U32, PM_FIELD(struct pm_use_part, number)},
	{"socket", PM_FIELD_U32, PM_FIELD(struct pm_use_part, socket)},
	{"bytes", PM_FIELD_U64, PM_FIELD(struct pm_use_part, bytes), .optional = true},
	{"peak_bytes", PM_FIELD_U64, PM_FIELD(struct pm_use_part, peak_bytes)},
	{"limit_bytes", PM_FIELD_U64, PM_FIELD(struct pm_use_part, limit_bytes), .optional = true},
	{"bad_pages", PM_FIELD_U64, PM_FIELD(struct pm_use_part, bad_pages), .optional = true},
	{"levels", PM_FIELD_NUMBERS, PM_FIELD_ENTRIES(struct pm_use_part, levels, n_levels),
		.may_lack = true},
	{0},
};

static const struct pm_field sample_fields[] = {
	{"after_s", PM_FIELD_U64, PM_FIELD(struct pm_use_sample, after_s)},
	{"dram_bytes", PM_FIELD_U64, PM_FIELD(struct pm_use_sample, dram_bytes)},
	{"pmem_bytes", PM_FIELD_U64, PM_FIELD(struct pm_use_sample, pmem_bytes), .optional = true},
	{"dir_bytes", PM_FIELD_U64, PM_FIELD(struct pm_use_sample, dir_bytes), .optional = true},
	{0},
};

const struct pm_field pm_job_use_fields[] = {
	{"job", PM_FIELD_U32, PM_FIELD(struct pm_job_use, job_id)},
	{"uid", PM_FIELD_U32, PM_FIELD(struct pm_job_use, uid)},
	{"mode", PM_FIELD_TEXT, PM_FIELD(struct pm_job_use, mode), .filled = true},
	{"run", PM_FIELD_TEXT, PM_FIELD(struct pm_job_use, run), .optional = true},
	{"begin", PM_FIELD_U64, PM_FIELD(struct pm_job_use, begin_s)},
	{"end", PM_FIELD_U64, PM_FIELD(struct pm_job_use, end_s), .optional = true},
	{"setup_ms", PM_FIELD_U64, PM_FIELD(struct pm_job_use, setup_ms)},
	{"cleanup_ms", PM_FIELD_U64, PM_FIELD(struct pm_job_use, cleanup_ms), .optional = true},
	{"memory_peak_bytes", PM_FIELD_U64, PM_FIELD(struct pm_job_use, memory_peak_bytes),
		.optional = true},
	{"memory_limit_bytes", PM_FIELD_U64, PM_FIELD(struct pm_job_use, memory_limit_bytes),
		.optional = true},
	{"oom_kills", PM_FIELD_U64, PM_FIELD(struct pm_job_use, oom_kills), .optional = true},
	{"parts", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_job_use, parts, n_parts),
		.entry = part_fields},
	{"samples", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct pm_job_use, samples, n_samples),
		.entry = sample_fields},
	{"step_s", PM_FIELD_U64, PM_FIELD(struct pm_job_use, step_s), .optional = true},
	{0},
};

struct pm_use_part *pm_job_use_part(
	struct pm_job_use *use, const char *tier, uint32_t number, uint32_t socket)
{
	struct pm_use_part *part;

	for (size_t i = 0; i < use->n_parts; i++)
		if (use->parts[i].number == number && !strcmp(use->parts[i].tier, tier))
			return &use->parts[i];
	if (use->n_parts == PM_USE_PARTS_MAX)
		return NULL;
	part = pm_list_next(&use->parts, use->n_parts, sizeof(*part));
	if (!part)
		return NULL;
	use->n_parts++;
	snprintf(part->tier, sizeof(part->tier), "%s", tier);
	part->number = number;
	part->socket = socket;
	return part;
}

uint64_t pm_job_use_now(const struct pm_job_use *use, const char *tier)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < use->n_parts; i++)
		if (!strcmp(use->parts[i].tier, tier))
			sum += use->parts[i].bytes;
	return sum;
}

uint64_t pm_job_use_peak(const struct pm_job_use *use, const char *tier)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < use->n_parts; i++)
		if (!strcmp(use->parts[i].tier, tier))
			sum += use->parts[i].peak_bytes;
	return sum;
}

static void halve_levels(struct pm_use_part *part)
{
	size_t n = (part->n_levels + 1) / 2;

	for (size_t i = 0; i < n; i++)
		part->levels[i] = part->levels[2 * i];
	part->n_levels = n;
}

static void halve(struct pm_job_use *use)
{
	for (size_t i = 0; i < use->n_samples / 2; i++)
		use->samples[i] = use->samples[2 * i];
	use->n_samples /= 2;
	use->step_s *= 2;
	for (size_t i = 0; i < use->n_parts; i++)
		halve_levels(&use->parts[i]);
}

/* A part that was not there at the first samples had nothing then. */
static void add_level(struct pm_use_part *part, size_t n_samples)
{
	while (part->n_levels < n_samples) {
		uint64_t *level = pm_list_next(&part->levels, part->n_levels, sizeof(*level));

		if (!level)
			return;
		if (++part->n_levels == n_samples)
			*level = part->bytes;
	}
}

static bool is_memory(const struct pm_use_part *part)
{
	return strcmp(part->tier, "dir") != 0;
}

static void forget_levels(struct pm_job_use *use)
{
	for (size_t i = 0; i < use->n_parts; i++)
		use->parts[i].n_levels = 0;
}

static void add_levels(struct pm_job_use *use)
{
	size_t n = 0;

	for (size_t i = 0; i < use->n_parts; i++)
		n += is_memory(&use->parts[i]);
	if (n > PM_USE_LEVELS_MAX)
		forget_levels(use);
	for (size_t i = 0; n <= PM_USE_LEVELS_MAX && i < use->n_parts; i++)
		if (is_memory(&use->parts[i]))
			add_level(&use->parts[i], use->n_samples);
}

void pm_job_use_forget_samples(struct pm_job_use *use)
{
	use->n_samples = 0;
	forget_levels(use);
}

void pm_job_use_sample(struct pm_job_use *use, uint64_t now_s)
{
	uint64_t after_s = now_s > use->begin_s ? now_s - use->begin_s : 0;
	struct pm_use_sample *sample;

	if (!use->step_s)
		use->step_s = 1;
	if (use->n_samples >= PM_USE_SAMPLES_MAX)
		halve(use);
	if (use->n_samples && after_s < use->samples[use->n_samples - 1].after_s + use->step_s)
		return;
	sample = pm_list_next(&use->samples, use->n_samples, sizeof(*sample));
	if (!sample)
		return;
	use->n_samples++;
	*sample = (struct pm_use_sample){.after_s = after_s,
		.dram_bytes = pm_job_use_now(use, "dram"),
		.pmem_bytes = pm_job_use_now(use, "pmem"),
		.dir_bytes = pm_job_use_now(use, "dir")};
	add_levels(use);
}

void pm_job_use_done(struct pm_job_use *use)
{
	pm_fields_done(pm_job_use_fields, use);
}
