/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PMPLACE_H
#define PMPLACE_H

/*
 * Marks, tiers and streams for the placement runtime, pmplace(3). A program links nothing for them:
 * the functions are weak references. Without the runtime marks do nothing, pm_alloc() is malloc(),
 * nothing is moved, and streams walk the range in place. In MPI programs MPI_Pcontrol(1) is the
 * same as pm_iteration().
 */
#include <stddef.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) void pmplace_iteration(void);
__attribute__((weak)) void pmplace_phase(const char *name);

/* An iteration of the main loop begins. Lifetimes of objects are counted in iterations. */
static inline void pm_iteration(void)
{
	if (pmplace_iteration)
		pmplace_iteration();
}

/* A phase begins, for example "pusher". Up to 63 bytes of the name are copied. */
static inline void pm_phase(const char *name)
{
	if (pmplace_phase)
		pmplace_phase(name);
}

/* --- tiers: for a program that knows its data --- */

enum pm_tier {
	PM_FAST, /* DRAM, within the rank's budget */
	PM_SLOW, /* persistent memory */
};

__attribute__((weak)) void *pmplace_alloc(size_t bytes, int tier);
__attribute__((weak)) size_t pmplace_move(const void *start, size_t bytes, int tier);

/*
 * Allocates an object in a tier, or in the other tier if that one is full. free() frees it;
 * realloc() may move it to any tier. Returns NULL with errno = ENOMEM, as malloc() does. In PM_SLOW
 * an object takes at least 64 KiB.
 */
static inline void *pm_alloc(size_t bytes, enum pm_tier tier)
{
	return pmplace_alloc ? pmplace_alloc(bytes, tier) : malloc(bytes);
}

/*
 * Moves the whole pages in [start, start + bytes) to a tier; their addresses stay as they are.
 * Returns the bytes that are in that tier, or will be when they are first touched, and were not
 * before. To PM_FAST go objects that were allocated in persistent memory, as far as the budget has
 * room; PM_SLOW takes them back. Objects that were allocated in DRAM, and memory that is not of
 * malloc(), are not moved. free() ends it.
 */
static inline size_t pm_move(const void *start, size_t bytes, enum pm_tier tier)
{
	return pmplace_move ? pmplace_move(start, bytes, tier) : 0;
}

enum pm_range_advice {
	PM_PROMOTE, /* it is to be in DRAM */
	PM_STAY,    /* it stays where it is */
};

__attribute__((weak)) void pmplace_advise(const void *start, size_t bytes, int advice);

/*
 * Names [start, start + bytes) for promotion: the runtime moves it to DRAM as pm_move() does, a
 * part at each pm_iteration(), as far as the bandwidth is spare that the site has measured
 * (PM_MODEL), in the order in which ranges were named. With PM_PROMOTE=1 in the environment;
 * otherwise this does nothing. PM_STAY, and free() of a part, take the name back; what is in DRAM
 * by then stays there.
 */
static inline void pm_advise(const void *start, size_t bytes, enum pm_range_advice advice)
{
	if (pmplace_advise)
		pmplace_advise(start, bytes, advice);
}

/* --- streams --- */

#define PM_STREAM_VERSION 1

enum pm_access {
	PM_READ_WRITE, /* the program writes to the batches */
	PM_READ_ONLY,
};

/* Of the batch that is handed back. */
enum pm_batch_state {
	PM_DIRTY, /* written, or perhaps; of no meaning for PM_READ_ONLY */
	PM_CLEAN, /* as it was handed out: it is not copied back */
};

/* A walk over a range. The program allocates it and leaves its members alone. */
struct pm_stream {
	unsigned version;
	int access;
	void *range;
	size_t bytes, batch_bytes;
	size_t next;	   /* offset of the next batch */
	void *runtime;	   /* NULL: in place */
	const void *place; /* the loop, where it is not the caller; else NULL */
};

__attribute__((weak)) void pmplace_stream_open(struct pm_stream *stream);
__attribute__((weak)) void *pmplace_stream_next(
	struct pm_stream *stream, int state, size_t *ret_bytes);
__attribute__((weak)) void pmplace_stream_close(struct pm_stream *stream);

/*
 * Opens a walk over `bytes` at `range` in batches of `batch_bytes`; the last one may be shorter,
 * and batch_bytes 0 is one batch. Until the stream is closed, the program uses the range by its
 * batches only, and does not free it. One thread opens the stream and asks for the batches; any may
 * compute.
 */
static inline void pm_stream_open(struct pm_stream *stream, void *range, size_t bytes,
	size_t batch_bytes, enum pm_access access)
{
	stream->version = PM_STREAM_VERSION;
	stream->access = access;
	stream->range = range;
	stream->bytes = bytes;
	stream->batch_bytes = batch_bytes ? batch_bytes : bytes;
	stream->next = 0;
	stream->runtime = NULL;
	stream->place = NULL;
	if (pmplace_stream_open)
		pmplace_stream_open(stream);
}

/*
 * Hands the last batch back and returns the next one, which is *ret_bytes long; NULL behind the
 * last. Each call may return another address.
 */
static inline void *pm_stream_next(
	struct pm_stream *stream, enum pm_batch_state state, size_t *ret_bytes)
{
	size_t at = stream->next, left = stream->bytes - at;

	if (stream->runtime)
		return pmplace_stream_next(stream, state, ret_bytes);
	*ret_bytes = left < stream->batch_bytes ? left : stream->batch_bytes;
	stream->next += *ret_bytes;
	return left ? (char *)stream->range + at : NULL;
}

/*
 * Ends the walk, also before its end. The batch that the program has is handed back as PM_DIRTY.
 * The range then has all bytes that were written to its batches.
 */
static inline void pm_stream_close(struct pm_stream *stream)
{
	if (stream->runtime)
		pmplace_stream_close(stream);
}

#ifdef __cplusplus
}
#endif
#endif
