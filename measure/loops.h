/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LOOPS_H
#define PM_LOOPS_H

/*
 * The loops that are measured: those of STREAM (paper 004) and the access loops of paper 002,
 * section 6.1. Plain C, as a compiler makes it for any processor of the architecture.
 */
#include <stddef.h>
#include <stdint.h>

#include "site/site_profile.h"

#define PM_LOOP_TO_MAX	 2
#define PM_LOOP_FROM_MAX 8

/* The arrays of one thread: `n` elements each. */
struct pm_loop_arrays {
	double *to[PM_LOOP_TO_MAX];
	const double *from[PM_LOOP_FROM_MAX];
	size_t n;
	size_t side;	       /* of the square matrices in them */
	uint64_t random_state; /* the next element in random order */
	volatile double sink;  /* keeps the compiler from dropping a loop without stores */
};

struct pm_loop {
	unsigned to, from; /* arrays that it writes and reads */
	/* Units that an array has: elements, or lines of a matrix. `first` and `n` count these. */
	size_t (*units)(const struct pm_loop_arrays *arrays);
	/* Returns the bytes that its statements write and read. */
	size_t (*run)(struct pm_loop_arrays *arrays, size_t first, size_t n);
};

extern const struct pm_loop pm_loops[PM_LOOPS];

/*
 * The number after `at` in an order that looks random and visits each of 0 to mask once; mask is a
 * power of two less 1. A linear congruential generator of full period (Knuth, volume 2, 3.2.1.2,
 * theorem A).
 */
static inline uint64_t pm_loop_next_random(uint64_t at, uint64_t mask)
{
	return (at * 6364136223846793005U + 1442695040888963407U) & mask;
}

#endif
