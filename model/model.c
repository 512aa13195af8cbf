/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"

#include <math.h>

struct question {
	enum pm_model_kind kind;
	const struct pm_model_socket *socket;
	const struct pm_model_interval *interval;
	double share; /* BW_max / N */
};

/* Bandwidths of one number of helpers in each direction while it is copied; both at once, or in
 * turn. */
struct rates {
	double in, out;
	bool at_once;
};

/* No libm in the runtime. A NaN in `b` is kept: it fits no limit. */
static double larger(double a, double b)
{
	return a > b ? a : b;
}

static bool copies_both_ways(const struct pm_model_interval *interval)
{
	return interval->in_bytes > 0 && interval->out_bytes > 0;
}

static struct rates rates_at_once(const struct question *q, unsigned helpers)
{
	const struct pm_model_socket *socket = q->socket;
	bool measured = q->kind != PM_MODEL_LITERAL && socket->both_in.n && socket->both_out.n;
	double each = helpers / 2.0;

	if (measured)
		return (struct rates){pm_curve_at(&socket->both_in, helpers),
			pm_curve_at(&socket->both_out, helpers), true};
	return (struct rates){
		pm_curve_at(&socket->in, each), pm_curve_at(&socket->out, each), true};
}

static struct rates rates_of(const struct question *q, unsigned helpers)
{
	if (helpers > 1 && copies_both_ways(q->interval))
		return rates_at_once(q, helpers);
	return (struct rates){
		pm_curve_at(&q->socket->in, helpers), pm_curve_at(&q->socket->out, helpers), false};
}

/* Equation 1. Nothing takes no time. */
static double copy_time(double bytes, double bytes_per_s)
{
	return bytes > 0 ? bytes / bytes_per_s : 0;
}

/* Equation 2 as it is printed. */
static double printed_copy_time(const struct question *q, unsigned helpers)
{
	return larger(copy_time(q->interval->in_bytes, pm_curve_at(&q->socket->in, helpers)),
		copy_time(q->interval->out_bytes, pm_curve_at(&q->socket->out, helpers)));
}

/* Of the helpers in equation 4. */
static double copy_bandwidth(const struct question *q, const struct rates *rates)
{
	const struct pm_model_interval *interval = q->interval;

	if (q->kind != PM_MODEL_LITERAL)
		return (interval->in_bytes + interval->out_bytes) / interval->compute_s;
	if (rates->at_once)
		return rates->in + rates->out;
	return larger(
		interval->in_bytes > 0 ? rates->in : 0, interval->out_bytes > 0 ? rates->out : 0);
}

/* --- the compared model --- */

/* Times that differ by less count as equal: predictions are no more exact. */
#define CLEARLY_FASTER 0.99

/* Seconds in which helpers copy their batches of this stream and of those beside it. */
static double copies_time(const struct question *q, unsigned helpers)
{
	const struct pm_model_interval *interval = q->interval;
	const struct pm_model_socket *socket = q->socket;
	double in = interval->in_bytes + interval->other_in_bytes;
	double out = interval->out_bytes + interval->other_out_bytes;
	struct rates rates = rates_of(q, helpers);
	double even;

	if (!(out > 0))
		return copy_time(in, pm_curve_at(&socket->in, helpers));
	even = (copy_time(in, pm_curve_at(&socket->in, 1)) +
		       copy_time(out, pm_curve_at(&socket->out, 1))) /
	       helpers;
	if (!rates.at_once)
		return even;
	return larger(even, larger(copy_time(interval->in_bytes, rates.in),
				    copy_time(interval->out_bytes, rates.out)));
}

/* The device's share of the rank is busy so long; reads and writes are not equal there. */
static double device_time(const struct question *q)
{
	const struct pm_model_interval *interval = q->interval;
	double in = interval->in_bytes + interval->other_in_bytes;
	double out = interval->out_bytes + interval->other_out_bytes;
	double own = interval->compute_bytes_per_s >= 0 ? interval->compute_bytes_per_s : 0;
	double left = 1 - interval->ranks * own / q->socket->peak_in;

	if (!(left > 0))
		return INFINITY;
	return interval->ranks * (in / q->socket->peak_in + copy_time(out, q->socket->peak_out)) /
	       left;
}

/* The program copies along while it waits. */
static double predict(const struct question *q, unsigned helpers)
{
	double compute_s = q->interval->compute_s, late = copies_time(q, helpers) - compute_s;

	return larger(compute_s + larger(0, late) * helpers / (helpers + 1), device_time(q));
}

static enum pm_model_limit compared_limit(
	const struct question *q, const struct pm_model_trial *trial)
{
	if (!(trial->interval_s < INFINITY))
		return PM_MODEL_BANDWIDTH;
	return trial->interval_s < q->interval->placed_s * CLEARLY_FASTER ? PM_MODEL_FITS
									  : PM_MODEL_IN_PLACE;
}

/* --- all models --- */

/* In the order in which the paper filters: equations 4 and 6, then 3. */
static enum pm_model_limit limit_of(const struct question *q, const struct pm_model_trial *trial)
{
	const struct pm_model_interval *interval = q->interval;

	if (!(trial->copy_s > 0 && trial->copy_s < INFINITY) || !(q->share > 0) ||
		!(interval->compute_s > 0))
		return PM_MODEL_UNMEASURED;
	if (interval->threads + trial->helpers > interval->max_threads)
		return PM_MODEL_THREADS;
	if (q->kind == PM_MODEL_COMPARED)
		return compared_limit(q, trial);
	if (!(interval->compute_bytes_per_s >= 0))
		return PM_MODEL_TRAFFIC;
	if (trial->total_bytes_per_s > q->share)
		return PM_MODEL_BANDWIDTH;
	return trial->copy_s > interval->compute_s ? PM_MODEL_OVERLAP : PM_MODEL_FITS;
}

static struct pm_model_trial try(const struct question *q, unsigned helpers)
{
	struct rates rates = rates_of(q, helpers);
	struct pm_model_trial trial = {
		.helpers = helpers,
		.in_s = copy_time(q->interval->in_bytes, rates.in),
		.out_s = copy_time(q->interval->out_bytes, rates.out),
		.printed_copy_s = printed_copy_time(q, helpers),
		.copy_bytes_per_s = copy_bandwidth(q, &rates),
	};

	trial.copy_s = rates.at_once ? larger(trial.in_s, trial.out_s) : trial.in_s + trial.out_s;
	trial.total_bytes_per_s = trial.copy_bytes_per_s + q->interval->compute_bytes_per_s;
	trial.interval_s = q->kind == PM_MODEL_COMPARED ? predict(q, helpers) : 0;
	trial.limit = limit_of(q, &trial);
	return trial;
}

/* Equation 5. */
static double peak(const struct pm_model_socket *socket)
{
	return larger(socket->peak_in, socket->peak_out);
}

static enum pm_model_kind kind_for(
	enum pm_model_kind kind, const struct pm_model_interval *interval)
{
	return kind == PM_MODEL_COMPARED && !(interval->placed_s > 0) ? PM_MODEL_PACED : kind;
}

/* The paper takes the smallest number that fits, the compared model the fastest. */
static bool is_better(const struct pm_model_answer *answer, const struct pm_model_trial *trial)
{
	if (trial->limit)
		return false;
	return !answer->helpers ||
	       trial->interval_s < answer->trials[answer->helpers - 1].interval_s * CLEARLY_FASTER;
}

struct pm_model_answer pm_model_choose(enum pm_model_kind kind,
	const struct pm_model_socket *socket, const struct pm_model_interval *interval)
{
	struct pm_model_answer answer = {
		.share_bytes_per_s = interval->ranks ? peak(socket) / interval->ranks : 0};
	struct question q = {kind_for(kind, interval), socket, interval, answer.share_bytes_per_s};

	for (unsigned i = 0; i < PM_MODEL_HELPERS_MAX; i++) {
		answer.trials[i] = try(&q, i + 1);
		if (is_better(&answer, &answer.trials[i]))
			answer.helpers = i + 1;
	}
	return answer;
}

double pm_model_traffic(
	const struct pm_model_socket *socket, unsigned threads, double bytes, double seconds)
{
	double fastest =
		larger(pm_curve_at(&socket->in, threads), pm_curve_at(&socket->out, threads));
	double bytes_per_s = bytes / seconds;

	return fastest > 0 && bytes_per_s > fastest ? fastest : bytes_per_s;
}

double pm_model_spare(
	const struct pm_model_socket *socket, unsigned ranks, double compute_bytes_per_s)
{
	double share = ranks ? peak(socket) / ranks : 0;

	return compute_bytes_per_s >= 0 && share > compute_bytes_per_s ? share - compute_bytes_per_s
								       : 0;
}

const char *pm_model_limit_text(enum pm_model_limit limit)
{
	static const char *const texts[] = {
		[PM_MODEL_FITS] = "",
		[PM_MODEL_UNMEASURED] = "not measured",
		[PM_MODEL_THREADS] = "equation 6: no CPU is left for the helpers",
		[PM_MODEL_TRAFFIC] = "equation 4: the program's own traffic to PMem is unknown",
		[PM_MODEL_BANDWIDTH] = "equation 4: more than the rank's share of the bandwidth",
		[PM_MODEL_OVERLAP] = "equation 3: a copy takes longer than the program computes",
		[PM_MODEL_IN_PLACE] = "no faster than in place",
	};

	return texts[limit];
}
