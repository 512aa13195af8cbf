/* SPDX-License-Identifier: Apache-2.0 */
#include "model/curve.h"

#include <math.h>
#include <stddef.h>

static enum pm_curve_defect check_point(
	const struct pm_curve_point *point, const struct pm_curve_point *before)
{
	if (!isfinite(point->threads) || point->threads < 1 ||
		(before && point->threads <= before->threads))
		return PM_CURVE_THREADS;
	if (!isfinite(point->bytes_per_s) || point->bytes_per_s <= 0)
		return PM_CURVE_BANDWIDTH;
	return before && point->bytes_per_s < before->bytes_per_s ? PM_CURVE_FALLS : PM_CURVE_SOUND;
}

enum pm_curve_defect pm_curve_check(const struct pm_curve *curve, unsigned *ret_point)
{
	if (curve->n > PM_CURVE_POINTS) {
		*ret_point = PM_CURVE_POINTS;
		return PM_CURVE_TOO_MANY;
	}
	for (unsigned i = 0; i < curve->n; i++) {
		enum pm_curve_defect defect =
			check_point(&curve->points[i], i ? &curve->points[i - 1] : NULL);

		if (defect) {
			*ret_point = i;
			return defect;
		}
	}
	return PM_CURVE_SOUND;
}

static double between(
	const struct pm_curve_point *low, const struct pm_curve_point *high, double threads)
{
	double part = (threads - low->threads) / (high->threads - low->threads);

	return low->bytes_per_s + part * (high->bytes_per_s - low->bytes_per_s);
}

double pm_curve_at(const struct pm_curve *curve, double threads)
{
	struct pm_curve_point low = {0};

	for (unsigned i = 0; i < curve->n; i++) {
		if (threads <= curve->points[i].threads)
			return between(&low, &curve->points[i], threads > 0 ? threads : 0);
		low = curve->points[i];
	}
	return low.bytes_per_s;
}
