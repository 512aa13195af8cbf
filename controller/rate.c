/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/rate.h"

static size_t place_of(struct pm_rate *rate, uint64_t key)
{
	size_t oldest = 0;

	for (size_t i = 0; i < PM_RATE_PEERS; i++) {
		if (rate->peers[i].at_ms && rate->peers[i].key == key)
			return i;
		if (rate->peers[i].at_ms < rate->peers[oldest].at_ms)
			oldest = i;
	}
	rate->peers[oldest].key = key;
	rate->peers[oldest].at_ms = 0;
	return oldest;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

bool pm_rate_allows(struct pm_rate *rate, uint64_t key, uint64_t now_ms)
{
	size_t at = place_of(rate, key);
	uint64_t last_ms = rate->peers[at].at_ms;
	double left = PM_RATE_BURST;

	if (last_ms)
		left = least(left, rate->peers[at].left +
					   (double)(now_ms - last_ms) * PM_RATE_PER_SECOND / 1000);
	rate->peers[at].at_ms = now_ms;
	rate->peers[at].left = left < 1 ? left : left - 1;
	return left >= 1;
}
