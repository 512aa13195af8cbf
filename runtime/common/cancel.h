/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_CANCEL_H
#define PM_RUNTIME_CANCEL_H

/*
 * No allocation function is a cancellation point, pthreads(7): a thread that is to be cancelled
 * must not end in an open(2) or write(2) of ours, with a space locked. Whoever calls such, and may
 * be on the way of an allocation, does it between these two.
 */
#include <pthread.h>

static inline int pm_cancel_off(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void pm_cancel_back(int before)
{
	(void)pthread_setcancelstate(before, NULL);
}

#endif
