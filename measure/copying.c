/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "measure/copying.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "copy/copy.h"

#define CHUNK ((size_t)1 << 20) /* between two looks at the clock */

struct gate {
	atomic_uint ready; /* threads that wait */
	atomic_int go;	   /* 1: begin; -1: end */
};

struct worker {
	const struct pm_copying *run;
	struct gate *gate;
	unsigned index; /* among all threads */
	double bytes_per_s;
	int rc;
};

static int bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return -pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static bool wait_at(struct gate *gate)
{
	int go;

	atomic_fetch_add(&gate->ready, 1);
	while (!(go = atomic_load(&gate->go)))
		sched_yield();
	return go > 0;
}

static void copy_chunk(const struct worker *worker, size_t at)
{
	const struct pm_copying *run = worker->run;

	if (worker->index < run->n_in)
		pm_copy(run->dram.at + at, run->pmem.at + at, CHUNK, PM_COPY_STREAMED);
	else
		pm_copy(run->pmem.at + at, run->dram.at + at, CHUNK, PM_COPY_PERSISTED);
}

static void copy_for_a_while(struct worker *worker)
{
	unsigned n = worker->run->n_in + worker->run->n_out;
	size_t chunks = worker->run->dram.bytes / CHUNK / n, first = worker->index * chunks;
	uint64_t start = pm_now_ns(), now = start;
	size_t done = 0;

	while ((double)(now - start) < worker->run->seconds * 1e9) {
		copy_chunk(worker, (first + done % chunks) * CHUNK);
		done++;
		now = pm_now_ns();
	}
	worker->bytes_per_s = (double)(done * CHUNK) * 1e9 / (double)(now - start);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	worker->rc = bind_to(worker->run->cpus[worker->index]);
	if (wait_at(worker->gate) && !worker->rc)
		copy_for_a_while(worker);
	return NULL;
}

/* Threads that were started, all if *ret_rc is 0. */
static unsigned start_all(struct worker *workers, pthread_t *threads, unsigned n, int *ret_rc)
{
	for (unsigned i = 0; i < n; i++) {
		*ret_rc = -pthread_create(&threads[i], NULL, work, &workers[i]);
		if (*ret_rc)
			return i;
	}
	return n;
}

static int run_all(struct worker *workers, pthread_t *threads, unsigned n, struct gate *gate)
{
	int rc = 0;
	unsigned started = start_all(workers, threads, n, &rc);

	while (atomic_load(&gate->ready) < started)
		sched_yield();
	atomic_store(&gate->go, rc ? -1 : 1);
	for (unsigned i = 0; i < started; i++) {
		pthread_join(threads[i], NULL);
		rc = rc ? rc : workers[i].rc;
	}
	return rc;
}

int pm_copying_run(
	const struct pm_copying *run, double *ret_in, double *ret_out, struct pm_err *err)
{
	unsigned n = run->n_in + run->n_out;
	cleanup_free struct worker *workers = calloc(n, sizeof(*workers));
	cleanup_free pthread_t *threads = calloc(n, sizeof(*threads));
	struct gate gate = {0};
	int rc;

	if (!workers || !threads)
		return pm_err_nomem(err);
	for (unsigned i = 0; i < n; i++)
		workers[i] = (struct worker){.run = run, .gate = &gate, .index = i};
	rc = run_all(workers, threads, n, &gate);
	if (rc)
		return pm_err_sys(err, rc, "run %u threads", n);
	*ret_in = *ret_out = 0;
	for (unsigned i = 0; i < n; i++)
		*(i < run->n_in ? ret_in : ret_out) += workers[i].bytes_per_s;
	return 0;
}
