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
	test_parts();
	return tap_done();
}
