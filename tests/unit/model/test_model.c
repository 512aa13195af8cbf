/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of paper 000's equations, each computed by hand. Gigabytes per second and seconds. */
#include <math.h>

#include "model/model.h"
#include "tests/unit/tap.h"

#define GB   1e9
#define L    PM_MODEL_LITERAL
#define P    PM_MODEL_PACED
#define FITS PM_MODEL_FITS

/* A socket with round numbers: 3 and 2 GB/s a thread, peaks of 39 and 13 GB/s as in paper 000. */
static const struct pm_model_socket socket_plain = {
	.in = {3, {{1, 3 * GB}, {2, 6 * GB}, {8, 20 * GB}}},
	.out = {3, {{1, 2 * GB}, {2, 4 * GB}, {4, 6 * GB}}},
	.peak_in = 39 * GB,
	.peak_out = 13 * GB,
};
/* The same, where both directions slow each other down. */
static const struct pm_model_socket socket_both = {
	.in = {2, {{1, 3 * GB}, {2, 6 * GB}}},
	.out = {2, {{1, 2 * GB}, {2, 4 * GB}}},
	.both_in = {1, {{2, 1.5 * GB}}},
	.both_out = {1, {{2, 1 * GB}}},
	.peak_in = 39 * GB,
	.peak_out = 13 * GB,
};

/* in, out: GB; compute_s; comp: GB/s; ranks; threads and CPUs. Then helpers, and both limits. */
static const struct {
	const char *name;
	enum pm_model_kind kind;
	const struct pm_model_socket *socket;
	double in, out, compute_s, comp;
	unsigned ranks, threads, max_threads;
	unsigned helpers;
	enum pm_model_limit one, two;
} cases[] = {
	{"one helper reads and writes in time", L, &socket_plain, 3, 2, 2.0, 0, 1, 10, 12, 1, FITS,
		FITS},
	{"a moment less, and it takes two", L, &socket_plain, 3, 2, 1.99, 0, 1, 10, 12, 2,
		PM_MODEL_OVERLAP, FITS},
	{"two are exactly in time", L, &socket_plain, 3, 2, 1.0, 0, 1, 10, 12, 2, PM_MODEL_OVERLAP,
		FITS},
	{"none is in time", L, &socket_plain, 3, 2, 0.99, 0, 1, 10, 12, 0, PM_MODEL_OVERLAP,
		PM_MODEL_OVERLAP},
	{"batches that are only read", L, &socket_plain, 3, 0, 1.0, 0, 1, 10, 12, 1, FITS, FITS},
	{"both helpers read", L, &socket_plain, 3, 0, 0.5, 0, 1, 10, 12, 2, PM_MODEL_OVERLAP, FITS},
	{"batches that are only written", L, &socket_plain, 0, 2, 0.5, 0, 1, 10, 12, 2,
		PM_MODEL_OVERLAP, FITS},
	{"one CPU is left", L, &socket_plain, 3, 2, 1.0, 0, 1, 11, 12, 0, PM_MODEL_OVERLAP,
		PM_MODEL_THREADS},
	{"no CPU is left", L, &socket_plain, 3, 2, 9.0, 0, 1, 12, 12, 0, PM_MODEL_THREADS,
		PM_MODEL_THREADS},
	/* 39/8 = 4.875 GB/s a rank; one helper takes 3, two take 5 */
	{"8 ranks: two helpers are too much", L, &socket_plain, 3, 2, 1.0, 0, 8, 1, 3, 0,
		PM_MODEL_OVERLAP, PM_MODEL_BANDWIDTH},
	{"8 ranks: one helper beside 1.875 GB/s", L, &socket_plain, 3, 2, 2.0, 1.875, 8, 1, 3, 1,
		FITS, PM_MODEL_BANDWIDTH},
	{"8 ranks: and beside a little more", L, &socket_plain, 3, 2, 2.0, 1.876, 8, 1, 3, 0,
		PM_MODEL_BANDWIDTH, PM_MODEL_BANDWIDTH},
	/* 39/24 = 1.625 GB/s a rank: less than one helper's 3 */
	{"24 ranks never prefetch by the literal model", L, &socket_plain, 0.3, 0.2, 9.0, 0, 24, 1,
		3, 0, PM_MODEL_BANDWIDTH, PM_MODEL_BANDWIDTH},
	{"24 ranks do when helpers pace their copies", P, &socket_plain, 0.3, 0.2, 9.0, 0, 24, 1, 3,
		1, FITS, FITS},
	{"24 ranks, paced: 1.625 GB/s is all there is", P, &socket_plain, 3, 0.25, 2.0, 0, 24, 1, 3,
		1, FITS, FITS},
	{"24 ranks, paced: too much", P, &socket_plain, 3, 0.26, 2.0, 0, 24, 1, 3, 0,
		PM_MODEL_BANDWIDTH, PM_MODEL_BANDWIDTH},
	{"2 ranks, paced, beside the program", P, &socket_plain, 3, 2, 1.0, 14.5, 2, 10, 12, 2,
		PM_MODEL_OVERLAP, FITS},
	{"unknown traffic", L, &socket_plain, 3, 2, 9.0, -1, 1, 10, 12, 0, PM_MODEL_TRAFFIC,
		PM_MODEL_TRAFFIC},
	{"unknown traffic, paced", P, &socket_plain, 3, 2, 9.0, NAN, 1, 10, 12, 0, PM_MODEL_TRAFFIC,
		PM_MODEL_TRAFFIC},
	{"both ways at once as alone", L, &socket_both, 3, 2, 1.0, 0, 1, 10, 12, 2,
		PM_MODEL_OVERLAP, FITS},
	{"both ways at once as measured", P, &socket_both, 3, 2, 1.99, 0, 1, 10, 12, 0,
		PM_MODEL_OVERLAP, PM_MODEL_OVERLAP},
	{"one after the other is better then", P, &socket_both, 3, 2, 2.0, 0, 1, 10, 12, 1, FITS,
		FITS},
	{"nothing to copy", L, &socket_plain, 0, 0, 1.0, 0, 1, 10, 12, 0, PM_MODEL_UNMEASURED,
		PM_MODEL_UNMEASURED},
	{"an interval without time", P, &socket_plain, 3, 2, 0, 0, 1, 10, 12, 0,
		PM_MODEL_UNMEASURED, PM_MODEL_UNMEASURED},
	{"an interval with a time that is not a number", L, &socket_plain, 3, 2, NAN, 0, 1, 10, 12,
		0, PM_MODEL_UNMEASURED, PM_MODEL_UNMEASURED},
	{"no ranks", L, &socket_plain, 3, 2, 1.0, 0, 0, 10, 12, 0, PM_MODEL_UNMEASURED,
		PM_MODEL_UNMEASURED},
	{"a socket without curves", L, &(const struct pm_model_socket){.peak_in = GB}, 3, 2, 1.0, 0,
		1, 10, 12, 0, PM_MODEL_UNMEASURED, PM_MODEL_UNMEASURED},
};

static void test_cases(void)
{
	FOR_EACH(row, cases)
	{
		struct pm_model_interval interval = {.in_bytes = row->in * GB,
			.out_bytes = row->out * GB,
			.compute_s = row->compute_s,
			.compute_bytes_per_s = row->comp * GB,
			.ranks = row->ranks,
			.threads = row->threads,
			.max_threads = row->max_threads};
		struct pm_model_answer answer = pm_model_choose(row->kind, row->socket, &interval);

		is_number(answer.helpers, row->helpers, row->name);
		is_number(answer.trials[0].limit, row->one, "one helper");
		is_number(answer.trials[1].limit, row->two, "two helpers");
	}
}

static void is_near(double got, double expected, const char *name)
{
	ok(got == expected || fabs(got - expected) <= 1e-12 * fabs(expected), "%s: %g is %g", name,
		got, expected);
}

static void test_numbers(void)
{
	struct pm_model_interval interval = {.in_bytes = 3 * GB,
		.out_bytes = 2 * GB,
		.compute_s = 2.5,
		.compute_bytes_per_s = 0.5 * GB,
		.ranks = 3,
		.threads = 10,
		.max_threads = 12};
	struct pm_model_answer literal = pm_model_choose(L, &socket_plain, &interval);
	struct pm_model_answer paced = pm_model_choose(P, &socket_both, &interval);
	const struct pm_model_trial *one = &literal.trials[0], *two = &literal.trials[1];

	is_near(literal.share_bytes_per_s, 13 * GB, "equation 5 has the larger peak, N divides it");
	is_number(one->helpers, 1, "the first trial");
	is_near(one->in_s, 1, "equation 1, in");
	is_near(one->out_s, 1, "equation 1, out");
	is_near(one->copy_s, 2, "one helper needs both times");
	is_near(one->printed_copy_s, 1, "equation 2 as printed has the larger one");
	is_near(one->copy_bytes_per_s, 3 * GB, "one helper copies in one direction at a time");
	is_near(one->total_bytes_per_s, 3.5 * GB, "the program's traffic is added");
	is_near(two->copy_s, 1, "two helpers have a direction each");
	is_near(two->printed_copy_s, 0.5, "equation 2 as printed, for two in each");
	is_near(two->copy_bytes_per_s, 5 * GB, "and copy in both at once");
	is_near(paced.trials[1].in_s, 2, "both at once as measured, in");
	is_near(paced.trials[1].out_s, 2, "both at once as measured, out");
	is_near(paced.trials[1].copy_bytes_per_s, 2 * GB, "paced: the bytes over T_comp");
}

/* in, out, compute_s, placed_s, other_in, other_out, comp, ranks, CPUs; 1 thread. Then the helpers,
 * and the interval with 1 and 2. */
static const struct {
	const char *name;
	const struct pm_model_socket *socket;
	double in, out, compute_s, placed_s, other_in, other_out, comp;
	unsigned ranks, max_threads, helpers;
	double one_s, two_s;
} compared[] = {
	{"copies in time hide", &socket_plain, 3, 2, 2, 4, 0, 0, 0, 1, 3, 1, 2, 2},
	{"in place is as fast", &socket_plain, 3, 2, 2, 2.01, 0, 0, 0, 1, 3, 0, 2, 2},
	/* 1 + 1 s of copies by one: half a second is left, which the program shares */
	{"late copies cost less than in place", &socket_plain, 3, 2, 1.5, 4, 0, 0, 0, 1, 3, 2, 1.75,
		1.5},
	{"with one CPU one helper", &socket_plain, 3, 2, 1.5, 4, 0, 0, 0, 1, 2, 1, 1.75, 1.5},
	{"without a CPU none", &socket_plain, 3, 2, 1.5, 4, 0, 0, 0, 1, 1, 0, 1.75, 1.5},
	{"late copies that cost more", &socket_plain, 3, 2, 0.5, 0.6, 0, 0, 0, 1, 3, 0, 1.25,
		0.5 + 0.5 * 2 / 3},
	{"batches that are only read", &socket_plain, 6, 0, 1, 4, 0, 0, 0, 1, 3, 2, 1.5, 1},
	/* 12 ranks: (3/39 + 2/13) * 12 */
	{"the device is the limit", &socket_plain, 3, 2, 2, 4, 0, 0, 0, 12, 3, 1,
		36 / 39.0 + 24 / 13.0, 36 / 39.0 + 24 / 13.0},
	{"and has less left beside the program's own traffic", &socket_plain, 3, 2, 2, 9, 0, 0,
		1.625, 12, 3, 1, 2 * (36 / 39.0 + 24 / 13.0), 2 * (36 / 39.0 + 24 / 13.0)},
	{"or nothing", &socket_plain, 3, 2, 2, 9, 0, 0, 3.25, 12, 3, 0, INFINITY, INFINITY},
	{"traffic that is unknown is none", &socket_plain, 3, 2, 2, 4, 0, 0, -1, 1, 3, 1, 2, 2},
	{"or not a number", &socket_plain, 3, 2, 2, 4, 0, 0, NAN, 1, 3, 1, 2, 2},
	/* 9/3 + 4/2 = 5 s, half of it with two: 1 s is left, two thirds of it for the helpers */
	{"other streams are copied, too", &socket_plain, 3, 2, 1.5, 4, 6, 2, 0, 1, 3, 2, 3.25,
		1.5 + 1.0 * 2 / 3},
	/* 2 s each with two, as 1 + 1 s with one */
	{"both at once as measured", &socket_both, 3, 2, 1.7, 4, 0, 0, 0, 1, 3, 1, 1.85,
		1.7 + 0.3 * 2 / 3},
};

static void test_compared(void)
{
	FOR_EACH(row, compared)
	{
		struct pm_model_interval interval = {.in_bytes = row->in * GB,
			.out_bytes = row->out * GB,
			.compute_s = row->compute_s,
			.placed_s = row->placed_s,
			.other_in_bytes = row->other_in * GB,
			.other_out_bytes = row->other_out * GB,
			.compute_bytes_per_s = row->comp * GB,
			.ranks = row->ranks,
			.threads = 1,
			.max_threads = row->max_threads};
		struct pm_model_answer answer =
			pm_model_choose(PM_MODEL_COMPARED, row->socket, &interval);

		is_number(answer.helpers, row->helpers, row->name);
		is_near(answer.trials[0].interval_s, row->one_s, "one helper");
		is_near(answer.trials[1].interval_s, row->two_s, "two helpers");
	}
}

static void test_compared_with_nothing(void)
{
	struct pm_model_interval interval = {.in_bytes = 3 * GB,
		.out_bytes = 2 * GB,
		.compute_s = 1.5,
		.ranks = 1,
		.threads = 1,
		.max_threads = 3};
	struct pm_model_answer answer =
		pm_model_choose(PM_MODEL_COMPARED, &socket_plain, &interval);

	is_number(answer.helpers, 2, "an interval in place that was not measured: as paced");
	is_number(answer.trials[0].limit, PM_MODEL_OVERLAP, "one helper is not in time");
}

static void test_traffic(void)
{
	const struct pm_model_socket unknown = {0};

	is_near(pm_model_traffic(&socket_plain, 1, 4 * GB, 2), 2 * GB, "bytes over their time");
	is_near(pm_model_traffic(&socket_plain, 1, 400 * GB, 2), pm_curve_at(&socket_plain.in, 1),
		"at most as one thread copies");
	is_near(pm_model_traffic(&socket_plain, 2, 400 * GB, 2), pm_curve_at(&socket_plain.in, 2),
		"or two");
	is_near(pm_model_traffic(&unknown, 2, 400 * GB, 2), 200 * GB, "without curves as it is");
}

static void test_texts(void)
{
	is_text(pm_model_limit_text(PM_MODEL_FITS), "", "what fits needs no words");
	for (int limit = PM_MODEL_UNMEASURED; limit <= PM_MODEL_IN_PLACE; limit++)
		ok(*pm_model_limit_text((enum pm_model_limit)limit), "limit %d has words", limit);
}

int main(void)
{
	test_cases();
	test_numbers();
	test_compared();
	test_compared_with_nothing();
	test_traffic();
	test_texts();
	return tap_done();
}
