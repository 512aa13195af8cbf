/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_INTERVALS_H
#define PM_RUNTIME_INTERVALS_H

/* Intervals of one walk, in nanoseconds: from a batch that is handed out to the next call. */
#include <stdint.h>

#define PM_INTERVAL_SAMPLES 5 /* of each kind; more are not kept */

enum pm_interval_kind {
	PM_INTERVAL_PLACED, /* its batch was in place */
	PM_INTERVAL_STAGED, /* in DRAM, and no helper ran */
	PM_INTERVAL_KINDS,
};

/* Zeroed by its owner. */
struct pm_intervals {
	uint64_t ns[PM_INTERVAL_KINDS][PM_INTERVAL_SAMPLES];
	unsigned n[PM_INTERVAL_KINDS];
};

void pm_intervals_add(struct pm_intervals *intervals, enum pm_interval_kind kind, uint64_t ns);

/* The lower one of two in the middle; 0: there are none. */
uint64_t pm_intervals_median(const struct pm_intervals *intervals, enum pm_interval_kind kind);

#endif
