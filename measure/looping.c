/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/looping.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "copy/kernels.h"
#include "measure/threads.h"

#define LINE  (PM_COPY_LINE / sizeof(double))	   /* elements */
#define CHUNK (((size_t)1 << 20) / sizeof(double)) /* between two looks at the clock: elements */

struct worker {
	struct pm_loop_arrays arrays;
	size_t done; /* in the loop's units */
};

struct looping {
	const struct pm_looping *run;
	const struct pm_loop *loop;
	struct worker *workers;
};

/*
 * Elements of each of `arrays` arrays: an odd number of cache lines, so that the same element of
 * two arrays is not in the same set of the caches.
 */
static size_t elements_of(size_t bytes, unsigned arrays)
{
	size_t count = bytes / PM_COPY_LINE / arrays;

	return (count - !(count % 2)) * LINE;
}

static size_t root_of(size_t n)
{
	size_t root = 1;

	while ((root + 1) * (root + 1) <= n)
		root++;
	return root;
}

void pm_looping_divide(
	const struct pm_looping_part *part, const struct pm_loop *loop, struct pm_loop_arrays *ret)
{
	bool is_shared = part->to == part->from;
	unsigned most = loop->to > loop->from ? loop->to : loop->from;
	size_t n = elements_of(part->bytes, is_shared ? loop->to + loop->from : most);
	double *to = (double *)(void *)part->to;
	double *from = is_shared ? to + loop->to * n : (double *)(void *)part->from;

	*ret = (struct pm_loop_arrays){.n = n, .side = root_of(n)};
	for (unsigned i = 0; i < loop->to; i++)
		ret->to[i] = to + i * n;
	for (unsigned i = 0; i < loop->from; i++)
		ret->from[i] = from + i * n;
}

static size_t run_line_by_line(
	const struct pm_loop *loop, struct pm_loop_arrays *arrays, size_t at, size_t n)
{
	size_t bytes = 0;

	for (size_t i = at; i + LINE <= at + n; i += LINE) {
		bytes += loop->run(arrays, i, LINE);
		pm_copy_write_back(arrays->to[0] + i, PM_COPY_LINE);
	}
	return bytes;
}

/* In units: elements, or lines of a matrix. */
static size_t chunk_of(const struct pm_loop_arrays *arrays, size_t units)
{
	size_t chunk = CHUNK * units / arrays->n;

	return chunk ? chunk : 1;
}

static size_t step(void *context, unsigned thread)
{
	const struct looping *looping = context;
	const struct pm_loop *loop = looping->loop;
	struct worker *worker = &looping->workers[thread];
	size_t units = loop->units(&worker->arrays), at = worker->done % units;
	size_t chunk = chunk_of(&worker->arrays, units);
	size_t n = chunk < units - at ? chunk : units - at, bytes;

	worker->done += n;
	if (looping->run->persist == PM_PERSIST_WRITE)
		return run_line_by_line(loop, &worker->arrays, at, n);
	bytes = loop->run(&worker->arrays, at, n);
	if (looping->run->persist == PM_PERSIST_END)
		pm_copy_write_back(worker->arrays.to[0] + at, n * sizeof(double));
	return bytes;
}

int pm_looping_run(const struct pm_looping *run, double *ret, struct pm_err *err)
{
	const struct pm_loop *loop = &pm_loops[run->loop];
	cleanup_free struct worker *workers = calloc(run->n, sizeof(*workers));
	cleanup_free double *per_s = calloc(run->n, sizeof(*per_s));
	cleanup_free int *cpus = calloc(run->n, sizeof(*cpus));
	struct looping looping = {run, loop, workers};
	struct pm_threads threads = {cpus, run->n, run->seconds, step, &looping};
	int rc;

	if (!workers || !per_s || !cpus)
		return pm_err_nomem(err);
	for (unsigned i = 0; i < run->n; i++) {
		cpus[i] = run->parts[i].cpu;
		pm_looping_divide(&run->parts[i], loop, &workers[i].arrays);
		workers[i].done = run->parts[i].done;
	}
	rc = pm_threads_run(&threads, per_s, err);
	*ret = 0;
	for (unsigned i = 0; !rc && i < run->n; i++)
		*ret += per_s[i];
	for (unsigned i = 0; i < run->n; i++)
		run->parts[i].done = workers[i].done;
	return rc;
}

bool pm_looping_has_passed(const struct pm_looping *run)
{
	const struct pm_loop *loop = &pm_loops[run->loop];

	for (unsigned i = 0; i < run->n; i++) {
		struct pm_loop_arrays arrays;

		pm_looping_divide(&run->parts[i], loop, &arrays);
		if (run->parts[i].done < loop->units(&arrays))
			return false;
	}
	return true;
}
