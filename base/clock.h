/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CLOCK_H
#define PM_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Time since an arbitrary start. Setting the system's clock does not change it. */
static inline uint64_t pm_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The same in nanoseconds, for measurements. */
static inline uint64_t pm_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* `ms` is below 1000. A signal ends the pause early. */
static inline void pm_pause_ms(unsigned ms)
{
	struct timespec time = {.tv_nsec = (long)ms * 1000000};

	(void)nanosleep(&time, NULL);
}

#endif
