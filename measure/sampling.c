/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/sampling.h"

#include <stdio.h>

#include "measure/estimate.h"

#define RUNS_MAX 100

const struct pm_effort pm_effort_full = {
	.runs_min = 10, .runs_max = 60, .narrow = 0.02, .seconds = 0.1, .bytes = (size_t)1 << 30};
const struct pm_effort pm_effort_quick = {.runs_min = 10,
	.runs_max = 10,
	.narrow = 0.05,
	.seconds = 0.01,
	.bytes = (size_t)256 << 20,
	.all_cores_only = true};

static struct pm_measure as_measure(const struct pm_estimate *estimate, double narrow)
{
	struct pm_measure measure = {.value = (uint64_t)estimate->median,
		.low = (uint64_t)estimate->low,
		.high = (uint64_t)estimate->high,
		.samples = estimate->n};

	if (!pm_estimate_is_narrow(estimate, narrow))
		snprintf(measure.from, sizeof(measure.from),
			"interval wider than %.0f %% after %u runs", narrow * 100, estimate->n);
	return measure;
}

/* True: all intervals are narrow. */
static bool judge(const struct pm_effort *effort, double samples[][RUNS_MAX], unsigned n,
	unsigned runs, struct pm_measure *ret)
{
	bool all_narrow = true;

	for (unsigned i = 0; i < n; i++) {
		struct pm_estimate estimate = pm_estimate(samples[i], runs);

		ret[i] = as_measure(&estimate, effort->narrow);
		all_narrow = all_narrow && pm_estimate_is_narrow(&estimate, effort->narrow);
	}
	return all_narrow;
}

int pm_sample(const struct pm_effort *effort, unsigned n,
	int (*run)(void *context, double *ret, struct pm_err *err), void *context,
	struct pm_measure *ret, struct pm_err *err)
{
	double samples[PM_SAMPLED_MAX][RUNS_MAX], numbers[PM_SAMPLED_MAX];

	for (unsigned runs = 0; runs < effort->runs_max;) {
		int rc = run(context, numbers, err);

		if (rc)
			return rc;
		for (unsigned i = 0; i < n; i++)
			samples[i][runs] = numbers[i];
		if (++runs >= effort->runs_min && judge(effort, samples, n, runs, ret))
			return 0;
	}
	return 0;
}
