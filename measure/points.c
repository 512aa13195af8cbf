/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/points.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"

/* --- the list --- */

struct listing {
	struct pm_points *points;
	const struct pm_effort *effort;
	int socket;
	unsigned n_sockets, n_cpus;
	bool has_dax, is_memory_mode, has_beyond, failed;
};

static void list_point(struct listing *listing, struct pm_point point)
{
	struct pm_points *points = listing->points;
	struct pm_point *next = pm_list_next(&points->list, points->n, sizeof(*next));

	if (!next) {
		listing->failed = true;
		return;
	}
	points->n++;
	point.socket = listing->socket;
	*next = point;
}

/* The number of threads after `n`: 1, 2, 3, 4, 6, 8, 12, 16, ..., and all CPUs; 0 after these. */
static unsigned more_threads(unsigned n, unsigned n_cpus, unsigned nth)
{
	unsigned power = 1;

	while (power * 2 <= n)
		power *= 2;
	n += power >= 4 ? power / 2 : 1;
	if (n >= n_cpus || nth == PM_CURVE_POINTS - 1)
		return n_cpus;
	return n;
}

/* Each number of threads that divides into `groups` alike. */
static void list_curve(struct listing *listing, struct pm_point point, unsigned groups)
{
	unsigned threads = 0;

	for (unsigned nth = 0; threads < listing->n_cpus; nth++) {
		threads = more_threads(threads, listing->n_cpus, nth);
		point.threads = threads;
		if (threads % groups == 0)
			list_point(listing, point);
	}
}

static void list_copies(struct listing *listing)
{
	list_curve(listing, (struct pm_point){.what = PM_CURVE_COPY_IN}, 1);
	list_curve(listing, (struct pm_point){.what = PM_CURVE_COPY_OUT}, 1);
	list_curve(listing, (struct pm_point){.what = PM_CURVE_BOTH_IN}, 2);
}

static bool is_there(const struct listing *listing, enum pm_measured_place place)
{
	if (listing->is_memory_mode)
		return place == PM_PLACE_MEMORY ||
		       (place == PM_PLACE_MEMORY_LARGE && listing->has_beyond);
	if (place == PM_PLACE_REMOTE_DRAM || place == PM_PLACE_REMOTE_PMEM)
		return listing->n_sockets > 1 && listing->socket != PM_ALL_SOCKETS;
	if (place == PM_PLACE_PERSIST_END || place == PM_PLACE_PERSIST_WRITE)
		return listing->has_dax;
	return place != PM_PLACE_MEMORY && place != PM_PLACE_MEMORY_LARGE;
}

static bool is_of_stream(unsigned loop)
{
	return loop == PM_LOOP_COPY || loop == PM_LOOP_SCALE || loop == PM_LOOP_ADD ||
	       loop == PM_LOOP_TRIAD;
}

/*
 * Only STREAM reads and writes different memories, makes bytes persistent, or goes through more
 * than the DRAM that caches.
 */
static bool is_for_stream(unsigned place)
{
	return place == PM_PLACE_READ_PMEM || place == PM_PLACE_WRITE_PMEM ||
	       place == PM_PLACE_PERSIST_END || place == PM_PLACE_PERSIST_WRITE ||
	       place == PM_PLACE_MEMORY_LARGE;
}

/* Paper 004 prints STREAM with all cores, paper 002 its loops over threads. */
static void list_loops(struct listing *listing)
{
	for (unsigned place = 0; place < PM_PLACES; place++)
		for (unsigned loop = 0; loop < PM_LOOPS; loop++) {
			struct pm_point point = {.kind = PM_POINT_LOOP,
				.what = loop,
				.place = place,
				.threads = listing->n_cpus};

			if (!is_there(listing, place))
				continue;
			if (is_of_stream(loop))
				list_point(listing, point);
			else if (!is_for_stream(place) && listing->effort->all_cores_only)
				list_point(listing, point);
			else if (!is_for_stream(place))
				list_curve(listing, point, 1);
		}
}

static void list_latencies(struct listing *listing)
{
	static const struct {
		enum pm_measured_value value;
		enum pm_measured_place place;
		bool is_loaded;
	} latencies[] = {
		{PM_VALUE_DRAM_RANDOM, PM_PLACE_DRAM, false},
		{PM_VALUE_PMEM_RANDOM, PM_PLACE_PMEM, false},
		{PM_VALUE_REMOTE_DRAM_RANDOM, PM_PLACE_REMOTE_DRAM, false},
		{PM_VALUE_REMOTE_PMEM_RANDOM, PM_PLACE_REMOTE_PMEM, false},
		{PM_VALUE_DRAM_LOADED, PM_PLACE_DRAM, true},
		{PM_VALUE_PMEM_LOADED, PM_PLACE_PMEM, true},
	};

	for (size_t i = 0; i < sizeof(latencies) / sizeof(latencies[0]); i++)
		if (is_there(listing, latencies[i].place) &&
			(!latencies[i].is_loaded || listing->n_cpus > 1))
			list_point(listing,
				(struct pm_point){.kind = PM_POINT_LATENCY,
					.what = latencies[i].value,
					.place = latencies[i].place,
					.threads = latencies[i].is_loaded ? listing->n_cpus : 1});
}

static void list_all_sockets(struct listing *listing, unsigned threads)
{
	listing->socket = PM_ALL_SOCKETS;
	for (unsigned place = 0; place < PM_PLACES; place++)
		for (unsigned loop = 0; loop < PM_LOOPS; loop++)
			if (is_there(listing, place) && is_of_stream(loop))
				list_point(listing, (struct pm_point){.kind = PM_POINT_LOOP,
							    .what = loop,
							    .place = place,
							    .threads = threads});
}

int pm_points_list(const struct pm_calibrate_socket *sockets, unsigned n_sockets, bool has_dax,
	const struct pm_effort *effort, struct pm_points *ret, struct pm_err *err)
{
	struct pm_points points = {0};
	struct listing listing = {.points = &points,
		.effort = effort,
		.n_sockets = n_sockets,
		.has_dax = has_dax,
		.is_memory_mode = sockets->is_memory_mode,
		.has_beyond = sockets->beyond_bytes > 0};
	unsigned threads = 0;

	for (unsigned i = 0; i < n_sockets; i++) {
		listing.socket = (int)i;
		listing.n_cpus = sockets[i].n_cpus;
		threads += sockets[i].n_cpus;
		if (!listing.is_memory_mode)
			list_copies(&listing);
		list_loops(&listing);
		list_latencies(&listing);
	}
	if (n_sockets > 1)
		list_all_sockets(&listing, threads);
	if (listing.failed) {
		free(points.list);
		return pm_err_nomem(err);
	}
	*ret = points;
	return 0;
}

/* --- as text --- */

void pm_point_text(const struct pm_point *point, const struct pm_calibrate_socket *sockets,
	char *ret, size_t size)
{
	char where[32] = "all sockets", what[64];

	if (point->socket != PM_ALL_SOCKETS)
		snprintf(where, sizeof(where), "socket %u", sockets[point->socket].number);
	if (point->kind == PM_POINT_COPY)
		snprintf(what, sizeof(what), "%s", pm_measured_curve_name(point->what));
	else if (point->kind == PM_POINT_LATENCY)
		snprintf(what, sizeof(what), "%s", pm_measured_value_name(point->what));
	else
		snprintf(what, sizeof(what), "%s at %s", pm_measured_loop_name(point->what),
			pm_measured_place_name(point->place));
	snprintf(ret, size, "%s, %s with %u threads", where, what, point->threads);
}
