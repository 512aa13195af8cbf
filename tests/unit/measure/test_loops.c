/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "measure/chasing.h"
#include "measure/looping.h"
#include "tests/unit/tap.h"

#define BYTES ((size_t)1 << 20)

/* All reads are 1: a sum of `reads` ones, but for the loops that have no sum. */
static const struct {
	enum pm_measured_loop loop;
	double written;
	unsigned streams; /* elements that a statement names */
} cases[] = {
	{PM_LOOP_READ, 0, 1},
	{PM_LOOP_WRITE, 3, 1},
	{PM_LOOP_COPY, 1, 2},
	{PM_LOOP_SCALE, 3, 2},
	{PM_LOOP_ADD, 2, 3},
	{PM_LOOP_TRIAD, 4, 3},
	{PM_LOOP_WRITE_READ4, 4, 5},
	{PM_LOOP_SEVERAL, 4, 10},
	{PM_LOOP_STRIDED, 4, 5},
	{PM_LOOP_RANDOM, 4, 5},
	{PM_LOOP_BYPASS, 4, 5},
	{PM_LOOP_ROWS, 2, 3},
	{PM_LOOP_COLUMNS, 2, 3},
	{PM_LOOP_MIXED, 2, 3},
	{PM_LOOP_STENCIL, 1, 10},
};

static size_t count(const double *array, size_t n, double value)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += array[i] > value - 1e-9 && array[i] < value + 1e-9;
	return found;
}

static void fill(const struct pm_loop *loop, const struct pm_loop_arrays *arrays)
{
	for (unsigned i = 0; i < loop->from; i++)
		for (size_t k = 0; k < arrays->n; k++)
			((double *)(uintptr_t)arrays->from[i])[k] = 1;
	for (unsigned i = 0; i < loop->to; i++)
		memset(arrays->to[i], 0, arrays->n * sizeof(double));
}

/* Elements that a pass writes into an array. */
static size_t elements_of(enum pm_measured_loop name, const struct pm_loop_arrays *arrays)
{
	size_t units = pm_loops[name].units(arrays);

	if (name == PM_LOOP_STENCIL)
		return (arrays->side - 2) * (arrays->side - 2);
	return name == PM_LOOP_ROWS || name == PM_LOOP_COLUMNS || name == PM_LOOP_MIXED
		       ? units * arrays->side
		       : units;
}

static size_t run_in_parts(const struct pm_loop *loop, struct pm_loop_arrays *arrays)
{
	size_t units = loop->units(arrays), half = units / 2 / 8 * 8;

	return loop->run(arrays, 0, half) + loop->run(arrays, half, units - half);
}

static void test_a_pass_of(size_t i, char *memory)
{
	const struct pm_loop *loop = &pm_loops[cases[i].loop];
	struct pm_looping_part part = {.to = memory, .from = memory, .bytes = BYTES};
	const char *name = pm_measured_loop_name(cases[i].loop);
	struct pm_loop_arrays arrays;
	size_t elements, bytes;

	pm_looping_divide(&part, loop, &arrays);
	fill(loop, &arrays);
	elements = elements_of(cases[i].loop, &arrays);
	bytes = run_in_parts(loop, &arrays);
	is_number(
		(long long)bytes, (long long)(elements * cases[i].streams * sizeof(double)), name);
	for (unsigned k = 0; k < loop->to; k++)
		is_number((long long)count(arrays.to[k], arrays.n, cases[i].written),
			(long long)elements, "writes each element once");
	if (!loop->to)
		ok(arrays.sink > 0, "reads");
}

static void test_passes(void)
{
	cleanup_free char *memory = aligned_alloc(4096, BYTES);

	for (size_t i = 0; i < PM_LOOPS; i++)
		test_a_pass_of(i, memory);
}

static void test_arrays(void)
{
	char *memory = (char *)(uintptr_t)0x10000000, *other = (char *)(uintptr_t)0x20000000;
	struct pm_looping_part shared = {.to = memory, .from = memory, .bytes = BYTES};
	struct pm_looping_part apart = {.to = memory, .from = other, .bytes = BYTES};
	struct pm_loop_arrays arrays;

	pm_looping_divide(&shared, &pm_loops[PM_LOOP_TRIAD], &arrays);
	ok((char *)(uintptr_t)(arrays.from[1] + arrays.n) <= memory + BYTES,
		"three arrays share a part");
	ok(arrays.from[0] == arrays.to[0] + arrays.n, "one behind the other");
	is_number(
		(long long)(arrays.n * sizeof(double) / 64 % 2), 1, "an odd number of lines each");
	ok(arrays.side * arrays.side <= arrays.n &&
			(arrays.side + 1) * (arrays.side + 1) > arrays.n,
		"the largest matrix");
	pm_looping_divide(&apart, &pm_loops[PM_LOOP_TRIAD], &arrays);
	ok((const char *)arrays.from[0] == other && (char *)arrays.to[0] == memory,
		"what is read is in a part of its own");
}

static int first_cpu(void)
{
	cpu_set_t allowed;
	int cpu = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	return cpu;
}

static void test_runs_go_on(void)
{
	cleanup_free char *memory = aligned_alloc(4096, 16 * BYTES);
	struct pm_looping_part parts[] = {{first_cpu(), memory, memory, 8 * BYTES, 0},
		{first_cpu(), memory + 8 * BYTES, memory + 8 * BYTES, 8 * BYTES, 0}};
	struct pm_looping run = {.loop = PM_LOOP_COPY, .parts = parts, .n = 2, .seconds = 1e-9};
	struct pm_err err;
	double per_s;
	size_t done;

	memset(memory, 0, 16 * BYTES);
	ok(!pm_looping_has_passed(&run), "arrays have not been gone through before a run");
	is_number(pm_looping_run(&run, &per_s, &err), 0, "a run");
	done = parts[0].done;
	ok(done && done < 8 * BYTES / 2 / sizeof(double), "the shortest goes through a part");
	ok(!pm_looping_has_passed(&run), "which is not all");
	is_number(pm_looping_run(&run, &per_s, &err), 0, "another run");
	ok(parts[0].done > done, "goes on where the one before ended");
	parts[0].done = 8 * BYTES;
	parts[1].done = 0;
	ok(!pm_looping_has_passed(&run), "one thread alone does not count");
	for (unsigned i = 0; i < 100 && !pm_looping_has_passed(&run); i++)
		pm_looping_run(&run, &per_s, &err);
	ok(pm_looping_has_passed(&run), "runs reach the end of all arrays");
}

static void test_chain(void)
{
	size_t bytes = 3 * BYTES / 4, lines = BYTES / 2 / 64, steps = 0;
	cleanup_free char *memory = aligned_alloc(4096, bytes);
	const char *at = memory;
	size_t neighbours = 0;

	pm_chasing_link(memory, bytes);
	do {
		const char *next = *(const char *const *)(const void *)at;

		neighbours += next == at + 64;
		at = next;
		steps++;
	} while (at != memory && steps <= lines);
	is_number((long long)steps, (long long)lines, "a chain visits each line of a power of two");
	ok(neighbours < lines / 100, "in no order that hardware foresees");
}

static void test_runs(void)
{
	cleanup_free char *memory = aligned_alloc(4096, BYTES);
	struct pm_looping_part part = {0, memory, memory, BYTES, 0};
	struct pm_looping run = {.parts = &part, .n = 1, .seconds = 0.001};
	struct pm_chasing chase = {0, memory, &part, 0, 0.001};
	double rate;
	struct pm_err err;

	memset(memory, 0, BYTES);
	for (unsigned loop = 0; loop < PM_LOOPS; loop++) {
		run.loop = loop;
		is_number(pm_looping_run(&run, &rate, &err), 0, pm_measured_loop_name(loop));
		ok(rate > 0, "has a bandwidth");
	}
	run.loop = PM_LOOP_TRIAD;
	for (unsigned persist = PM_PERSIST_END; persist <= PM_PERSIST_WRITE; persist++) {
		run.persist = persist;
		ok(!pm_looping_run(&run, &rate, &err) && rate > 0, "also with persistent lines");
	}
	pm_chasing_link(memory, BYTES);
	ok(!pm_chasing_run(&chase, &rate, &err) && rate > 0, "a chain has a latency");
	part.cpu = 1023;
	is_number(pm_looping_run(&run, &rate, &err), -EINVAL, "a CPU that is not there");
}

int main(void)
{
	test_passes();
	test_arrays();
	test_runs_go_on();
	test_chain();
	test_runs();
	return tap_done();
}
