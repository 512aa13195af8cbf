/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SIZING_H
#define PM_RUNTIME_SIZING_H

/*
 * Sizes the temporary space, once, from the program's first iteration (paper 000, §IV-A):
 *
 *	needed = peak of live bytes of large objects - live bytes at the end of the iteration
 *	wanted = needed + spare + bytes in use in temporary already
 *
 * Live bytes at the end are long-lived. The spare is 100 MiB as in the paper, but at most a
 * sixteenth of the budget.
 *
 * If the space is larger, the end of it that was never committed is lent to long-lived objects:
 * later ones, and spilled ones (runtime/lifetime/promote.h). If it is smaller, the end of the free
 * space that was never committed is lent to temporary. Short-lived objects beyond that go to free,
 * migration and PMem: they are the tip of the peak, live for the shortest part of an iteration.
 *
 * The metadata space keeps its size, a sixteenth of the budget by default: small objects are not
 * counted.
 */
#include <stdbool.h>
#include <stdint.h>

struct pm_sizing {
	bool is_done;
	bool to_temporary; /* the borrower: temporary, else long-lived objects */
	uint64_t needed_bytes, spare_bytes;
	uint64_t lent_bytes;
	uint64_t promoted_bytes; /* in reservations in PM_LENT or PM_FREE */
};

/*
 * Iteration `number` begins, from 1 on. The peak is measured over iterations 1 to `measured`, and
 * the sizing done when the next one begins.
 */
void pm_sizing_iteration(uint32_t number, uint32_t measured);

void pm_sizing_get(struct pm_sizing *ret);

/* For any thread, at any time. */
bool pm_sizing_is_done(void);

#endif
