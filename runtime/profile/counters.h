/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_COUNTERS_H
#define PM_RUNTIME_COUNTERS_H

/*
 * Counters of the process since its start: CPU time and page faults from getrusage(2); instructions
 * and cache misses from perf_event_open(2), where the processor has counters and the user may read
 * them. Virtual machines often have none; kernel.perf_event_paranoid above 2 forbids them.
 */
#include <stdint.h>

enum pm_counter {
	PM_COUNTER_CPU_NS,
	PM_COUNTER_PAGE_FAULTS,
	PM_COUNTER_INSTRUCTIONS, /* in user mode, as the next two */
	PM_COUNTER_READ_MISSES,	 /* of the last-level cache, in lines */
	PM_COUNTER_WRITE_MISSES,
	PM_COUNTERS,
};

#define PM_COUNTER_ABSENT UINT64_MAX

/* Counts the calling thread, and the threads that it starts from now on. */
void pm_counters_start(void);

/* A counter that this machine does not have is PM_COUNTER_ABSENT. */
void pm_counters_read(uint64_t values[PM_COUNTERS]);

#endif
