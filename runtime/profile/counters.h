/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_COUNTERS_H
#define PM_RUNTIME_COUNTERS_H

/*
 * What the process has used since it began: of the processor's time and of pages, getrusage(2); and
 * of what the processor counts, where it does and the user may ask, perf_event_open(2): virtual
 * machines often have no counters, and kernel.perf_event_paranoid above 2 forbids them.
 */
#include <stdint.h>

enum pm_counter {
	PM_COUNTER_CPU_NS,
	PM_COUNTER_PAGE_FAULTS,
	PM_COUNTER_INSTRUCTIONS, /* in the program, not in the kernel, as the next two */
	PM_COUNTER_READ_MISSES,	 /* of the last level cache: lines that come from memory */
	PM_COUNTER_WRITE_MISSES,
	PM_COUNTERS,
};

#define PM_COUNTER_ABSENT UINT64_MAX

/* For this thread, and those that it starts from now on. */
void pm_counters_start(void);

/* PM_COUNTER_ABSENT for what is not counted. */
void pm_counters_read(uint64_t values[PM_COUNTERS]);

#endif
