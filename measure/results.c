/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/results.h"

#include <stdio.h>

#include "base/list.h"

/* --- rows --- */

static bool has_threads(const struct pm_site_curve_point *points, size_t n, unsigned threads)
{
	for (size_t i = 0; i < n; i++)
		if (points[i].threads == threads)
			return true;
	return false;
}

static int append(struct pm_site_curve_point **points, size_t *n, unsigned threads,
	const struct pm_measure *measure, struct pm_err *err)
{
	struct pm_site_curve_point *next = pm_list_next(points, *n, sizeof(*next));

	if (!next)
		return pm_err_nomem(err);
	++*n;
	*next = (struct pm_site_curve_point){threads, *measure};
	return 0;
}

/* --- points --- */

static bool curve_has(const struct pm_site_socket *socket, const struct pm_point *point)
{
	const struct pm_site_curve *curve = pm_site_socket_curve(socket, point->what);

	return curve && has_threads(curve->points, curve->n_points, point->threads);
}

static bool loops_have(const struct pm_site_loop *loops, size_t n, const struct pm_point *point)
{
	const struct pm_site_loop *loop = pm_site_loop(loops, n, point->what, point->place);

	return loop && has_threads(loop->points, loop->n_points, point->threads);
}

bool pm_results_have(const struct pm_site_profile *profile, const struct pm_point *point,
	const struct pm_calibrate_socket *sockets)
{
	const struct pm_site_socket *socket;

	if (point->socket == PM_ALL_SOCKETS)
		return loops_have(profile->loops, profile->n_loops, point);
	socket = pm_site_profile_socket(profile, sockets[point->socket].number);
	if (!socket)
		return false;
	if (point->kind == PM_POINT_COPY)
		return curve_has(socket, point);
	if (point->kind == PM_POINT_LOOP)
		return loops_have(socket->loops, socket->n_loops, point);
	return pm_site_socket_value(socket, point->what);
}

static int add_to_curve(struct pm_site_socket *socket, unsigned name, unsigned threads,
	const struct pm_measure *measure, struct pm_err *err)
{
	struct pm_site_curve *curve = pm_site_socket_add_curve(socket, name);

	if (!curve)
		return pm_err_nomem(err);
	if (curve->n_points && measure->value < curve->points[curve->n_points - 1].measure.value)
		return 0;
	return append(&curve->points, &curve->n_points, threads, measure, err);
}

static int add_to_loop(struct pm_site_loop *loop, unsigned threads,
	const struct pm_measure *measure, struct pm_err *err)
{
	return loop ? append(&loop->points, &loop->n_points, threads, measure, err)
		    : pm_err_nomem(err);
}

static int add_copy(struct pm_site_socket *socket, const struct pm_point *point,
	const struct pm_measure *measures, struct pm_err *err)
{
	int rc = add_to_curve(socket, point->what, point->threads, &measures[0], err);

	if (rc || point->what != PM_CURVE_BOTH_IN)
		return rc;
	return add_to_curve(socket, PM_CURVE_BOTH_OUT, point->threads, &measures[1], err);
}

int pm_results_add(struct pm_site_profile *profile, const struct pm_point *point,
	const struct pm_calibrate_socket *sockets, const struct pm_measure *measures,
	struct pm_err *err)
{
	struct pm_site_socket *socket;

	if (!measures->value)
		return 0;
	if (point->socket == PM_ALL_SOCKETS)
		return add_to_loop(pm_site_add_loop(&profile->loops, &profile->n_loops, point->what,
					   point->place),
			point->threads, measures, err);
	socket = pm_site_profile_add_socket(profile, sockets[point->socket].number);
	if (!socket)
		return pm_err_nomem(err);
	if (point->kind == PM_POINT_COPY)
		return add_copy(socket, point, measures, err);
	if (point->kind == PM_POINT_LATENCY)
		return pm_site_socket_set_value(socket, point->what, measures, err);
	return add_to_loop(
		pm_site_add_loop(&socket->loops, &socket->n_loops, point->what, point->place),
		point->threads, measures, err);
}

/* --- peaks --- */

static const struct pm_measure *largest(const struct pm_site_curve_point *points, size_t n)
{
	const struct pm_measure *most = NULL;

	for (size_t i = 0; i < n; i++)
		if (!most || points[i].measure.value > most->value)
			most = &points[i].measure;
	return most;
}

static int add_peak(struct pm_site_socket *socket, unsigned value,
	const struct pm_site_curve_point *points, size_t n, const char *of, struct pm_err *err)
{
	struct pm_measure peak;

	if (!n || pm_site_socket_value(socket, value))
		return 0;
	peak = *largest(points, n);
	snprintf(peak.from, sizeof(peak.from), "largest point of %s", of);
	return pm_site_socket_set_value(socket, value, &peak, err);
}

static int add_copy_peak(
	struct pm_site_socket *socket, unsigned value, unsigned name, struct pm_err *err)
{
	const struct pm_site_curve *curve = pm_site_socket_curve(socket, name);

	return curve ? add_peak(socket, value, curve->points, curve->n_points,
			       pm_measured_curve_name(name), err)
		     : 0;
}

static int add_loop_peak(struct pm_site_socket *socket, unsigned value, unsigned name,
	unsigned place, struct pm_err *err)
{
	const struct pm_site_loop *loop = pm_site_loop(socket->loops, socket->n_loops, name, place);
	char of[64];

	if (!loop)
		return 0;
	snprintf(of, sizeof(of), "%s at %s", pm_measured_loop_name(name),
		pm_measured_place_name(place));
	return add_peak(socket, value, loop->points, loop->n_points, of, err);
}

static int add_peaks(struct pm_site_socket *socket, struct pm_err *err)
{
	int rc = add_copy_peak(socket, PM_VALUE_PEAK_IN, PM_CURVE_COPY_IN, err);

	if (!rc)
		rc = add_copy_peak(socket, PM_VALUE_PEAK_OUT, PM_CURVE_COPY_OUT, err);
	if (!rc)
		rc = add_loop_peak(socket, PM_VALUE_DRAM_READ, PM_LOOP_READ, PM_PLACE_DRAM, err);
	if (!rc)
		rc = add_loop_peak(socket, PM_VALUE_DRAM_WRITE, PM_LOOP_WRITE, PM_PLACE_DRAM, err);
	if (!rc)
		rc = add_loop_peak(socket, PM_VALUE_PMEM_READ, PM_LOOP_READ, PM_PLACE_PMEM, err);
	return rc ? rc
		  : add_loop_peak(socket, PM_VALUE_PMEM_WRITE, PM_LOOP_WRITE, PM_PLACE_PMEM, err);
}

int pm_results_add_peaks(struct pm_site_profile *profile, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < profile->n_sockets; i++)
		rc = add_peaks(&profile->sockets[i], err);
	return rc;
}
