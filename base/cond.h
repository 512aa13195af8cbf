/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_COND_H
#define PM_COND_H

#include <pthread.h>
#include <time.h>

/*
 * For pthread_cond_timedwait() until a time of CLOCK_MONOTONIC: by default such a wait is until a
 * time of the wall clock, and lasts an hour longer when that is set back by an hour. Cannot fail on
 * Linux.
 */
static inline void pm_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(cond, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

#endif
