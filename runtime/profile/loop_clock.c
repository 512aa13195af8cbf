/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/loop_clock.h"

#include <pthread.h>

#include "runtime/common/clock.h"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	struct pm_loop loop;
	bool is_ended;
} watched = {.lock = PTHREAD_MUTEX_INITIALIZER};

void pm_loop_start(void)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&watched.changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void pm_loop_iteration(uint32_t number)
{
	struct pm_loop *loop = &watched.loop;
	uint64_t at_ns;

	pthread_mutex_lock(&watched.lock);
	at_ns = pm_clock_now();
	loop->is_first |= number == 2; /* the first whole one has ended */
	loop->period_ns = number > 1 ? at_ns - loop->began_ns : 0;
	loop->began_ns = at_ns;
	loop->number = number;
	loop->is_fresh = loop->period_ns;
	pthread_cond_signal(&watched.changed);
	pthread_mutex_unlock(&watched.lock);
}

void pm_loop_phase(uint32_t number)
{
	pthread_mutex_lock(&watched.lock);
	watched.loop.phases = number;
	pthread_mutex_unlock(&watched.lock);
}

void pm_loop_end(void)
{
	pthread_mutex_lock(&watched.lock);
	watched.is_ended = true;
	pthread_cond_signal(&watched.changed);
	pthread_mutex_unlock(&watched.lock);
}

struct pm_loop pm_loop_get(bool take)
{
	struct pm_loop loop;

	pthread_mutex_lock(&watched.lock);
	loop = watched.loop;
	if (take)
		watched.loop.is_fresh = watched.loop.is_first = false;
	pthread_mutex_unlock(&watched.lock);
	return loop;
}

static bool wait_until(uint64_t until_ns, bool for_iteration)
{
	struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
	bool goes_on;

	pthread_mutex_lock(&watched.lock);
	while (!watched.is_ended && !(for_iteration && watched.loop.is_fresh) &&
		pm_clock_now() < until_ns)
		pthread_cond_timedwait(&watched.changed, &watched.lock, &until);
	goes_on = !watched.is_ended;
	pthread_mutex_unlock(&watched.lock);
	return goes_on;
}

bool pm_loop_wait(uint64_t until_ns)
{
	return wait_until(until_ns, false);
}

bool pm_loop_wait_for_iteration(uint64_t until_ns)
{
	return wait_until(until_ns, true);
}

void pm_loop_lock(void)
{
	pthread_mutex_lock(&watched.lock);
}

void pm_loop_unlock(void)
{
	pthread_mutex_unlock(&watched.lock);
}
