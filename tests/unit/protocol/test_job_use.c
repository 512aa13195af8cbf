/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "protocol/job_use.h"
#include "tests/unit/tap.h"

static void test_samples(void)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {.begin_s = 1000};
	size_t i;

	pm_job_use_part(&use, "dram", 0, 0)->bytes = 4096;
	for (i = 0; i < PM_USE_SAMPLES_MAX; i++)
		pm_job_use_sample(&use, 1000 + i);
	is_number((long long)use.n_samples, PM_USE_SAMPLES_MAX, "a point each second");
	pm_job_use_sample(&use, 1000 + i);
	is_number(
		(long long)use.n_samples, PM_USE_SAMPLES_MAX / 2 + 1, "half of them, and the next");
	is_number((long long)use.step_s, 2, "two seconds apart");
	is_number((long long)use.samples[1].after_s, 2, "the second one");
	is_number((long long)use.samples[1].dram_bytes, 4096, "its memory");
	pm_job_use_sample(&use, 1000 + i + 1);
	is_number((long long)use.n_samples, PM_USE_SAMPLES_MAX / 2 + 1, "too soon for another");
}

/* Of a part that is there from the begin, and of one that appears at the second sample. */
static void test_levels(void)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {.begin_s = 1000};
	struct pm_use_part *late;
	size_t i;

	pm_job_use_part(&use, "dram", 0, 0);
	for (i = 0; i < PM_USE_SAMPLES_MAX; i++) {
		pm_job_use_part(&use, "dram", 0, 0)->bytes = i;
		if (i)
			pm_job_use_part(&use, "pmem", 2, 0)->bytes = 10 * i;
		pm_job_use_sample(&use, 1000 + i);
	}
	late = pm_job_use_part(&use, "pmem", 2, 0);
	is_number((long long)late->n_levels, PM_USE_SAMPLES_MAX, "a level for each point");
	is_number((long long)late->levels[0], 0, "nothing before it was there");
	is_number((long long)late->levels[3], 30, "and its bytes later");
	pm_job_use_sample(&use, 1000 + i);
	is_number((long long)use.parts[0].n_levels, (long long)use.n_samples, "halved as they are");
	is_number((long long)use.parts[0].levels[3], 6, "the same ones are kept");
	pm_job_use_forget_samples(&use);
	is_number((long long)(use.n_samples + use.parts[0].n_levels + use.parts[1].n_levels), 0,
		"and forgotten with them");
}

/* What a node sends of a long job is within a page of pm-controller's reply, controller/page.c. */
static void test_size(void)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {.begin_s = 1000};
	cleanup_with(pm_json_cleanup) json_object *object = json_object_new_object();

	for (unsigned part = 0; part < PM_USE_LEVELS_MAX; part++)
		pm_job_use_part(&use, "dram", part, part)->bytes = UINT64_C(9) << 40;
	for (unsigned part = 0; part < PM_USE_LEVELS_MAX; part++)
		pm_job_use_part(&use, "dir", part, part)->bytes = UINT64_C(9) << 40;
	for (size_t i = 0; i < PM_USE_SAMPLES_MAX; i++)
		pm_job_use_sample(&use, 1000 + i);
	pm_fields_format(pm_job_use_fields, &use, object);
	ok(strlen(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN)) < 43000,
		"a message holds it");
	is_number((long long)pm_job_use_part(&use, "dir", 0, 0)->n_levels, 0,
		"directories have no levels");
	pm_job_use_part(&use, "pmem", 9, 0);
	pm_job_use_sample(&use, 2000);
	is_number((long long)use.parts[0].n_levels, 0, "nor has memory of too many NUMA nodes");
}

static void test_parts(void)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {0};
	unsigned n = 0;

	pm_job_use_part(&use, "dram", 0, 0)->peak_bytes = 1;
	pm_job_use_part(&use, "dram", 1, 1)->peak_bytes = 2;
	pm_job_use_part(&use, "pmem", 2, 0)->peak_bytes = 4;
	ok(pm_job_use_part(&use, "dram", 1, 1)->peak_bytes == 2, "a part is found again");
	is_number((long long)pm_job_use_peak(&use, "dram"), 3, "the sum of a tier");
	while (pm_job_use_part(&use, "dir", n, 0))
		n++;
	is_number((long long)use.n_parts, PM_USE_PARTS_MAX, "no more than that");
}

int main(void)
{
	test_samples();
	test_levels();
	test_size();
	test_parts();
	return tap_done();
}
