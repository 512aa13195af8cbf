/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TESTS_THREADS_H
#define PM_TESTS_THREADS_H

#include <pthread.h>
#include <stdint.h>

#define THREADS_MAX 64

/* Runs `run` in n threads, with 1, 2, ... as its argument, and waits for all. */
static void run_threads(unsigned n, void *(*run)(void *number))
{
	pthread_t threads[THREADS_MAX];

	for (uintptr_t i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, (void *)(i + 1));
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

#endif
