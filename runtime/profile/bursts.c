/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/bursts.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "runtime/common/clock.h"
#include "runtime/common/log.h"
#include "runtime/heap/heap.h"
#include "runtime/profile/accessed_pages.h"
#include "runtime/profile/live_objects.h"
#include "runtime/profile/object_mappings.h"
#include "runtime/profile/profile.h"
#include "runtime/profile/site_accesses.h"
#include "runtime/profile/written_pages.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1u << 1) /* Linux 5.9 */
#endif

#define MILLISECOND UINT64_C(1000000)
#define EPOCH_MIN   (MILLISECOND / 10)
#define EPOCH_MAX   (1000 * MILLISECOND)
#define EPOCH	    (2 * MILLISECOND)	/* where there are no iterations */
#define FIRST	    (100 * MILLISECOND) /* not before */
#define LOST_CLOCK  10 /* no iteration for so many of them: the main loop has ended */
#define PAGE	    4096
#define PAGE_NS	    120	 /* to set an accessed bit again, measured */
#define WRITE_NS    1000 /* to lift a write protection */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	pthread_t thread;
	pid_t pid;
	bool is_on;			    /* wanted, and this is not a child */
	atomic_bool is_started, is_running; /* the thread; a burst */
	bool must_end;

	/* Iterations: the last one's number, begin and length. `is_fresh`: no burst has seen it. */
	uint32_t number, phases;
	uint64_t began_ns, period_ns;
	bool is_fresh, is_first; /* is_first: the main loop has begun, no burst has seen it */

	/* The thread's own. */
	uint64_t start_ns, next_ns, epoch_ns, accessed_bytes, written_bytes;
	struct pm_record_source source;
} bursts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t now(void)
{
	return pm_clock_ns(CLOCK_MONOTONIC);
}

/* --- under the lock --- */

static void wait_until(uint64_t ns)
{
	struct timespec until = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	pthread_cond_timedwait(&bursts.changed, &bursts.lock, &until);
}

/* True: the program is in its main loop. */
static bool has_iterations(uint64_t at_ns)
{
	return bursts.period_ns && at_ns - bursts.began_ns < LOST_CLOCK * bursts.period_ns;
}

/* True: a burst begins. False: the thread has waited, or is to end. */
static bool is_due(void)
{
	uint64_t at_ns = now();
	bool by_iteration = has_iterations(at_ns);

	if (bursts.must_end)
		return false;
	if (bursts.is_first || (at_ns >= bursts.next_ns && (!by_iteration || bursts.is_fresh)))
		return true;
	wait_until(at_ns < bursts.next_ns ? bursts.next_ns
					  : bursts.began_ns + LOST_CLOCK * bursts.period_ns);
	return false;
}

/* Waits for an epoch's end. False: the burst is at its end. */
static bool wait_for_epoch(bool by_iteration)
{
	uint64_t until_ns = now() + bursts.epoch_ns;
	bool is_last;

	pthread_mutex_lock(&bursts.lock);
	while (!bursts.must_end && now() < until_ns)
		wait_until(until_ns);
	is_last = bursts.must_end || by_iteration != has_iterations(now());
	pthread_mutex_unlock(&bursts.lock);
	return !is_last;
}

/* --- a burst --- */

static uint64_t pages_of(const struct pm_live_view *live)
{
	return (live->bytes + PAGE - 1) / PAGE * PAGE;
}

/* The bytes for which some of an object's bytes stand: a sample is one of many small objects. */
static uint64_t stands_for(const struct pm_live_view *live, uint64_t bytes)
{
	bytes = MIN(bytes, pages_of(live));
	return live->bytes >= PM_LARGE ? bytes : PM_PROFILE_SAMPLE_BYTES * bytes / pages_of(live);
}

static void add(const struct pm_live_view *live, uint64_t accessed_bytes, uint64_t written_bytes)
{
	if (!pm_site_accesses_add(live->site, live->bytes >= PM_LARGE,
		    stands_for(live, accessed_bytes), stands_for(live, written_bytes)))
		bursts.source.lost++;
}

/*
 * Nearly all mappings of a burst have one object; the objects of others share. An object that was
 * freed in this epoch counts: of those that began at one place, the last.
 */
static void count_accessed(uintptr_t start, uintptr_t end, uint64_t bytes)
{
	struct pm_live_view live;
	uint64_t of = 0;

	bursts.accessed_bytes += bytes;
	if (!pm_heap_owns((void *)start))
		return;
	end = MIN(end, pm_heap.base + pm_heap.size);
	for (uintptr_t at = start; pm_live_objects_next(at, end, &live);
		at = live.start + live.bytes)
		of += live.bytes;
	for (uintptr_t at = start; pm_live_objects_next(at, end, &live);
		at = live.start + live.bytes)
		add(&live, (uint64_t)((double)bytes * (double)live.bytes / (double)of), 0);
}

static void protect(const struct pm_live_view *live)
{
	(void)pm_written_pages_take(live->start, live->bytes);
}

static void count_written(const struct pm_live_view *live)
{
	uint64_t bytes = pm_written_pages_take(live->start, live->bytes);

	/* Of a large object few pages were protected, and stand for all. */
	bursts.written_bytes += MIN(bytes, PM_WRITTEN_PIECES * PM_GRANULE);
	add(live, 0, bytes);
}

static uint64_t run_epochs(bool by_iteration, bool with_writes)
{
	uint64_t from_ns = now();
	bool is_last = false;

	if (with_writes)
		pm_live_objects_each(protect);
	for (int i = 0; i < PM_BURST_EPOCHS && !is_last; i++) {
		if (!pm_accessed_pages_clear())
			break;
		is_last = !wait_for_epoch(by_iteration);
		if (!pm_accessed_pages_read(count_accessed))
			break;
		if (with_writes)
			pm_live_objects_each(count_written);
		bursts.source.epochs++;
	}
	return now() - from_ns;
}

/* `record` has the iteration and the phases in which it begins. */
static void burst(bool by_iteration, struct pm_record_accesses *record)
{
	uint64_t cpu_ns = pm_clock_ns(CLOCK_THREAD_CPUTIME_ID), cost_ns;
	bool with_writes = !pm_written_pages_begin();

	record->head = (struct pm_record){
		PM_RECORD_ACCESSES, sizeof(*record), ++bursts.source.head.number};
	record->written_bytes = with_writes ? 0 : UINT64_MAX;
	bursts.accessed_bytes = bursts.written_bytes = 0;
	atomic_store(&bursts.is_running, true);
	pm_object_mappings_split_all();
	record->from_ns = now() - bursts.start_ns;
	record->epochs_ns = run_epochs(by_iteration, with_writes);
	atomic_store(&bursts.is_running, false);
	bursts.source.lost += pm_object_mappings_merge();
	if (with_writes)
		pm_written_pages_end();
	bursts.source.running_ns += record->epochs_ns;
	pm_site_accesses_write(record);
	cpu_ns = pm_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	bursts.source.cpu_ns += cpu_ns;
	cost_ns = cpu_ns + bursts.accessed_bytes / PAGE * PAGE_NS +
		  bursts.written_bytes / PAGE * WRITE_NS;
	bursts.next_ns = now() + PM_BURST_SHARE * cost_ns;
}

/* --- the thread --- */

/* A table of descriptors of its own, and empty: the program's files are not kept open by it. */
static int open_files(void)
{
	if (close_range(0, ~0U, CLOSE_RANGE_UNSHARE))
		return -errno;
	(void)pm_written_pages_open();
	return pm_accessed_pages_open();
}

static void *run(void *context)
{
	int rc = open_files();

	(void)context;
	pthread_mutex_lock(&bursts.lock);
	while (!rc && !bursts.must_end) {
		struct pm_record_accesses record = {0};
		bool by_iteration;

		if (!is_due())
			continue;
		by_iteration = has_iterations(now());
		record.iteration = bursts.number;
		record.phases = bursts.phases;
		bursts.is_fresh = bursts.is_first = false;
		bursts.epoch_ns = by_iteration ? bursts.period_ns / PM_BURST_EPOCHS : EPOCH;
		bursts.epoch_ns = MAX(EPOCH_MIN, MIN(bursts.epoch_ns, EPOCH_MAX));
		pthread_mutex_unlock(&bursts.lock);
		burst(by_iteration, &record);
		pthread_mutex_lock(&bursts.lock);
	}
	pthread_mutex_unlock(&bursts.lock);
	if (rc)
		pm_log("PM_PROFILE: accesses are not measured, clear_refs and smaps of proc(5) "
		       "cannot be opened: %s",
			strerrordesc_np(-rc));
	return NULL;
}

/* A child of vfork(2) has its parent's memory, and must not make threads in it. */
static void start_thread(void)
{
	sigset_t all, before;

	if (bursts.pid != getpid() || atomic_exchange(&bursts.is_started, true))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&bursts.thread, NULL, run, NULL))
		bursts.is_on = false;
	else
		(void)pthread_setname_np(bursts.thread, "pm-bursts");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- public --- */

static void init_condition(void)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&bursts.changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void pm_bursts_start(uint64_t start_ns)
{
	init_condition();
	bursts.pid = getpid();
	bursts.start_ns = start_ns;
	bursts.next_ns = bursts.start_ns + FIRST;
	bursts.is_on = !pm_object_mappings_start();
}

void pm_bursts_alloc(const void *object, size_t bytes)
{
	if (!bursts.is_on)
		return;
	if (atomic_load_explicit(&bursts.is_running, memory_order_acquire))
		pm_object_mappings_split(object, bytes);
	else if (bytes >= PM_LARGE &&
		 !atomic_load_explicit(&bursts.is_started, memory_order_relaxed))
		start_thread();
}

void pm_bursts_iteration(uint32_t number)
{
	uint64_t at_ns;

	if (!bursts.is_on)
		return;
	pthread_mutex_lock(&bursts.lock);
	at_ns = now();
	bursts.is_first |= number == 2;
	bursts.period_ns = number > 1 ? at_ns - bursts.began_ns : 0;
	bursts.began_ns = at_ns;
	bursts.number = number;
	bursts.is_fresh = bursts.period_ns;
	pthread_cond_signal(&bursts.changed);
	pthread_mutex_unlock(&bursts.lock);
}

void pm_bursts_phase(uint32_t number)
{
	if (!bursts.is_on)
		return;
	pthread_mutex_lock(&bursts.lock);
	bursts.phases = number;
	pthread_mutex_unlock(&bursts.lock);
}

bool pm_bursts_end(struct pm_record_source *ret)
{
	if (!bursts.is_on || !atomic_load(&bursts.is_started))
		return false;
	pthread_mutex_lock(&bursts.lock);
	bursts.must_end = true;
	pthread_cond_signal(&bursts.changed);
	pthread_mutex_unlock(&bursts.lock);
	pthread_join(bursts.thread, NULL);
	bursts.is_on = false;
	*ret = bursts.source;
	ret->head = (struct pm_record){PM_RECORD_SOURCE, sizeof(*ret), PM_ACCESSES_BY_BURSTS};
	ret->enabled_ns = now() - bursts.start_ns;
	ret->period = ret->epochs ? ret->running_ns / ret->epochs : 0;
	return ret->epochs;
}

void pm_bursts_before_fork(void)
{
	pthread_mutex_lock(&bursts.lock);
}

void pm_bursts_after_fork(void)
{
	pthread_mutex_unlock(&bursts.lock);
}

void pm_bursts_after_fork_in_child(void)
{
	pthread_mutex_unlock(&bursts.lock);
	bursts.is_on = false;
	atomic_store(&bursts.is_running, false);
}
