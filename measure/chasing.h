/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CHASING_H
#define PM_CHASING_H

/* The latency of reads in random order, each of which waits for the one before. */
#include "measure/looping.h"

struct pm_chasing {
	int cpu;
	const char *chain; /* made by pm_chasing_link() */
	/* Threads that read meanwhile; n 0: none. */
	const struct pm_looping_part *others;
	unsigned n_others;
	double seconds; /* of the run */
};

/*
 * Makes an area a chain: each cache line has the address of the next one, and all of them are a
 * single cycle in random order. Bytes of it are used: the largest power of two. Its present bytes
 * are lost.
 */
void pm_chasing_link(char *at, size_t bytes);

/* *ret: picoseconds of a read. Errors of pm_threads_run(). */
int pm_chasing_run(const struct pm_chasing *run, double *ret, struct pm_err *err);

#endif
