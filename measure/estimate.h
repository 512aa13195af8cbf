/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ESTIMATE_H
#define PM_ESTIMATE_H

/* The median of a few runs, and how well it is known. No distribution is assumed. */
#include <stdbool.h>

struct pm_estimate {
	double median;
	double low, high; /* of the median's confidence interval, at least 95 %; of 5 runs or fewer,
			   * for which there is none: the least and the greatest */
	unsigned n;
};

/*
 * Of n samples, at least 1, which are sorted in place. The bounds are the k-th least and the k-th
 * greatest sample, with the largest k for which the binomial distribution of n tosses has at most
 * 2.5 % below k.
 */
struct pm_estimate pm_estimate(double *samples, unsigned n);

/* True: the interval is at most `part` of the median wide; never of 5 runs or fewer. */
bool pm_estimate_is_narrow(const struct pm_estimate *estimate, double part);

#endif
