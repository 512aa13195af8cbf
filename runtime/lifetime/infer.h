/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_INFER_H
#define PM_RUNTIME_INFER_H

/*
 * Infers iterations of a program that does not mark them, from its allocations of large objects.
 *
 * A candidate is a pair of caller and size. Its period is the number of large objects from one
 * allocation of that pair to the next. A candidate becomes the clock, which marks iterations, once
 * its period has been the same several times in a row, with about the same bytes live at each
 * begin: a loop that only fills memory does not count. Further allocations of the pair within half
 * a period belong to that period.
 *
 * The first such candidate becomes the clock. Another one replaces it if its period is at least
 * twice as long, since the first clock was then an inner loop, or if the clock has not been seen
 * for several periods.
 *
 * The caller is the return address alone, since to capture a call site takes too long. A period is
 * counted in objects, since wall-clock times do not repeat. If several threads allocate at once,
 * only one of them is counted, so that periods differ a little.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pm_inference {
	PM_INFERENCE_NONE,
	PM_INFERENCE_ITERATION, /* an iteration begins */
	PM_INFERENCE_RESTART,	/* an iteration begins, by a new clock: the count restarts */
};

/*
 * To be called at each allocation of a large object. `caller` is the return address of the
 * allocation function, `live_bytes` are the live bytes of all large objects but this one.
 */
enum pm_inference pm_infer_iteration(const void *caller, size_t bytes, int64_t live_bytes);

#endif
