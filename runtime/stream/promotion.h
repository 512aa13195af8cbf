/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_PROMOTION_H
#define PM_RUNTIME_PROMOTION_H

/*
 * Promotion of ranges that the program has named (runtime/heap/named_ranges.h): a part of them at
 *each iteration of its main loop, in the thread that marks it. PM_PROMOTE=1 turns it on. A part is
 *at most
 *
 *	what the model says is spare: BW_max/N - BW_comp, for the time of the iteration, where
 *BW_comp takes all bytes in PMem for accessed once in an iteration; what a thread copies in a tenth
 *of that time, which the program waits for.
 *
 * Without PM_MODEL nothing is promoted.
 */
#include <stdbool.h>
#include <stdint.h>

#include "model/words.h"

/* Reads PM_PROMOTE. The calling thread is the only one. */
void pm_promotion_prepare(void);
bool pm_promotion_is_on(void);

/* The program marks an iteration. */
void pm_promotion_iteration(void);

/* Bytes of an iteration that took that long, with so many bytes in PMem. */
uint64_t pm_promotion_bytes(
	const struct pm_model_words *words, double iteration_s, uint64_t slow_bytes);

/* Bytes that were promoted so far. */
uint64_t pm_promotion_total(void);

#endif
