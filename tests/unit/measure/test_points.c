/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "measure/results.h"
#include "tests/unit/tap.h"

static struct pm_calibrate_socket sockets[] = {
	{.number = 0, .n_cpus = 24}, {.number = 3, .n_cpus = 24}};

static unsigned count(const struct pm_points *points, const struct pm_point *like)
{
	unsigned n = 0;

	for (size_t i = 0; i < points->n; i++)
		n += points->list[i].kind == like->kind && points->list[i].socket == like->socket &&
		     points->list[i].what == like->what && points->list[i].place == like->place;
	return n;
}

static unsigned at_place(const struct pm_points *points, enum pm_measured_place place)
{
	unsigned n = 0;

	for (size_t i = 0; i < points->n; i++)
		n += points->list[i].kind == PM_POINT_LOOP && points->list[i].place == place;
	return n;
}

static void test_threads(void)
{
	static const unsigned expected[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
	struct pm_points points = {0};
	struct pm_err err;

	is_number(pm_points_list(sockets, 2, true, &pm_effort_full, &points, &err), 0, "a list");
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		is_number(points.list[i].threads, expected[i], "threads of a curve");
	is_number(count(&points, &(struct pm_point){.what = PM_CURVE_BOTH_IN}), 7,
		"both directions at once need an even number");
	is_number(count(&points, &(struct pm_point){PM_POINT_LOOP, 1, PM_LOOP_RANDOM,
					 PM_PLACE_REMOTE_PMEM, 0}),
		9, "a loop over threads");
	is_number(count(&points, &(struct pm_point){PM_POINT_LOOP, 1, PM_LOOP_TRIAD,
					 PM_PLACE_PERSIST_WRITE, 0}),
		1, "STREAM with all cores");
	is_number(count(&points, &(struct pm_point){PM_POINT_LOOP, PM_ALL_SOCKETS, PM_LOOP_TRIAD,
					 PM_PLACE_READ_PMEM, 0}),
		1, "and on all sockets");
	is_number(points.list[points.n - 1].threads, 48, "with the cores of both");
	free(points.list);
}

static void test_places(void)
{
	struct pm_points points = {0};
	struct pm_err err;

	is_number(pm_points_list(sockets, 1, false, &pm_effort_quick, &points, &err), 0, "a list");
	is_number(at_place(&points, PM_PLACE_REMOTE_DRAM), 0, "one socket has no other");
	is_number(at_place(&points, PM_PLACE_PERSIST_END), 0, "nothing is persistent without dax");
	is_number(at_place(&points, PM_PLACE_DRAM), PM_LOOPS, "--quick has each loop once");
	is_number(at_place(&points, PM_PLACE_READ_PMEM), 4, "two memories are STREAM's alone");
	free(points.list);
	sockets[0].is_memory_mode = sockets[1].is_memory_mode = true;
	points = (struct pm_points){0};
	is_number(pm_points_list(sockets, 2, false, &pm_effort_quick, &points, &err), 0, "a list");
	is_number((long long)points.n, at_place(&points, PM_PLACE_MEMORY),
		"Memory Mode has one memory, which nothing is copied from");
	is_number((long long)points.n, 2 * PM_LOOPS + 4, "for loops on each socket, and on both");
	free(points.list);
	sockets[0].beyond_bytes = sockets[1].beyond_bytes = 1;
	points = (struct pm_points){0};
	is_number(pm_points_list(sockets, 2, false, &pm_effort_full, &points, &err), 0, "a list");
	is_number(at_place(&points, PM_PLACE_MEMORY_LARGE), 3 * 4,
		"beyond the DRAM that caches STREAM alone is measured");
	free(points.list);
	sockets[0].beyond_bytes = sockets[1].beyond_bytes = 0;
	sockets[0].is_memory_mode = sockets[1].is_memory_mode = false;
}

static void is_said(struct pm_point point, const char *expected)
{
	char text[128];

	pm_point_text(&point, sockets, text, sizeof(text));
	is_text(text, expected, expected);
}

static void test_texts(void)
{
	is_said((struct pm_point){.what = PM_CURVE_COPY_IN, .threads = 8},
		"socket 0, copy-in with 8 threads");
	is_said((struct pm_point){PM_POINT_LATENCY, 1, PM_VALUE_DRAM_LOADED, PM_PLACE_DRAM, 24},
		"socket 3, dram-loaded with 24 threads");
	is_said((struct pm_point){PM_POINT_LOOP, PM_ALL_SOCKETS, PM_LOOP_ADD, PM_PLACE_PMEM, 48},
		"all sockets, add at pmem with 48 threads");
}

static int add(struct pm_site_profile *profile, struct pm_point point, uint64_t value)
{
	struct pm_measure measures[2] = {{.value = value}, {.value = value / 2}};
	struct pm_err err;

	return pm_results_add(profile, &point, sockets, measures, &err);
}

static void test_results(void)
{
	const struct pm_point loop = {PM_POINT_LOOP, 1, PM_LOOP_READ, PM_PLACE_PMEM, 1};
	const struct pm_point value = {PM_POINT_LATENCY, 1, PM_VALUE_PMEM_RANDOM, PM_PLACE_PMEM, 1};
	struct pm_point node = {PM_POINT_LOOP, PM_ALL_SOCKETS, PM_LOOP_READ, PM_PLACE_PMEM, 48};
	struct pm_point copy = {.socket = 1, .what = PM_CURVE_BOTH_IN, .threads = 2};
	struct pm_site_profile profile = {0};
	const struct pm_site_socket *socket;
	struct pm_err err;

	ok(!pm_results_have(&profile, &copy, sockets), "no point at first");
	ok(!add(&profile, copy, 100) && !add(&profile, loop, 40) && !add(&profile, value, 300) &&
			!add(&profile, node, 70),
		"four are added");
	ok(pm_results_have(&profile, &copy, sockets) && pm_results_have(&profile, &loop, sockets) &&
			pm_results_have(&profile, &value, sockets) &&
			pm_results_have(&profile, &node, sockets),
		"and there");
	copy.threads = 4;
	ok(!pm_results_have(&profile, &copy, sockets), "one with more threads is not");
	ok(!add(&profile, copy, 99), "it is slower");
	node.socket = 0;
	ok(!pm_results_have(&profile, &node, sockets), "nor is one of another socket");
	socket = pm_site_profile_socket(&profile, 3);
	is_number((long long)pm_site_socket_curve(socket, PM_CURVE_BOTH_IN)->n_points, 1,
		"a curve ends at its peak");
	is_number((long long)pm_site_socket_curve(socket, PM_CURVE_BOTH_OUT)->points->measure.value,
		50, "the other direction is beside it");
	ok(!add(&profile, (struct pm_point){PM_POINT_LOOP, 1, PM_LOOP_READ, PM_PLACE_PMEM, 2}, 30),
		"a loop may fall");
	is_number(pm_results_add_peaks(&profile, &err), 0, "peaks");
	is_number((long long)pm_site_socket_value(socket, PM_VALUE_PMEM_READ)->measure.value, 40,
		"are the largest points");
	ok(!pm_site_socket_value(socket, PM_VALUE_DRAM_READ), "of what was measured");
	is_number(pm_results_add_peaks(&profile, &err), 0, "peaks again");
	is_number((long long)socket->n_values, 2, "are there once");
	pm_site_profile_done(&profile);
}

int main(void)
{
	test_threads();
	test_places();
	test_texts();
	test_results();
	return tap_done();
}
