/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CLOCK_H
#define PM_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Since some time in the past; does not follow changes of the clock. */
static inline uint64_t pm_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Less than a second; a signal ends it. */
static inline void pm_pause_ms(unsigned ms)
{
	struct timespec time = {.tv_nsec = (long)ms * 1000000};

	(void)nanosleep(&time, NULL);
}

#endif
