/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MODEL_CURVE_H
#define PM_MODEL_CURVE_H

/*
 * Bandwidth of a copy as a function of the number of threads that copy: BW(Thrd_cp) in equations 1
 * and 4 of paper 000.
 */
#include <stdbool.h>

#define PM_CURVE_POINTS 16 /* at most */

struct pm_curve_point {
	double threads;	    /* at least 1 */
	double bytes_per_s; /* of all these threads together, above 0 */
};

/* Without points: not measured. */
struct pm_curve {
	unsigned n;
	struct pm_curve_point points[PM_CURVE_POINTS];
};

/* Defects of a curve, each of a point: the first that is found. */
enum pm_curve_defect {
	PM_CURVE_SOUND,
	PM_CURVE_TOO_MANY,  /* points */
	PM_CURVE_THREADS,   /* below 1, not a number, or not more than those of the point before */
	PM_CURVE_BANDWIDTH, /* 0, negative or not a number */
	PM_CURVE_FALLS,	    /* below the point before: the curve ends at its peak */
};

/* *ret_point: index of the point with the defect; untouched for a sound curve. */
enum pm_curve_defect pm_curve_check(const struct pm_curve *curve, unsigned *ret_point);

/*
 * Bytes per second with that many threads: between two points on the line between them, below the
 * first on the line from 0, above the last the last. So no value exceeds a measured one. 0 for 0
 * threads and for a curve without points.
 */
double pm_curve_at(const struct pm_curve *curve, double threads);

#endif
