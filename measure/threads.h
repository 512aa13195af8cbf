/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_THREADS_H
#define PM_THREADS_H

/* Threads that do the same for a while, each on a CPU of its own. */
#include <stddef.h>

#include "base/err.h"

struct pm_threads {
	const int *cpus; /* one for each thread */
	unsigned n;
	double seconds; /* a thread ends its present step */
	/* Called again and again by thread 0 to n - 1. Returns the amount that it has done, in the
	 * caller's unit. */
	size_t (*step)(void *context, unsigned thread);
	void *context;
};

/*
 * All threads begin together. ret_per_s[i] is the amount of thread i by its own time, a second.
 * -EAGAIN, -ENOMEM: a thread could not be started; -EINVAL: a CPU may not be used.
 */
int pm_threads_run(const struct pm_threads *run, double *ret_per_s, struct pm_err *err);

#endif
