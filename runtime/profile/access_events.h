/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_ACCESS_EVENTS_H
#define PM_RUNTIME_ACCESS_EVENTS_H

/*
 * Events of which the processor, or the kernel, samples data addresses, and the traffic that a
 * sample stands for.
 *
 *	Intel	loads that miss the first-level cache, and all stores: PEBS. Never misses of the
 *last level alone: prefetching hides those that matter. AMD	operations, of which loads that hit
 *the first-level cache do not count: IBS. For users since the kernel filters by software (`swfilt`,
 *about Linux 6.14). faults	the kernel's page faults: first touches.
 *
 * Encodings: perf's tables for Skylake and later (MEM_LOAD_RETIRED.L1_MISS, MEM_INST_RETIRED.
 * ALL_STORES); Documentation of the kernel's ibs_op. They were not tried on such processors.
 */
#include <stdbool.h>
#include <stdint.h>

#include "model/profile_request.h"
#include "runtime/profile/perf_ring.h"

#define PM_ACCESS_EVENTS 2 /* at most, of one source */
#define PM_ACCESS_LINE	 64
#define PM_ACCESS_STORE                                                                            \
	8 /* bytes of a store: most stay in the cache, and are written back by lines */

enum pm_access_kind { PM_ACCESS_LOADS, PM_ACCESS_STORES, PM_ACCESS_MIXED, PM_ACCESS_PAGES };

struct pm_access_event {
	enum pm_access_kind kind;
	struct perf_event_attr attr;
};

/* Events of PM_PROFILE_SAMPLES or PM_PROFILE_FAULTS. 0: this processor has none that we know. */
unsigned pm_access_events(
	enum pm_profile_source source, struct pm_access_event events[PM_ACCESS_EVENTS]);

/* Bytes that a sample stands for; 0: it does not count. *ret_is_store: they are written. */
uint64_t pm_access_bytes(
	enum pm_access_kind kind, const struct pm_sample *sample, bool *ret_is_store);

#endif
