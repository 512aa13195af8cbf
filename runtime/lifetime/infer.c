/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/lifetime/infer.h"

#include <stdatomic.h>
#include <stdlib.h>

#define CANDIDATES   1024u
#define PERIOD_MIN   2	/* objects; in a loop with a single one, its size predicts as well */
#define SIMILAR_MIN  3	/* periods in a row, each similar to the one before */
#define TOLERANCE    8	/* similar: lengths differ by at most an eighth */
#define REPEATS_MAX  64 /* within a period; more: each repeat is a period itself */
#define OUTER_FACTOR 2	/* a period this many times as long belongs to an outer loop */
#define LOST_PERIODS 4	/* a clock not seen for so many of its periods is replaced */

/* A caller and a size. Positions and lengths count large objects. */
struct candidate {
	uint64_t key;		 /* hash of both; 0: empty */
	uint64_t begin, last;	 /* positions: begin of this period, last allocation */
	uint64_t period;	 /* length of the last complete one */
	int64_t live, allocated; /* bytes, when this period began */
	uint32_t n_similar;	 /* similar periods in a row */
	uint32_t repeats;	 /* allocations within this period, after its first */
};

static struct {
	atomic_flag is_busy; /* a try-lock: a thread that does not get it is not counted */
	uint64_t count;	     /* large objects so far */
	int64_t allocated;   /* bytes so far */
	struct candidate candidates[CANDIDATES]; /* by hash; a new pair replaces the old */
	struct {
		uint64_t key, seen, period;
	} clock; /* key 0: none */
} infer = {.is_busy = ATOMIC_FLAG_INIT};

static uint64_t key_of(const void *caller, size_t bytes)
{
	uint64_t key = ((uintptr_t)caller ^ bytes << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return (key ^ key >> 32) | 1;
}

static void begin_period(struct candidate *c, uint64_t period, int64_t live)
{
	c->period = period;
	c->begin = infer.count;
	c->live = live;
	c->allocated = infer.allocated;
	c->repeats = 0;
}

/* As long as the last period, and at least half of the bytes allocated in it have been freed. */
static bool is_similar(const struct candidate *c, uint64_t period, int64_t live)
{
	uint64_t more = period > c->period ? period - c->period : c->period - period;

	return period >= PERIOD_MIN && more <= c->period / TOLERANCE &&
	       2 * llabs(live - c->live) <= infer.allocated - c->allocated;
}

/* True: this allocation belongs to the present period. */
static bool is_repeat(struct candidate *c, uint64_t period)
{
	return period < c->period / 2 && ++c->repeats <= REPEATS_MAX;
}

/* Updates the candidate. True: a period of it begins. */
static bool follow(struct candidate *c, uint64_t key, int64_t live)
{
	uint64_t period = infer.count - c->begin, since = infer.count - c->last;

	c->last = infer.count;
	if (c->key != key) {
		*c = (struct candidate){.key = key, .last = infer.count};
		begin_period(c, 0, live);
		return true;
	}
	if (is_repeat(c, period))
		return false;
	if (c->repeats > REPEATS_MAX)
		period = since;
	c->n_similar = is_similar(c, period, live) ? c->n_similar + 1 : 0;
	begin_period(c, period, live);
	return true;
}

static bool is_better_clock(const struct candidate *c)
{
	return c->n_similar >= SIMILAR_MIN &&
	       (!infer.clock.key || c->period >= OUTER_FACTOR * infer.clock.period ||
		       infer.count - infer.clock.seen > LOST_PERIODS * infer.clock.period);
}

static enum pm_inference observe(uint64_t key, int64_t live)
{
	struct candidate *c = &infer.candidates[key / 2 % CANDIDATES];
	bool is_restart;

	if (!follow(c, key, live))
		return PM_INFERENCE_NONE;
	is_restart = is_better_clock(c);
	if (!is_restart && key != infer.clock.key)
		return PM_INFERENCE_NONE;
	if (is_restart) {
		infer.clock.key = key;
		infer.clock.period = c->period;
	}
	infer.clock.seen = infer.count;
	return is_restart ? PM_INFERENCE_RESTART : PM_INFERENCE_ITERATION;
}

enum pm_inference pm_infer_iteration(const void *caller, size_t bytes, int64_t live_bytes)
{
	enum pm_inference found;

	if (atomic_flag_test_and_set_explicit(&infer.is_busy, memory_order_acquire))
		return PM_INFERENCE_NONE;
	infer.count++;
	found = observe(key_of(caller, bytes), live_bytes);
	infer.allocated += (int64_t)bytes;
	atomic_flag_clear_explicit(&infer.is_busy, memory_order_release);
	return found;
}
