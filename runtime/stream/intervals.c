/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stream/intervals.h"

void pm_intervals_add(struct pm_intervals *intervals, enum pm_interval_kind kind, uint64_t ns)
{
	uint64_t *sorted = intervals->ns[kind];
	unsigned at = intervals->n[kind];

	if (at >= PM_INTERVAL_SAMPLES)
		return;
	for (; at && sorted[at - 1] > ns; at--)
		sorted[at] = sorted[at - 1];
	sorted[at] = ns;
	intervals->n[kind]++;
}

uint64_t pm_intervals_median(const struct pm_intervals *intervals, enum pm_interval_kind kind)
{
	unsigned n = intervals->n[kind];

	return n ? intervals->ns[kind][(n - 1) / 2] : 0;
}
