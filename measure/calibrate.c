/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/calibrate.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "measure/chasing.h"
#include "measure/copying.h"
#include "measure/results.h"

#define CHAIN_BYTES  ((size_t)256 << 20) /* far beyond any cache of a processor */
#define PASS_SECONDS 1.0		 /* of a run that is not measured */

/* The areas of a socket. Those of DRAM and of persistent memory have the same size. */
struct areas {
	struct pm_area dram, pmem, beyond;
};

struct calibration {
	const struct pm_calibrate_socket *sockets;
	unsigned n_sockets;
	const struct pm_effort *effort;
	struct areas *areas;
};

/* --- areas --- */

/* A quarter of the room there is, at most: a job's limit and the kernel need theirs. */
static size_t size_for(const struct pm_effort *effort, const struct pm_calibrate_socket *socket)
{
	size_t least = socket->n_cpus * PM_COPYING_PART_MIN, bytes = effort->bytes;
	size_t rooms[] = {pm_area_room(&socket->dram),
		socket->is_memory_mode ? 0 : pm_area_room(&socket->pmem)};

	for (unsigned i = 0; i < 2; i++)
		if (rooms[i] && rooms[i] / 4 < bytes)
			bytes = rooms[i] / 4;
	bytes = bytes / PM_COPYING_PART_MIN * PM_COPYING_PART_MIN;
	return bytes > least ? bytes : least;
}

static int make_areas(struct calibration *c, struct pm_err *err)
{
	for (unsigned i = 0; i < c->n_sockets; i++) {
		const struct pm_calibrate_socket *socket = &c->sockets[i];
		size_t bytes = size_for(c->effort, socket);
		int rc = pm_area_make(&socket->dram, bytes, &c->areas[i].dram, err);

		if (!rc && !socket->is_memory_mode)
			rc = pm_area_make(&socket->pmem, bytes, &c->areas[i].pmem, err);
		if (!rc && socket->beyond_bytes)
			rc = pm_area_make(
				&socket->dram, socket->beyond_bytes, &c->areas[i].beyond, err);
		if (rc)
			return pm_err_prefix(err, "socket %u", socket->number);
	}
	return 0;
}

static void release_areas(struct calibration *c)
{
	for (unsigned i = 0; c->areas && i < c->n_sockets; i++) {
		pm_area_done(&c->areas[i].dram);
		pm_area_done(&c->areas[i].pmem);
		pm_area_done(&c->areas[i].beyond);
	}
	free(c->areas);
}

static bool all_dax(const struct calibration *c)
{
	for (unsigned i = 0; i < c->n_sockets; i++)
		if (!c->areas[i].pmem.is_dax)
			return false;
	return true;
}

/* Whose memory `place` is, seen from socket `i`. */
static unsigned socket_at(const struct calibration *c, unsigned i, enum pm_measured_place place)
{
	bool is_remote = place == PM_PLACE_REMOTE_DRAM || place == PM_PLACE_REMOTE_PMEM;

	return is_remote ? (i + 1) % c->n_sockets : i;
}

static const struct pm_area *written_area(
	const struct calibration *c, unsigned i, enum pm_measured_place place)
{
	const struct areas *areas = &c->areas[socket_at(c, i, place)];
	bool is_dram = place == PM_PLACE_DRAM || place == PM_PLACE_REMOTE_DRAM ||
		       place == PM_PLACE_READ_PMEM || place == PM_PLACE_MEMORY;

	if (place == PM_PLACE_MEMORY_LARGE)
		return &areas->beyond;
	return is_dram ? &areas->dram : &areas->pmem;
}

static const struct pm_area *read_area(
	const struct calibration *c, unsigned i, enum pm_measured_place place)
{
	const struct areas *areas = &c->areas[socket_at(c, i, place)];

	if (place == PM_PLACE_READ_PMEM)
		return &areas->pmem;
	return place == PM_PLACE_WRITE_PMEM ? &areas->dram : written_area(c, i, place);
}

/* --- copies --- */

static int run_copies(void *context, double *ret, struct pm_err *err)
{
	return pm_copying_run(context, &ret[0], &ret[1], err);
}

static int measure_copy(const struct calibration *c, const struct pm_point *point,
	struct pm_measure *ret, struct pm_err *err)
{
	const struct areas *areas = &c->areas[point->socket];
	struct pm_copying run = {areas->dram, areas->pmem, c->sockets[point->socket].cpus,
		.seconds = c->effort->seconds};
	struct pm_measure measures[PM_SAMPLED_MAX] = {0};
	bool is_both = point->what == PM_CURVE_BOTH_IN;
	int rc;

	run.n_in = is_both			     ? point->threads / 2
		   : point->what == PM_CURVE_COPY_IN ? point->threads
						     : 0;
	run.n_out = point->threads - run.n_in;
	rc = pm_sample(c->effort, PM_SAMPLED_MAX, run_copies, &run, measures, err);
	ret[0] = run.n_in ? measures[0] : measures[1];
	ret[1] = measures[1];
	return rc;
}

/* --- loops --- */

/* The part of thread t of the n threads of socket i. */
static struct pm_looping_part part_of(const struct calibration *c, unsigned i,
	enum pm_measured_place place, unsigned t, unsigned n)
{
	const struct pm_area *to = written_area(c, i, place), *from = read_area(c, i, place);
	size_t bytes = to->bytes / n / PM_COPYING_PART_MIN * PM_COPYING_PART_MIN;

	return (struct pm_looping_part){
		c->sockets[i].cpus[t], to->at + t * bytes, from->at + t * bytes, bytes, 0};
}

/* The parts of threads `first` to n - 1 of n. */
static void divide(const struct calibration *c, unsigned i, enum pm_measured_place place,
	unsigned first, unsigned n, struct pm_looping_part *ret)
{
	for (unsigned t = first; t < n; t++)
		ret[t - first] = part_of(c, i, place, t, n);
}

static unsigned divide_all(
	const struct calibration *c, const struct pm_point *point, struct pm_looping_part *ret)
{
	unsigned n = 0;

	if (point->socket != PM_ALL_SOCKETS) {
		divide(c, (unsigned)point->socket, point->place, 0, point->threads, ret);
		return point->threads;
	}
	for (unsigned i = 0; i < c->n_sockets; i++) {
		divide(c, i, point->place, 0, c->sockets[i].n_cpus, ret + n);
		n += c->sockets[i].n_cpus;
	}
	return n;
}

static enum pm_persist persist_at(enum pm_measured_place place)
{
	if (place == PM_PLACE_PERSIST_END)
		return PM_PERSIST_END;
	return place == PM_PLACE_PERSIST_WRITE ? PM_PERSIST_WRITE : PM_PERSIST_NEVER;
}

static int run_loop(void *context, double *ret, struct pm_err *err)
{
	return pm_looping_run(context, ret, err);
}

/*
 * One pass through all of the arrays. After it the DRAM that caches has the lines that the loop
 * leaves there, not those of the loop before.
 */
static int pass_once(struct pm_looping *run, struct pm_err *err)
{
	double seconds = run->seconds, ignored;
	int rc = 0;

	run->seconds = PASS_SECONDS;
	while (!rc && !pm_looping_has_passed(run))
		rc = pm_looping_run(run, &ignored, err);
	run->seconds = seconds;
	return rc;
}

static int measure_loop(const struct calibration *c, const struct pm_point *point,
	struct pm_measure *ret, struct pm_err *err)
{
	int rc = 0;
	cleanup_free struct pm_looping_part *parts = calloc(point->threads, sizeof(*parts));
	struct pm_looping run = {.loop = point->what,
		.persist = persist_at(point->place),
		.parts = parts,
		.seconds = c->effort->seconds};

	if (!parts)
		return pm_err_nomem(err);
	run.n = divide_all(c, point, parts);
	if (point->place == PM_PLACE_MEMORY_LARGE)
		rc = pass_once(&run, err);
	return rc ? rc : pm_sample(c->effort, 1, run_loop, &run, ret, err);
}

/* --- latencies --- */

static int run_chain(void *context, double *ret, struct pm_err *err)
{
	return pm_chasing_run(context, ret, err);
}

static int measure_chain(const struct calibration *c, const struct pm_point *point,
	const struct pm_area *chain, struct pm_measure *ret, struct pm_err *err)
{
	cleanup_free struct pm_looping_part *others = calloc(point->threads, sizeof(*others));
	struct pm_chasing run = {c->sockets[point->socket].cpus[0], chain->at, others,
		.seconds = c->effort->seconds};

	if (!others)
		return pm_err_nomem(err);
	run.n_others = point->threads - 1;
	divide(c, (unsigned)point->socket, point->place, 1, point->threads, others);
	pm_chasing_link(chain->at, chain->bytes);
	return pm_sample(c->effort, 1, run_chain, &run, ret, err);
}

/* The chain is beside the areas: loops would read its addresses as numbers. */
static int measure_latency(const struct calibration *c, const struct pm_point *point,
	struct pm_measure *ret, struct pm_err *err)
{
	unsigned at = socket_at(c, (unsigned)point->socket, point->place);
	const struct pm_area *area = read_area(c, (unsigned)point->socket, point->place);
	const struct pm_calibrate_socket *socket = &c->sockets[at];
	bool is_dram = area == &c->areas[at].dram;
	struct pm_area chain = {0};
	int rc = pm_area_make(is_dram ? &socket->dram : &socket->pmem,
		area->bytes < CHAIN_BYTES ? area->bytes : CHAIN_BYTES, &chain, err);

	if (!rc)
		rc = measure_chain(c, point, &chain, ret, err);
	pm_area_done(&chain);
	return rc;
}

/* --- all of it --- */

static int measure(const struct calibration *c, const struct pm_point *point,
	struct pm_measure *ret, struct pm_err *err)
{
	if (point->kind == PM_POINT_COPY)
		return measure_copy(c, point, ret, err);
	if (point->kind == PM_POINT_LOOP)
		return measure_loop(c, point, ret, err);
	return measure_latency(c, point, ret, err);
}

static int measure_and_keep(const struct calibration *c, const struct pm_point *point,
	const struct pm_calibrate_watch *watch, struct pm_site_profile *profile, struct pm_err *err)
{
	struct pm_measure measures[PM_SAMPLED_MAX] = {0};
	int rc = measure(c, point, measures, err);

	if (!rc)
		rc = pm_results_add(profile, point, c->sockets, measures, err);
	return rc ? rc : watch->keep(watch->context, profile, err);
}

static size_t count_known(const struct calibration *c, const struct pm_points *points,
	const struct pm_site_profile *profile)
{
	size_t n = 0;

	for (size_t i = 0; i < points->n; i++)
		n += pm_results_have(profile, &points->list[i], c->sockets);
	return n;
}

static int measure_points(const struct calibration *c, const struct pm_points *points,
	const struct pm_calibrate_watch *watch, struct pm_site_profile *profile, struct pm_err *err)
{
	size_t known = count_known(c, points, profile), done = known;
	int rc = 0;

	for (size_t i = 0; !rc && i < points->n; i++) {
		const struct pm_point *point = &points->list[i];
		char text[128];

		if (pm_results_have(profile, point, c->sockets))
			continue;
		pm_point_text(point, c->sockets, text, sizeof(text));
		watch->begin(watch->context, text, done++, known, points->n);
		rc = measure_and_keep(c, point, watch, profile, err);
		if (rc)
			pm_err_prefix(err, "%s", text);
	}
	return rc ? rc : pm_results_add_peaks(profile, err);
}

int pm_calibrate(const struct pm_calibrate_socket *sockets, unsigned n_sockets,
	const struct pm_effort *effort, const struct pm_calibrate_watch *watch,
	struct pm_site_profile *profile, struct pm_err *err)
{
	struct calibration c = {sockets, n_sockets, effort, calloc(n_sockets, sizeof(*c.areas))};
	struct pm_points points = {0};
	int rc = c.areas ? make_areas(&c, err) : pm_err_nomem(err);

	if (!rc)
		rc = pm_points_list(sockets, n_sockets, all_dax(&c), effort, &points, err);
	if (!rc)
		rc = measure_points(&c, &points, watch, profile, err);
	free(points.list);
	release_areas(&c);
	return rc;
}
