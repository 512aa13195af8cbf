/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/accesses.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/clock.h"
#include "runtime/common/log.h"
#include "runtime/heap/heap.h"
#include "runtime/profile/bursts.h"
#include "runtime/profile/loop_clock.h"
#include "runtime/profile/samples.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1u << 1) /* Linux 5.9 */
#endif

static struct {
	pthread_t thread;
	pid_t pid;
	bool is_on;		/* wanted, and this is not a child */
	atomic_bool is_started; /* the thread */
	enum pm_profile_source source;
	uint64_t start_ns;
	int failure; /* -errno: why nothing is measured; the thread cannot log, stderr is closed
			there */
	struct pm_record_source record; /* the thread's own until it has ended */
} accesses;

/* --- the thread --- */

/* Samples if these are wanted and work. *ret_rc: why they do not. */
static bool measure_by_samples(int *ret_rc)
{
	*ret_rc = pm_samples_open(accesses.source, &accesses.record);
	if (*ret_rc)
		return false;
	pm_samples_run(accesses.start_ns, &accesses.record);
	return true;
}

static void measure(void)
{
	int rc = 0;

	if (accesses.source != PM_PROFILE_BURSTS && measure_by_samples(&rc))
		return;
	accesses.record.not_samples = (uint64_t)-rc;
	if (accesses.source == PM_PROFILE_AUTO || accesses.source == PM_PROFILE_BURSTS)
		rc = pm_bursts_open();
	if (rc)
		accesses.failure = rc;
	else
		pm_bursts_run(
			accesses.start_ns, accesses.source == PM_PROFILE_BURSTS, &accesses.record);
}

/* A table of descriptors of its own, and empty: the program's files are not kept open by it. */
static void *run(void *context)
{
	(void)context;
	if (close_range(0, ~0U, CLOSE_RANGE_UNSHARE))
		accesses.failure = -errno;
	else
		measure();
	return NULL;
}

/* A child of vfork(2) has its parent's memory, and must not make threads in it. */
static void start_thread(void)
{
	sigset_t all, before;

	if (accesses.pid != getpid() || atomic_exchange(&accesses.is_started, true))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&accesses.thread, NULL, run, NULL))
		accesses.is_on = false;
	else
		(void)pthread_setname_np(accesses.thread, "pm-accesses");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- public --- */

void pm_accesses_start(enum pm_profile_source source, uint64_t start_ns)
{
	pm_loop_start();
	accesses.pid = getpid();
	accesses.source = source;
	accesses.start_ns = start_ns;
	accesses.is_on = source != PM_PROFILE_NONE;
}

void pm_accesses_alloc(const void *object, size_t bytes)
{
	if (!accesses.is_on)
		return;
	pm_bursts_alloc(object, bytes);
	if (bytes >= PM_LARGE && !atomic_load_explicit(&accesses.is_started, memory_order_relaxed))
		start_thread();
}

void pm_accesses_iteration(uint32_t number)
{
	if (accesses.is_on)
		pm_loop_iteration(number);
}

void pm_accesses_phase(uint32_t number)
{
	if (accesses.is_on)
		pm_loop_phase(number);
}

bool pm_accesses_end(struct pm_record_source *ret)
{
	if (!accesses.is_on || !atomic_load(&accesses.is_started))
		return false;
	pm_loop_end();
	pthread_join(accesses.thread, NULL);
	accesses.is_on = false;
	if (accesses.failure)
		pm_log("PM_PROFILE: accesses are not measured by %s: %s",
			pm_profile_source_names[accesses.source],
			strerrordesc_np(-accesses.failure));
	*ret = accesses.record;
	ret->head.kind = PM_RECORD_SOURCE;
	ret->head.bytes = sizeof(*ret);
	ret->enabled_ns = pm_clock_now() - accesses.start_ns;
	return ret->count;
}

void pm_accesses_before_fork(void)
{
	pm_loop_lock();
}

void pm_accesses_after_fork(void)
{
	pm_loop_unlock();
}

void pm_accesses_after_fork_in_child(void)
{
	pm_loop_unlock();
	accesses.is_on = false;
	pm_bursts_after_fork_in_child();
}
