/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/stream/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "runtime/common/cancel.h"
#include "runtime/common/clock.h"
#include "runtime/common/log.h"
#include "runtime/heap/heap.h"
#include "runtime/lifetime/iteration.h"
#include "runtime/lifetime/sizing.h"
#include "runtime/stream/helpers.h"
#include "runtime/stream/intervals.h"
#include "runtime/stream/promotion.h"
#include "runtime/stream/referenced.h"

#define NONE UINT64_MAX

struct copy {
	struct pm_copy_job job;
	uint64_t batch; /* NONE: not posted */
};

struct stream {
	bool is_open;
	struct pm_pass pass;
	bool is_written;
	char *range;
	size_t bytes, batch_bytes, buffer_bytes;
	char *buffers;
	unsigned n_buffers;
	uint64_t n_batches, handed; /* the batch that the program has; NONE */
	bool is_placed;		    /* that one is in the range, to be measured there */
	uint64_t handed_ns;	    /* when; 0: none was */
	struct pm_intervals intervals;
	uint64_t walked, slower; /* intervals with helpers; those that took longer than in place */
	uint64_t checksum;	 /* of that batch as it was handed out */
	struct copy in, out;
};

static struct {
	pthread_mutex_t lock; /* of `is_open` */
	struct stream list[PM_STREAMS_MAX];
	bool checks; /* PM_STREAMS_CHECK=1 */
} streams = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
	atomic_uint_least64_t passes, in_place[PM_IN_PLACES], batches, in_bytes, out_bytes,
		clean_batches, waited_ns;
} counts;

static void count(atomic_uint_least64_t *what, uint64_t n)
{
	atomic_fetch_add_explicit(what, n, memory_order_relaxed);
}

/* --- batches --- */

static char *place_of(const struct stream *stream, uint64_t batch)
{
	return stream->range + batch * stream->batch_bytes;
}

static char *buffer_of(const struct stream *stream, uint64_t batch)
{
	return stream->buffers + batch % stream->n_buffers * stream->buffer_bytes;
}

/* The last batch may be shorter. */
static size_t bytes_of(const struct stream *stream, uint64_t batch)
{
	size_t left = stream->bytes - batch * stream->batch_bytes;

	return left < stream->batch_bytes ? left : stream->batch_bytes;
}

/* FNV-1a over words: only whether a batch has changed. */
static uint64_t checksum(const struct stream *stream, uint64_t batch)
{
	const char *at = buffer_of(stream, batch), *end = at + bytes_of(stream, batch);
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (; at + sizeof(sum) <= end; at += sizeof(sum)) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x100000001b3);
	}
	for (; at < end; at++)
		sum = (sum ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	return sum;
}

/* --- copies --- */

/* One helper copies both directions; two have a direction each, or share the only one. */
static unsigned mask(const struct stream *stream, bool is_out)
{
	if (stream->pass.helpers < 2)
		return stream->pass.helpers;
	return !stream->is_written ? 3 : is_out ? 2 : 1;
}

static void post_in(struct stream *stream, uint64_t batch)
{
	if (batch >= stream->n_batches)
		return;
	stream->in.batch = batch;
	stream->in.job = (struct pm_copy_job){.to = buffer_of(stream, batch),
		.from = place_of(stream, batch),
		.bytes = bytes_of(stream, batch),
		.kind = pm_copy_kind_for(bytes_of(stream, batch)),
		.helpers = mask(stream, false),
		.pace_ns = stream->handed == NONE ? 0 : stream->pass.pace_ns};
	pm_helpers_post(&stream->in.job);
	count(&counts.batches, 1);
	count(&counts.in_bytes, stream->in.job.bytes);
}

static void post_out(struct stream *stream, uint64_t batch)
{
	stream->out.batch = batch;
	stream->out.job = (struct pm_copy_job){.to = place_of(stream, batch),
		.from = buffer_of(stream, batch),
		.bytes = bytes_of(stream, batch),
		.kind = PM_COPY_STREAMED,
		.helpers = mask(stream, true),
		.pace_ns = stream->pass.pace_ns};
	pm_helpers_post(&stream->out.job);
	count(&counts.out_bytes, stream->out.job.bytes);
}

static void wait_for(struct copy *copy)
{
	if (copy->batch == NONE)
		return;
	count(&counts.waited_ns, pm_helpers_wait(&copy->job));
	copy->batch = NONE;
}

/* The batch is in its buffer. */
static void fetch(struct stream *stream, uint64_t batch)
{
	if (stream->in.batch != batch)
		post_in(stream, batch);
	wait_for(&stream->in);
}

/* --- the program's batch --- */

static bool is_dirty(const struct stream *stream, int state)
{
	bool says_clean = state == PM_CLEAN;

	if (!stream->is_written || stream->handed == NONE || stream->is_placed)
		return false;
	if (!says_clean || !streams.checks || checksum(stream, stream->handed) == stream->checksum)
		return !says_clean;
	pm_log("batch %llu of a stream was handed back as PM_CLEAN, but has changed",
		(unsigned long long)stream->handed);
	return true;
}

static void hand_back(struct stream *stream, int state)
{
	bool dirty = is_dirty(stream, state);

	wait_for(&stream->out);
	if (dirty)
		post_out(stream, stream->handed);
	else if (stream->is_written && stream->handed != NONE && !stream->is_placed)
		count(&counts.clean_batches, 1);
	stream->handed = NONE;
	stream->is_placed = false;
}

/* While intervals are compared, each second batch stays where it is. */
static bool stays(const struct stream *stream, uint64_t batch)
{
	return stream->pass.is_compared && stream->n_batches > 1 && batch % 2 == 0;
}

static void *hand_out_in_place(struct stream *stream, uint64_t batch, size_t *ret_bytes)
{
	stream->handed = batch;
	stream->is_placed = true;
	stream->handed_ns = pm_clock_now();
	*ret_bytes = bytes_of(stream, batch);
	return place_of(stream, batch);
}

/* With what the program waited for. */
static void count_interval(struct stream *stream, uint64_t now)
{
	if (!stream->pass.placed_ns || !stream->handed_ns)
		return;
	stream->walked++;
	stream->slower += now - stream->handed_ns > stream->pass.placed_ns;
}

static void *hand_out(struct stream *stream, uint64_t batch, size_t *ret_bytes)
{
	uint64_t now;

	fetch(stream, batch);
	stream->handed = batch;
	if (!stream->pass.is_measuring)
		post_in(stream, batch + 1);
	if (streams.checks)
		stream->checksum = checksum(stream, batch);
	now = pm_clock_now();
	count_interval(stream, now);
	stream->handed_ns = now;
	*ret_bytes = bytes_of(stream, batch);
	return buffer_of(stream, batch);
}

/* The traffic of an interval, except that of its own batch. */
static struct pm_phase_interval interval_of(const struct stream *stream)
{
	uint64_t ranges = 0, used = pm_heap_used_bytes(PM_PMEM);
	struct pm_phase_interval interval = {
		.compute_ns = pm_intervals_median(&stream->intervals, PM_INTERVAL_STAGED),
		.placed_ns = pm_intervals_median(&stream->intervals, PM_INTERVAL_PLACED)};

	pthread_mutex_lock(&streams.lock);
	for (const struct stream *at = streams.list; at < streams.list + PM_STREAMS_MAX; at++) {
		if (!at->is_open)
			continue;
		ranges += pm_heap_owns(at->range) ? at->bytes : 0;
		interval.other_in_bytes += at == stream ? 0 : at->batch_bytes;
		interval.other_out_bytes += at == stream || !at->is_written ? 0 : at->batch_bytes;
	}
	pthread_mutex_unlock(&streams.lock);
	interval.idle_bytes = used > ranges ? used - ranges : 0;
	return interval;
}

static bool is_measured(const struct stream *stream, bool is_last)
{
	unsigned wanted = stream->pass.is_compared ? PM_INTERVAL_SAMPLES : 1;
	unsigned n = stream->intervals.n[PM_INTERVAL_STAGED];

	return n >= wanted || (n && is_last);
}

/* Since the batch was handed out; of a shorter last one as if it were whole. */
static uint64_t interval_ns(const struct stream *stream)
{
	double part = (double)bytes_of(stream, stream->handed) / (double)stream->batch_bytes;

	return (uint64_t)((double)(pm_clock_now() - stream->handed_ns) / part);
}

/* An interval has ended; the last one that this walk measures chooses the helpers. */
static void end_interval(struct stream *stream, bool is_last)
{
	struct pm_phase_interval interval;

	if (!stream->pass.is_measuring || stream->handed == NONE)
		return;
	pm_intervals_add(&stream->intervals,
		stream->is_placed ? PM_INTERVAL_PLACED : PM_INTERVAL_STAGED, interval_ns(stream));
	if (!is_measured(stream, is_last))
		return;
	interval = interval_of(stream);
	pm_phase_measured(&stream->pass, &interval);
	stream->handed_ns = 0;
}

static void end_walk(struct stream *stream)
{
	if (stream->walked)
		pm_phase_walked(&stream->pass, stream->walked, stream->slower);
	stream->walked = stream->slower = 0;
}

/* --- open and close --- */

/* Iterations may be unknown: then nothing is resized. */
static bool is_settled(void)
{
	return (pm_sizing_is_done() || pm_heap.settings.is_fixed || !pm_iteration_number()) &&
	       !pm_helpers_are_busy();
}

static struct stream *take_entry(const struct pm_stream *asked, const struct pm_pass *pass)
{
	struct stream *found = NULL;

	pthread_mutex_lock(&streams.lock);
	for (struct stream *at = streams.list; !found && at < streams.list + PM_STREAMS_MAX; at++)
		if (!at->is_open)
			found = at;
	if (found)
		*found = (struct stream){.is_open = true,
			.pass = *pass,
			.is_written = asked->access != PM_READ_ONLY,
			.range = asked->range,
			.bytes = asked->bytes,
			.batch_bytes = MIN(asked->batch_bytes, asked->bytes),
			.n_batches = (asked->bytes - 1) / asked->batch_bytes + 1,
			.handed = NONE,
			.in.batch = NONE,
			.out.batch = NONE};
	pthread_mutex_unlock(&streams.lock);
	return found;
}

static void give_entry(struct stream *stream)
{
	pthread_mutex_lock(&streams.lock);
	stream->is_open = false;
	pthread_mutex_unlock(&streams.lock);
}

static bool take_buffers(struct stream *stream)
{
	stream->n_buffers = stream->is_written ? 3 : 2;
	if (stream->n_buffers > stream->n_batches)
		stream->n_buffers = (unsigned)stream->n_batches;
	stream->buffer_bytes = (stream->batch_bytes + PM_GRANULE - 1) / PM_GRANULE * PM_GRANULE;
	stream->buffers = pm_heap_alloc_migration(stream->n_buffers * stream->buffer_bytes);
	return stream->buffers;
}

static enum pm_in_place begin(struct stream *stream)
{
	if (!take_buffers(stream))
		return PM_IN_PLACE_NO_ROOM;
	if (!stream->pass.is_measuring)
		post_in(stream, 0);
	return PM_IN_PLACE_NOT;
}

static enum pm_in_place start(const struct pm_stream *asked, const void *caller, void **ret)
{
	struct stream *stream;
	enum pm_in_place why;
	struct pm_pass pass;

	if (pm_heap_is_in_dram(asked->range))
		return PM_IN_PLACE_DRAM;
	why = pm_phase_begin(
		caller, asked->batch_bytes, asked->access != PM_READ_ONLY, is_settled(), &pass);
	if (why)
		return why;
	stream = take_entry(asked, &pass);
	if (!stream)
		return PM_IN_PLACE_TOO_MANY;
	why = begin(stream);
	if (why)
		give_entry(stream);
	else
		*ret = stream;
	return why;
}

static void finish(struct stream *stream)
{
	wait_for(&stream->in);
	wait_for(&stream->out);
	pm_heap_free_migration(stream->buffers);
	give_entry(stream);
}

/* The rest of the range, from this batch on. */
static void *go_on_in_place(
	struct pm_stream *asked, struct stream *stream, uint64_t batch, size_t *ret_bytes)
{
	asked->runtime = NULL;
	asked->next = batch * stream->batch_bytes;
	finish(stream);
	return pm_stream_next(asked, PM_DIRTY, ret_bytes);
}

static void *next(struct pm_stream *asked, int state, size_t *ret_bytes)
{
	struct stream *stream = asked->runtime;
	uint64_t batch = asked->next / stream->batch_bytes;

	end_interval(stream, batch >= stream->n_batches);
	hand_back(stream, state);
	if (batch >= stream->n_batches) {
		end_walk(stream);
		*ret_bytes = 0;
		return NULL;
	}
	if (!stream->pass.is_measuring && !stream->pass.helpers)
		return go_on_in_place(asked, stream, batch, ret_bytes);
	asked->next += stream->batch_bytes;
	return stays(stream, batch) ? hand_out_in_place(stream, batch, ret_bytes)
				    : hand_out(stream, batch, ret_bytes);
}

#pragma GCC visibility push(default)

/* Waits are cancellation points: a thread that ended in one would leave a lock and its stream. */
void pmplace_stream_open(struct pm_stream *asked)
{
	enum pm_in_place why;
	int before;

	if (!pm_heap.small_limit || asked->version != PM_STREAM_VERSION || !asked->bytes ||
		!asked->batch_bytes)
		return;
	before = pm_cancel_disable();
	why = start(
		asked, asked->place ? asked->place : __builtin_return_address(0), &asked->runtime);
	count(why ? &counts.in_place[why] : &counts.passes, 1);
	pm_cancel_restore(before);
}

void *pmplace_stream_next(struct pm_stream *asked, int state, size_t *ret_bytes)
{
	int before = pm_cancel_disable();
	void *batch = next(asked, state, ret_bytes);

	pm_cancel_restore(before);
	return batch;
}

void pmplace_stream_close(struct pm_stream *asked)
{
	struct stream *stream = asked->runtime;
	int before = pm_cancel_disable();

	end_interval(stream, true);
	hand_back(stream, PM_DIRTY);
	finish(stream);
	asked->runtime = NULL;
	pm_cancel_restore(before);
}

#pragma GCC visibility pop

/* --- start, fork and report --- */

static void before_fork(void)
{
	pthread_mutex_lock(&streams.lock);
	pm_phases_before_fork();
	pm_helpers_before_fork();
}

static void after_fork(void)
{
	pm_helpers_after_fork();
	pm_phases_after_fork();
	pthread_mutex_unlock(&streams.lock);
}

static void after_fork_in_child(void)
{
	pm_helpers_after_fork_in_child();
	pm_phases_after_fork();
	pthread_mutex_unlock(&streams.lock);
}

void pm_streams_prepare(void)
{
	const char *checks = getenv("PM_STREAMS_CHECK");

	pm_helpers_prepare();
	pm_phases_prepare();
	pm_promotion_prepare();
	streams.checks = checks && !strcmp(checks, "1");
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void pm_streams_reserve_space(void)
{
	pm_heap.migration_is_closed = pm_is_referenced("pmplace_stream_open");
}

void pm_streams_count(struct pm_stream_counts *ret)
{
	*ret = (struct pm_stream_counts){.passes = atomic_load(&counts.passes),
		.batches = atomic_load(&counts.batches),
		.in_bytes = atomic_load(&counts.in_bytes),
		.out_bytes = atomic_load(&counts.out_bytes),
		.clean_batches = atomic_load(&counts.clean_batches),
		.waited_ns = atomic_load(&counts.waited_ns)};
	for (int i = 0; i < PM_IN_PLACES; i++)
		ret->in_place[i] = atomic_load(&counts.in_place[i]);
}
