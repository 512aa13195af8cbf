/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "model/curve.h"
#include "tests/unit/tap.h"

static const struct {
	const char *name;
	struct pm_curve curve;
	enum pm_curve_defect defect;
	unsigned point;
} curves[] = {
	{"no points", {0}, PM_CURVE_SOUND, 99},
	{"one point", {1, {{1, 5e9}}}, PM_CURVE_SOUND, 99},
	{"a plateau", {3, {{1, 5e9}, {2, 5e9}, {8, 5e9}}}, PM_CURVE_SOUND, 99},
	{"17 points", {17, {{1, 5e9}}}, PM_CURVE_TOO_MANY, 16},
	{"0 threads", {1, {{0, 5e9}}}, PM_CURVE_THREADS, 0},
	{"half a thread", {1, {{0.5, 5e9}}}, PM_CURVE_THREADS, 0},
	{"threads twice", {2, {{1, 5e9}, {1, 6e9}}}, PM_CURVE_THREADS, 1},
	{"threads in another order", {3, {{1, 5e9}, {4, 6e9}, {2, 7e9}}}, PM_CURVE_THREADS, 2},
	{"threads are not a number", {1, {{NAN, 5e9}}}, PM_CURVE_THREADS, 0},
	{"infinite threads", {1, {{INFINITY, 5e9}}}, PM_CURVE_THREADS, 0},
	{"no bandwidth", {2, {{1, 5e9}, {2, 0}}}, PM_CURVE_BANDWIDTH, 1},
	{"negative bandwidth", {1, {{1, -5e9}}}, PM_CURVE_BANDWIDTH, 0},
	{"bandwidth is not a number", {1, {{1, NAN}}}, PM_CURVE_BANDWIDTH, 0},
	{"infinite bandwidth", {1, {{1, INFINITY}}}, PM_CURVE_BANDWIDTH, 0},
	{"a falling curve", {3, {{1, 5e9}, {4, 9e9}, {8, 8e9}}}, PM_CURVE_FALLS, 2},
};

static void test_defects(void)
{
	FOR_EACH(row, curves)
	{
		unsigned point = 99;

		is_number(pm_curve_check(&row->curve, &point), row->defect, row->name);
		is_number(point, row->point, "its point");
	}
}

static const struct {
	double threads, gigabytes;
} values[] = {{0, 0}, {-1, 0}, {1, 2}, {2, 4}, {3, 5}, {4, 6}, {6, 7}, {8, 8}, {9, 8}, {1000, 8}};

static void test_values(void)
{
	static const struct pm_curve curve = {3, {{2, 4e9}, {4, 6e9}, {8, 8e9}}}, none = {0};

	FOR_EACH(row, values)
	is_number((long long)pm_curve_at(&curve, row->threads), (long long)(row->gigabytes * 1e9),
		"bandwidth by threads");
	is_number((long long)pm_curve_at(&none, 2), 0, "of a curve that was not measured");
	ok(!(pm_curve_at(&curve, NAN) > 8e9), "threads that are not a number gain nothing");
}

int main(void)
{
	test_defects();
	test_values();
	return tap_done();
}
