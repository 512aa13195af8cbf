/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stream/intervals.h"
#include "tests/unit/tap.h"

static long long median(const struct pm_intervals *intervals, enum pm_interval_kind kind)
{
	return (long long)pm_intervals_median(intervals, kind);
}

int main(void)
{
	static const uint64_t order[] = {50, 10, 40, 20, 30, 1, 2, 3};
	struct pm_intervals intervals = {0};

	is_number(median(&intervals, PM_INTERVAL_PLACED), 0, "no interval has no median");
	for (unsigned i = 0; i < 2; i++)
		pm_intervals_add(&intervals, PM_INTERVAL_PLACED, order[i]);
	is_number(median(&intervals, PM_INTERVAL_PLACED), 10, "of two the lower one");
	for (unsigned i = 2; i < 5; i++)
		pm_intervals_add(&intervals, PM_INTERVAL_PLACED, order[i]);
	is_number(median(&intervals, PM_INTERVAL_PLACED), 30, "of five the third");
	for (unsigned i = 5; i < 8; i++)
		pm_intervals_add(&intervals, PM_INTERVAL_PLACED, order[i]);
	is_number(median(&intervals, PM_INTERVAL_PLACED), 30, "more are not kept");
	is_number(intervals.n[PM_INTERVAL_PLACED], PM_INTERVAL_SAMPLES, "nor counted");
	is_number(median(&intervals, PM_INTERVAL_STAGED), 0, "the other kind is apart");
	pm_intervals_add(&intervals, PM_INTERVAL_STAGED, 7);
	is_number(median(&intervals, PM_INTERVAL_STAGED), 7, "and has its own");
	return tap_done();
}
