/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/profile/bursts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/param.h>
#include <time.h>

#include "runtime/common/clock.h"
#include "runtime/heap/heap.h"
#include "runtime/profile/accessed_pages.h"
#include "runtime/profile/live_objects.h"
#include "runtime/profile/loop_clock.h"
#include "runtime/profile/object_mappings.h"
#include "runtime/profile/profile.h"
#include "runtime/profile/site_accesses.h"
#include "runtime/profile/written_pages.h"

#define MILLISECOND UINT64_C(1000000)
#define EPOCH_MIN   (MILLISECOND / 10)
#define EPOCH_MAX   (1000 * MILLISECOND)
#define EPOCH	    (2 * MILLISECOND)	/* where there are no iterations */
#define FIRST	    (100 * MILLISECOND) /* not before */
#define LOST_CLOCK  10 /* no iteration for so many of them: the main loop has ended */
#define PAGE	    4096
#define PAGE_NS	    120			/* to set an accessed bit again, measured */
#define WRITE_NS    1000		/* to lift a write protection */
#define EPOCH_NS    300			/* a page in an epoch, before the first burst has told */
#define LOOK	    (100 * MILLISECOND) /* from one estimate of the first burst's cost to the next */

static struct {
	atomic_bool is_running;
	uint64_t start_ns, next_ns, epoch_ns; /* of CLOCK_MONOTONIC: the profile, the next burst */
	uint64_t accessed_bytes, written_bytes;
	uint32_t n;
	bool by_name; /* the first burst comes whatever it costs */
	struct pm_record_source *record;
} bursts;

/* --- counting --- */

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
		bursts.record->lost++;
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

/* --- a burst --- */

/* True: the program is in its main loop. */
static bool has_iterations(const struct pm_loop *loop)
{
	return loop->period_ns && pm_clock_now() - loop->began_ns < LOST_CLOCK * loop->period_ns;
}

/* Waits for an epoch's end. False: the burst is at its end. */
static bool wait_for_epoch(bool by_iteration)
{
	struct pm_loop loop;

	if (!pm_loop_wait(pm_clock_now() + bursts.epoch_ns))
		return false;
	loop = pm_loop_get(false);
	return by_iteration == has_iterations(&loop);
}

static uint64_t run_epochs(bool by_iteration, bool with_writes)
{
	uint64_t from_ns = pm_clock_now();
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
		bursts.record->count++;
	}
	return pm_clock_now() - from_ns;
}

static uint64_t cost_ns(uint64_t cpu_ns)
{
	return cpu_ns + bursts.accessed_bytes / PAGE * PAGE_NS +
	       bursts.written_bytes / PAGE * WRITE_NS;
}

static void burst(const struct pm_loop *loop)
{
	struct pm_record_accesses record = {
		.head = {PM_RECORD_ACCESSES, sizeof(record), ++bursts.n},
		.iteration = loop->number,
		.phases = loop->phases};
	uint64_t cpu_ns = pm_clock_ns(CLOCK_THREAD_CPUTIME_ID), epochs = bursts.record->count;
	bool with_writes = !pm_written_pages_begin();

	record.written_bytes = with_writes ? 0 : UINT64_MAX;
	bursts.accessed_bytes = bursts.written_bytes = 0;
	atomic_store(&bursts.is_running, true);
	pm_object_mappings_split_all();
	record.from_ns = pm_clock_now() - bursts.start_ns;
	record.length_ns = run_epochs(has_iterations(loop), with_writes);
	record.count = bursts.record->count - epochs;
	atomic_store(&bursts.is_running, false);
	bursts.record->lost += pm_object_mappings_merge();
	if (with_writes)
		pm_written_pages_end();
	bursts.record->running_ns += record.length_ns;
	pm_site_accesses_write(&record);
	cpu_ns = pm_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	bursts.record->cpu_ns += cpu_ns;
	bursts.next_ns = pm_clock_now() + PM_BURST_SHARE * cost_ns(cpu_ns);
}

/* What the first burst is likely to cost, from the bytes that the heap holds. */
static uint64_t first_cost_ns(void)
{
	uint64_t bytes = 0;

	for (int i = 0; i < PM_SPACES; i++)
		bytes += pm_heap_used_bytes((enum pm_space_id)i);
	return bytes / PAGE * EPOCH_NS * PM_BURST_EPOCHS;
}

/* When the first burst may begin. */
static uint64_t first_ns(void)
{
	uint64_t rest_ns = MIN(PM_BURST_SHARE * first_cost_ns(), PM_BURST_REST_NS);

	return bursts.start_ns + (bursts.by_name ? FIRST : MAX(FIRST, rest_ns));
}

/* True: a burst is to begin. */
static bool is_due(const struct pm_loop *loop)
{
	if (!bursts.n)
		bursts.next_ns = first_ns();
	return (bursts.by_name && loop->is_first) ||
	       (pm_clock_now() >= bursts.next_ns && (!has_iterations(loop) || loop->is_fresh));
}

/*
 * Waits until a burst may be due. An iteration that begins before that time is none to wait for,
 * but for the first one where it does not matter what bursts cost. False: the process ends.
 */
static bool rest(const struct pm_loop *loop)
{
	uint64_t at_ns = pm_clock_now(), until_ns = bursts.next_ns;

	if (at_ns >= until_ns)
		return pm_loop_wait_for_iteration(loop->began_ns + LOST_CLOCK * loop->period_ns);
	if (!bursts.n)
		until_ns = MIN(until_ns, at_ns + LOOK);
	return bursts.by_name && loop->number < 2 ? pm_loop_wait_for_iteration(until_ns)
						  : pm_loop_wait(until_ns);
}

/* --- public --- */

int pm_bursts_open(void)
{
	int rc = pm_object_mappings_start();

	(void)pm_written_pages_open();
	return rc ? rc : pm_accessed_pages_open();
}

void pm_bursts_run(uint64_t start_ns, bool by_name, struct pm_record_source *record)
{
	struct pm_loop loop;

	bursts.start_ns = start_ns;
	bursts.by_name = by_name;
	bursts.record = record;
	record->head.number = PM_ACCESSES_BY_BURSTS;
	do {
		loop = pm_loop_get(false);
		if (!is_due(&loop))
			continue;
		loop = pm_loop_get(true);
		bursts.epoch_ns = has_iterations(&loop) ? loop.period_ns / PM_BURST_EPOCHS : EPOCH;
		bursts.epoch_ns = MAX(EPOCH_MIN, MIN(bursts.epoch_ns, EPOCH_MAX));
		burst(&loop);
	} while (rest(&loop));
	record->period = record->count ? record->running_ns / record->count : 0;
}

void pm_bursts_alloc(const void *object, size_t bytes)
{
	if (atomic_load_explicit(&bursts.is_running, memory_order_acquire))
		pm_object_mappings_split(object, bytes);
}

void pm_bursts_after_fork_in_child(void)
{
	atomic_store(&bursts.is_running, false);
}
