/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/estimate.h"
#include "tests/unit/tap.h"

/* Ranks of the bounds as tables of the sign test have them: 95 % intervals of the median. */
static const struct {
	unsigned n, low, high;
} ranks[] = {{1, 1, 1}, {2, 1, 2}, {5, 1, 5}, {6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {10, 2, 9},
	{12, 3, 10}, {15, 4, 12}, {20, 6, 15}, {25, 8, 18}, {30, 10, 21}, {50, 18, 33},
	{100, 40, 61}};

static void test_ranks(void)
{
	FOR_EACH(row, ranks)
	{
		double samples[100];
		struct pm_estimate estimate;

		for (unsigned i = 0; i < row->n; i++)
			samples[i] =
				1 + (i * 37) % row->n; /* 1 to n, in disorder where 37 allows */
		estimate = pm_estimate(samples, row->n);
		is_number((long long)estimate.low, row->low, "low");
		is_number((long long)estimate.high, row->high, "high");
		is_number((long long)(2 * estimate.median), row->n + 1, "twice the median");
	}
}

static void test_narrow(void)
{
	double same[6] = {5, 5, 5, 5, 5, 5}, wide[6] = {4, 5, 5, 5, 5, 6};
	struct pm_estimate estimate = pm_estimate(same, 6);

	ok(pm_estimate_is_narrow(&estimate, 0.01), "six equal runs");
	estimate = pm_estimate(wide, 6);
	ok(!pm_estimate_is_narrow(&estimate, 0.39), "2 of 5 is more than 39 %%");
	ok(pm_estimate_is_narrow(&estimate, 0.41), "and less than 41 %%");
	estimate = pm_estimate(same, 5);
	ok(!pm_estimate_is_narrow(&estimate, 1), "five runs are too few");
}

int main(void)
{
	test_ranks();
	test_narrow();
	return tap_done();
}
