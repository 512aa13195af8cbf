/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/lifetime/infer.h"

#include <stdatomic.h>
#include <stdlib.h>

#define TRACKS	    1024u
#define ROUND_LEAST 2  /* objects: what has but one is told apart by its size as well */
#define TIMES	    3  /* a round was as long as the one before */
#define TOLERANCE   8  /* th of a round */
#define REPEATS_MAX 64 /* in a round: then they are rounds themselves */
#define LONGER	    2  /* times: the loop around */
#define LOST	    4  /* rounds without it */

/* Of a caller and a size; counts are of large objects. */
struct track {
	uint64_t key;	      /* 0: of nobody */
	uint64_t begin, last; /* of this round; when it was last seen */
	uint64_t round;	      /* the length of the last one */
	int64_t live, taken;  /* bytes, at its begin */
	uint32_t times;	      /* that rounds were alike */
	uint32_t repeats;     /* in this round */
};

static struct {
	atomic_flag is_busy;
	uint64_t count; /* of large objects */
	int64_t taken;	/* bytes */
	struct track tracks[TRACKS];
	struct {
		uint64_t key, seen, round;
	} clock; /* key 0: none */
} infer = {.is_busy = ATOMIC_FLAG_INIT};

static uint64_t key_of(const void *caller, size_t bytes)
{
	uint64_t key = ((uintptr_t)caller ^ bytes << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return (key ^ key >> 32) | 1;
}

static void begin_round(struct track *t, uint64_t round, int64_t live)
{
	t->round = round;
	t->begin = infer.count;
	t->live = live;
	t->taken = infer.taken;
	t->repeats = 0;
}

/* As long as the last one, and half of what was taken in it has been given back. */
static bool is_alike(const struct track *t, uint64_t round, int64_t live)
{
	uint64_t more = round > t->round ? round - t->round : t->round - round;

	return round >= ROUND_LEAST && more <= t->round / TOLERANCE &&
	       2 * llabs(live - t->live) <= infer.taken - t->taken;
}

/* Is it seen again within a round? */
static bool repeats(struct track *t, uint64_t round)
{
	return round < t->round / 2 && ++t->repeats <= REPEATS_MAX;
}

/* Does a round of its begin? */
static bool follow(struct track *t, uint64_t key, int64_t live)
{
	uint64_t round = infer.count - t->begin, since = infer.count - t->last;

	t->last = infer.count;
	if (t->key != key) {
		*t = (struct track){.key = key, .last = infer.count};
		begin_round(t, 0, live);
		return true;
	}
	if (repeats(t, round))
		return false;
	if (t->repeats > REPEATS_MAX)
		round = since;
	t->times = is_alike(t, round, live) ? t->times + 1 : 0;
	begin_round(t, round, live);
	return true;
}

static bool is_better(const struct track *t)
{
	return t->times >= TIMES &&
	       (!infer.clock.key || t->round >= LONGER * infer.clock.round ||
		       infer.count - infer.clock.seen > LOST * infer.clock.round);
}

static enum pm_inferred look(uint64_t key, int64_t live)
{
	struct track *t = &infer.tracks[key / 2 % TRACKS];
	bool is_anew;

	if (!follow(t, key, live))
		return PM_INFERRED_NOTHING;
	is_anew = is_better(t);
	if (!is_anew && key != infer.clock.key)
		return PM_INFERRED_NOTHING;
	if (is_anew) {
		infer.clock.key = key;
		infer.clock.round = t->round;
	}
	infer.clock.seen = infer.count;
	return is_anew ? PM_INFERRED_ANEW : PM_INFERRED_NEXT;
}

enum pm_inferred pm_infer(const void *caller, size_t bytes, int64_t live_bytes)
{
	enum pm_inferred found;

	if (atomic_flag_test_and_set_explicit(&infer.is_busy, memory_order_acquire))
		return PM_INFERRED_NOTHING;
	infer.count++;
	found = look(key_of(caller, bytes), live_bytes);
	infer.taken += (int64_t)bytes;
	atomic_flag_clear_explicit(&infer.is_busy, memory_order_release);
	return found;
}
