/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_CLOCK_H
#define PM_RUNTIME_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock, clock_gettime(2). */
static inline uint64_t pm_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t pm_clock_now(void)
{
	return pm_clock_ns(CLOCK_MONOTONIC);
}

#endif
