/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/calibrate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "measure/copying.h"
#include "measure/estimate.h"

#define RUNS_MAX 100

const struct pm_calibrate_effort pm_calibrate_full = {
	.runs_min = 10, .runs_max = 60, .narrow = 0.02, .seconds = 0.1, .bytes = (size_t)1 << 30};
const struct pm_calibrate_effort pm_calibrate_quick = {.runs_min = 10,
	.runs_max = 12,
	.narrow = 0.05,
	.seconds = 0.02,
	.bytes = (size_t)256 << 20};

/* The curves in the order in which they are measured, and the ratio of threads for each direction.
 */
static const struct plan {
	enum pm_measured_curve curve;
	unsigned in, out;
} plans[] = {
	{PM_CURVE_COPY_IN, 1, 0},
	{PM_CURVE_COPY_OUT, 0, 1},
	{PM_CURVE_BOTH_IN, 1, 1},
};

#define N_PLANS (sizeof(plans) / sizeof(plans[0]))

struct calibration {
	const struct pm_calibrate_socket *socket;
	const struct pm_calibrate_effort *effort;
	pm_calibrate_progress *progress;
	void *context;
	struct pm_copying copying;
	unsigned threads[PM_CURVE_POINTS], n_threads;
	unsigned done, total;
	struct pm_site_socket result;
};

/* 1, 2, 3, 4, 6, 8, 12, 16, ..., and all CPUs. */
static void choose_threads(struct calibration *c)
{
	unsigned n = c->socket->n_cpus, step = 1;

	for (unsigned t = 1; t < n && c->n_threads < PM_CURVE_POINTS - 1; t += step) {
		c->threads[c->n_threads++] = t;
		if (t >= 4 && !(t & (t - 1)))
			step = t / 2;
	}
	c->threads[c->n_threads++] = n;
}

static bool fits(const struct plan *plan, unsigned threads)
{
	return threads % (plan->in + plan->out) == 0;
}

static unsigned count_points(const struct calibration *c)
{
	unsigned n = 0;

	for (size_t i = 0; i < N_PLANS; i++)
		for (unsigned t = 0; t < c->n_threads; t++)
			n += fits(&plans[i], c->threads[t]);
	return n;
}

/* --- results --- */

static struct pm_site_curve *add_curve(struct pm_site_socket *socket, enum pm_measured_curve name)
{
	struct pm_site_curve *curve =
		pm_list_next(&socket->curves, socket->n_curves, sizeof(*curve));

	if (curve) {
		socket->n_curves++;
		curve->curve = name;
	}
	return curve;
}

static struct pm_measure as_measure(const struct pm_estimate *estimate, double narrow)
{
	struct pm_measure measure = {.value = (uint64_t)estimate->median,
		.low = (uint64_t)estimate->low,
		.high = (uint64_t)estimate->high,
		.samples = estimate->n};

	if (!pm_estimate_is_narrow(estimate, narrow))
		snprintf(measure.from, sizeof(measure.from),
			"interval wider than %.0f %% after %u runs", narrow * 100, estimate->n);
	return measure;
}

static int add_point(struct pm_site_curve *curve, unsigned threads,
	const struct pm_measure *measure, struct pm_err *err)
{
	struct pm_site_curve_point *point;

	if (!measure->value ||
		(curve->n_points &&
			measure->value < curve->points[curve->n_points - 1].measure.value))
		return 0;
	point = pm_list_next(&curve->points, curve->n_points, sizeof(*point));
	if (!point)
		return pm_err_nomem(err);
	curve->n_points++;
	*point = (struct pm_site_curve_point){threads, *measure};
	return 0;
}

static int add_peak(struct pm_site_socket *socket, enum pm_measured_curve name,
	enum pm_measured_value peak, struct pm_err *err)
{
	const struct pm_site_curve *curve = pm_site_socket_curve(socket, name);
	struct pm_site_value *value =
		pm_list_next(&socket->values, socket->n_values, sizeof(*value));

	if (!value)
		return pm_err_nomem(err);
	socket->n_values++;
	*value = (struct pm_site_value){peak, curve->points[curve->n_points - 1].measure};
	snprintf(value->measure.from, sizeof(value->measure.from), "largest point of %s",
		pm_measured_curve_name(name));
	return 0;
}

/* --- measuring --- */

struct samples {
	double in[RUNS_MAX], out[RUNS_MAX];
	struct pm_estimate in_estimate, out_estimate;
};

static bool is_known(const struct calibration *c, const struct samples *samples)
{
	return (!c->copying.n_in ||
		       pm_estimate_is_narrow(&samples->in_estimate, c->effort->narrow)) &&
	       (!c->copying.n_out ||
		       pm_estimate_is_narrow(&samples->out_estimate, c->effort->narrow));
}

/* Runs until both estimates are narrow, or there were enough runs. */
static int measure_point(struct calibration *c, struct samples *samples, struct pm_err *err)
{
	for (unsigned n = 0; n < c->effort->runs_max;) {
		int rc = pm_copying_run(&c->copying, &samples->in[n], &samples->out[n], err);

		if (rc)
			return rc;
		if (++n < c->effort->runs_min)
			continue;
		samples->in_estimate = pm_estimate(samples->in, n);
		samples->out_estimate = pm_estimate(samples->out, n);
		if (is_known(c, samples))
			return 0;
	}
	return 0;
}

static int keep_point(struct calibration *c, const struct samples *samples, unsigned threads,
	struct pm_site_curve *in, struct pm_site_curve *out, struct pm_err *err)
{
	struct pm_measure in_measure = as_measure(&samples->in_estimate, c->effort->narrow);
	struct pm_measure out_measure = as_measure(&samples->out_estimate, c->effort->narrow);
	int rc = in ? add_point(in, threads, &in_measure, err) : 0;

	return rc || !out ? rc : add_point(out, threads, &out_measure, err);
}

/* `in` or `out` NULL: no thread copies in that direction. */
static int measure_points(struct calibration *c, const struct plan *plan, struct pm_site_curve *in,
	struct pm_site_curve *out, struct pm_err *err)
{
	struct samples samples;
	int rc = 0;

	for (unsigned i = 0; !rc && i < c->n_threads; i++) {
		unsigned threads = c->threads[i];

		if (!fits(plan, threads))
			continue;
		c->progress(c->context, pm_measured_curve_name(plan->curve), threads, c->done++,
			c->total);
		c->copying.n_in = threads * plan->in / (plan->in + plan->out);
		c->copying.n_out = threads - c->copying.n_in;
		rc = measure_point(c, &samples, err);
		if (!rc)
			rc = keep_point(c, &samples, threads, in, out, err);
	}
	return rc;
}

static int measure_curves(struct calibration *c, const struct plan *plan, struct pm_err *err)
{
	struct pm_site_socket *result = &c->result;
	bool both = plan->curve == PM_CURVE_BOTH_IN;
	struct pm_site_curve *last = add_curve(result, plan->curve);

	if (last && both)
		last = add_curve(result, PM_CURVE_BOTH_OUT);
	if (!last)
		return pm_err_nomem(err);
	/* The list may have moved: `last` alone is valid. */
	return measure_points(c, plan,
		both	   ? last - 1
		: plan->in ? last
			   : NULL,
		plan->out ? last : NULL, err);
}

static int measure_all(struct calibration *c, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < N_PLANS; i++)
		if (c->socket->n_cpus >= plans[i].in + plans[i].out)
			rc = measure_curves(c, &plans[i], err);
	if (!rc)
		rc = add_peak(&c->result, PM_CURVE_COPY_IN, PM_VALUE_PEAK_IN, err);
	return rc ? rc : add_peak(&c->result, PM_CURVE_COPY_OUT, PM_VALUE_PEAK_OUT, err);
}

static int measure_in_areas(struct calibration *c, struct pm_err *err)
{
	size_t least = c->socket->n_cpus * PM_COPYING_PART_MIN;
	size_t bytes = c->effort->bytes > least ? c->effort->bytes : least;
	int rc = pm_area_make(&c->socket->dram, bytes, &c->copying.dram, err);

	if (!rc)
		rc = pm_area_make(&c->socket->pmem, bytes, &c->copying.pmem, err);
	if (!rc)
		rc = measure_all(c, err);
	pm_area_done(&c->copying.dram);
	pm_area_done(&c->copying.pmem);
	return rc;
}

int pm_calibrate_socket(const struct pm_calibrate_socket *socket,
	const struct pm_calibrate_effort *effort, pm_calibrate_progress *progress, void *context,
	struct pm_site_socket *ret, struct pm_err *err)
{
	struct calibration c = {.socket = socket,
		.effort = effort,
		.progress = progress,
		.context = context,
		.copying = {.cpus = socket->cpus, .seconds = effort->seconds},
		.result = {.socket = socket->number}};
	int rc;

	choose_threads(&c);
	c.total = count_points(&c);
	rc = measure_in_areas(&c, err);
	if (rc) {
		pm_site_socket_done(&c.result);
		return pm_err_prefix(err, "socket %u", socket->number);
	}
	*ret = c.result;
	return 0;
}
