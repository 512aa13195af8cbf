/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RESULTS_H
#define PM_RESULTS_H

/* The points of a calibration in its profile. */
#include "measure/points.h"

/* The profile has the point already. */
bool pm_results_have(const struct pm_site_profile *profile, const struct pm_point *point,
	const struct pm_calibrate_socket *sockets);

/*
 * Adds a point with its measures, two for BOTH_IN. A point of a copy curve with less bandwidth than
 * one with fewer threads is left out: such curves end at their peak. -ENOMEM.
 */
int pm_results_add(struct pm_site_profile *profile, const struct pm_point *point,
	const struct pm_calibrate_socket *sockets, const struct pm_measure *measures,
	struct pm_err *err);

/* Adds the peaks of the copy curves and of reading and writing, which are their largest points.
 * -ENOMEM. */
int pm_results_add_peaks(struct pm_site_profile *profile, struct pm_err *err);

#endif
