/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SAMPLING_H
#define PM_SAMPLING_H

/* Runs that are repeated until their median is known well enough. */
#include <stdbool.h>
#include <stddef.h>

#include "site/site_profile.h"

#define PM_SAMPLED_MAX 2 /* numbers of a run */

/* How long and how well. */
struct pm_effort {
	unsigned runs_min, runs_max; /* of a point: until its estimate is narrow; at most 100 */
	double narrow;		     /* width of the median's interval, as a part of it */
	double seconds;		     /* of a run */
	size_t bytes;		     /* of an area, where there is room for it */
	bool all_cores_only;	     /* loops are not measured with fewer threads */
};

extern const struct pm_effort pm_effort_full, pm_effort_quick;

/*
 * Calls `run` until each of its n numbers is known, and puts their medians into ret[0] to ret[n -
 * 1]; `from` says if an interval is still wide. Errors of `run`.
 */
int pm_sample(const struct pm_effort *effort, unsigned n,
	int (*run)(void *context, double *ret, struct pm_err *err), void *context,
	struct pm_measure *ret, struct pm_err *err);

#endif
