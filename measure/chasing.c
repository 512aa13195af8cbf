/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/chasing.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "copy/kernels.h"
#include "measure/threads.h"

#define READS 4096		/* between two looks at the clock */
#define CHUNK ((size_t)1 << 17) /* elements that another thread reads between two looks */

struct chasing {
	const struct pm_chasing *run;
	const char *at;		       /* the line that is read next */
	struct pm_loop_arrays *arrays; /* of the other threads */
	size_t *done;		       /* elements that they have read */
};

/* One cycle through a power of two of lines. */
void pm_chasing_link(char *at, size_t bytes)
{
	size_t lines = bytes / PM_COPY_LINE;
	uint64_t mask;

	while (lines & (lines - 1))
		lines &= lines - 1;
	mask = lines - 1;
	for (uint64_t i = 0; i < lines; i++) {
		uint64_t next = pm_loop_next_random(i, mask);

		*(const char **)(void *)(at + i * PM_COPY_LINE) = at + next * PM_COPY_LINE;
	}
}

static size_t chase(struct chasing *chasing)
{
	const char *at = chasing->at;

	for (unsigned i = 0; i < READS; i++)
		at = *(const char *const *)(const void *)at;
	chasing->at = at;
	return READS;
}

static size_t step(void *context, unsigned thread)
{
	struct chasing *chasing = context;
	struct pm_loop_arrays *arrays;
	size_t at, n;

	if (!thread)
		return chase(chasing);
	arrays = &chasing->arrays[thread - 1];
	at = chasing->done[thread - 1] % arrays->n;
	n = CHUNK < arrays->n - at ? CHUNK : arrays->n - at;
	chasing->done[thread - 1] += n;
	return pm_loops[PM_LOOP_READ].run(arrays, at, n);
}

int pm_chasing_run(const struct pm_chasing *run, double *ret, struct pm_err *err)
{
	unsigned n = run->n_others + 1;
	cleanup_free struct pm_loop_arrays *arrays = calloc(n, sizeof(*arrays));
	cleanup_free size_t *done = calloc(n, sizeof(*done));
	cleanup_free double *per_s = calloc(n, sizeof(*per_s));
	cleanup_free int *cpus = calloc(n, sizeof(*cpus));
	struct chasing chasing = {run, run->chain, arrays, done};
	struct pm_threads threads = {cpus, n, run->seconds, step, &chasing};
	int rc;

	if (!arrays || !done || !per_s || !cpus)
		return pm_err_nomem(err);
	cpus[0] = run->cpu;
	for (unsigned i = 0; i < run->n_others; i++) {
		cpus[i + 1] = run->others[i].cpu;
		pm_looping_divide(&run->others[i], &pm_loops[PM_LOOP_READ], &arrays[i]);
	}
	rc = pm_threads_run(&threads, per_s, err);
	if (!rc)
		*ret = 1e12 / per_s[0];
	return rc;
}
