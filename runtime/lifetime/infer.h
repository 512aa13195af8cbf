/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_INFER_H
#define PM_RUNTIME_INFER_H

/*
 * Where iterations begin in programs that do not tell. At a large object of a caller and a size
 * that keep coming back after about as many other large objects, with about as much there as the
 * last time: loops that only fill memory are no iterations. What comes several times in a round
 * counts once. The first such object of a round is taken; and another one for it when that has
 * rounds of twice the length, for then the first was of an inner loop, or when the first has not
 * been seen for a long time.
 *
 * No call sites, which take a microsecond, and no clock. When several threads ask at a time one of
 * them is heard, so that rounds differ a little.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pm_inferred {
	PM_INFERRED_NOTHING,
	PM_INFERRED_NEXT, /* an iteration begins */
	PM_INFERRED_ANEW, /* it does, and only now is it known what one is */
};

/* A large object is asked for, to go on at `caller`; so much is there already. */
enum pm_inferred pm_infer(const void *caller, size_t bytes, int64_t live_bytes);

#endif
