/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/estimate.h"

#include <stdlib.h>

#define TAIL	 0.025
#define RUNS_MIN 6 /* 0.5^6 is below TAIL, 0.5^5 is not */

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Largest k with P(B(n, 1/2) < k) <= TAIL; 0 for fewer than RUNS_MIN. */
static unsigned rank_of_bound(unsigned n)
{
	double probability = 1, below = 0;
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++)
		probability /= 2;
	while (below + probability <= TAIL) {
		below += probability;
		probability = probability * (n - k) / (k + 1);
		k++;
	}
	return k;
}

static double median_of(const double *sorted, unsigned n)
{
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

struct pm_estimate pm_estimate(double *samples, unsigned n)
{
	unsigned k = rank_of_bound(n);

	qsort(samples, n, sizeof(*samples), compare);
	k = k ? k : 1;
	return (struct pm_estimate){.median = median_of(samples, n),
		.low = samples[k - 1],
		.high = samples[n - k],
		.n = n};
}

bool pm_estimate_is_narrow(const struct pm_estimate *estimate, double part)
{
	return estimate->n >= RUNS_MIN && estimate->high - estimate->low <= part * estimate->median;
}
