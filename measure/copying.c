/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/copying.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "copy/copy.h"
#include "measure/threads.h"

#define CHUNK ((size_t)1 << 20) /* between two looks at the clock */

struct copying {
	const struct pm_copying *run;
	size_t *done; /* chunks of each thread */
};

static void copy_chunk(const struct pm_copying *run, unsigned thread, size_t at)
{
	if (thread < run->n_in)
		pm_copy(run->dram.at + at, run->pmem.at + at, CHUNK, PM_COPY_STREAMED);
	else
		pm_copy(run->pmem.at + at, run->dram.at + at, CHUNK, PM_COPY_PERSISTED);
}

static size_t step(void *context, unsigned thread)
{
	struct copying *copying = context;
	const struct pm_copying *run = copying->run;
	size_t chunks = run->dram.bytes / CHUNK / (run->n_in + run->n_out);

	copy_chunk(run, thread, (thread * chunks + copying->done[thread]++ % chunks) * CHUNK);
	return CHUNK;
}

static int run_threads(struct copying *copying, double *per_s, struct pm_err *err)
{
	const struct pm_copying *run = copying->run;
	struct pm_threads threads = {
		run->cpus, run->n_in + run->n_out, run->seconds, step, copying};

	return pm_threads_run(&threads, per_s, err);
}

int pm_copying_run(
	const struct pm_copying *run, double *ret_in, double *ret_out, struct pm_err *err)
{
	unsigned n = run->n_in + run->n_out;
	cleanup_free double *per_s = calloc(n, sizeof(*per_s));
	struct copying copying = {run, calloc(n, sizeof(*copying.done))};
	int rc = per_s && copying.done ? run_threads(&copying, per_s, err) : pm_err_nomem(err);

	free(copying.done);
	if (rc)
		return rc;
	*ret_in = *ret_out = 0;
	for (unsigned i = 0; i < n; i++)
		*(i < run->n_in ? ret_in : ret_out) += per_s[i];
	return 0;
}
