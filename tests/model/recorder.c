/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * Stands in for the placement runtime: streams run in place, and the file that PM_TRACE names tells
 *what the program did with them. One event a line, before it the nanoseconds that the program
 *computed since the last:
 *
 *	NS i				an iteration begins
 *	NS o STREAM PHASE BATCH BYTES W	opened; W is 1 if its batches are written
 *	NS n STREAM			the next batch is asked for
 *	NS c STREAM			closed
 *
 * Streams of one thread only. A phase is a place in the program, with a size of batches and an
 *access.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/pmplace.h"

#define STREAMS 16
#define PHASES	64

static FILE *out;
static uint64_t left_ns; /* when the program went on */
static struct pm_stream *open_streams[STREAMS];
static struct {
	const void *caller;
	size_t batch_bytes;
	int access;
} phases[PHASES];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "recorder: %s\n", what);
	abort();
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("PM_TRACE");

	if (!path)
		return;
	out = fopen(path, "w");
	if (!out)
		fail("the file that PM_TRACE names cannot be written");
	left_ns = now_ns();
}

__attribute__((destructor)) static void end(void)
{
	if (out && fclose(out))
		fail("the file that PM_TRACE names cannot be written");
}

#define event(format, ...)                                                                         \
	do {                                                                                       \
		if (out)                                                                           \
			fprintf(out, "%llu " format "\n",                                          \
				(unsigned long long)(now_ns() - left_ns), __VA_ARGS__);            \
	} while (0)

static int slot_of(const struct pm_stream *stream)
{
	for (int i = 0; i < STREAMS; i++)
		if (open_streams[i] == stream)
			return i;
	fail("too many streams are open at once");
	return -1;
}

static int phase_of(const struct pm_stream *stream, const void *caller)
{
	for (int i = 0; i < PHASES; i++) {
		if (!phases[i].caller) {
			phases[i].caller = caller;
			phases[i].batch_bytes = stream->batch_bytes;
			phases[i].access = stream->access;
		}
		if (phases[i].caller == caller && phases[i].batch_bytes == stream->batch_bytes &&
			phases[i].access == stream->access)
			return i;
	}
	fail("too many phases");
	return -1;
}

void pmplace_iteration(void)
{
	event("%c", 'i');
	left_ns = now_ns();
}

void pmplace_stream_open(struct pm_stream *stream)
{
	const void *caller = stream->place ? stream->place : __builtin_return_address(0);
	int slot = slot_of(NULL);

	event("o %d %d %zu %zu %d", slot, phase_of(stream, caller), stream->batch_bytes,
		stream->bytes, stream->access == PM_READ_WRITE);
	open_streams[slot] = stream;
	stream->runtime = stream;
	left_ns = now_ns();
}

void *pmplace_stream_next(struct pm_stream *stream, int state, size_t *ret_bytes)
{
	size_t at = stream->next, left = stream->bytes - at;

	(void)state;
	event("n %d", slot_of(stream));
	*ret_bytes = left < stream->batch_bytes ? left : stream->batch_bytes;
	stream->next += *ret_bytes;
	left_ns = now_ns();
	return left ? (char *)stream->range + at : NULL;
}

void pmplace_stream_close(struct pm_stream *stream)
{
	int slot = slot_of(stream);

	event("c %d", slot);
	open_streams[slot] = NULL;
	left_ns = now_ns();
}
