/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SIZING_H
#define PM_RUNTIME_SIZING_H

/*
 * The size of the temporary space, by what the program's first iteration needs (paper 000, §IV-A):
 * the most bytes of large objects that there were in it, less those that are there at its end,
 * which are long-lived; and a spare, 100 MiB as in the paper, but no more than a sixteenth of the
 * budget.
 *
 * If the space is larger, its end that has never been handed out is lent to what is long-lived: to
 * objects that come later, and to those that had to go to PMem before (runtime/lifetime/promote.h).
 * If it is smaller, such an end of the free space is lent to temporary. It is done once. What
 * temporary needs beyond that goes where any object goes for which there is no room: to free,
 * migration, PMem. That is the tip of the peak, which is there for the smallest part of an
 * iteration.
 *
 * The metadata space stays as it is: it is a sixteenth of the budget as a rule, and small objects
 * are counted by nobody.
 */
#include <stdbool.h>
#include <stdint.h>

struct pm_sizing {
	bool is_done;
	bool to_temporary;		     /* else to what is long-lived */
	uint64_t needed_bytes, spare_bytes;  /* measured; on top */
	uint64_t lent_bytes, promoted_bytes; /* of what is lent, or was free, for those of PMem */
};

/* Iteration `number` begins, from 1 on; `rounds` of them are measured. */
void pm_sizing_iteration(uint32_t number, uint32_t rounds);

void pm_sizing_get(struct pm_sizing *ret);

#endif
