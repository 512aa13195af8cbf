/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "measure/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"

struct gate {
	atomic_uint ready; /* threads that wait */
	atomic_int go;	   /* 1: begin; -1: end */
};

struct worker {
	const struct pm_threads *run;
	struct gate *gate;
	unsigned index;
	double per_s;
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

static void work_for_a_while(struct worker *worker)
{
	const struct pm_threads *run = worker->run;
	uint64_t start = pm_now_ns(), now = start;
	size_t done = 0;

	while ((double)(now - start) < run->seconds * 1e9) {
		done += run->step(run->context, worker->index);
		now = pm_now_ns();
	}
	worker->per_s = (double)done * 1e9 / (double)(now - start);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	worker->rc = bind_to(worker->run->cpus[worker->index]);
	if (wait_at(worker->gate) && !worker->rc)
		work_for_a_while(worker);
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

int pm_threads_run(const struct pm_threads *run, double *ret_per_s, struct pm_err *err)
{
	cleanup_free struct worker *workers = calloc(run->n, sizeof(*workers));
	cleanup_free pthread_t *threads = calloc(run->n, sizeof(*threads));
	struct gate gate = {0};
	int rc;

	if (!workers || !threads)
		return pm_err_nomem(err);
	for (unsigned i = 0; i < run->n; i++)
		workers[i] = (struct worker){.run = run, .gate = &gate, .index = i};
	rc = run_all(workers, threads, run->n, &gate);
	if (rc)
		return pm_err_sys(err, rc, "run %u threads", run->n);
	for (unsigned i = 0; i < run->n; i++)
		ret_per_s[i] = workers[i].per_s;
	return 0;
}
