/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_CANCEL_H
#define PM_RUNTIME_CANCEL_H

/*
 * Keeps allocation functions from being cancellation points. POSIX lists open(2), read(2) and
 * write(2) as cancellation points and malloc(3) not (pthreads(7), "Cancellation points"). A thread
 * that is cancelled inside such a call of ours would end with a space's lock held. Code that may
 * run during an allocation and makes such a call disables cancellation around it.
 */
#include <pthread.h>

/* Returns the previous state, for pm_cancel_restore(). */
static inline int pm_cancel_disable(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void pm_cancel_restore(int before)
{
	(void)pthread_setcancelstate(before, NULL);
}

#endif
