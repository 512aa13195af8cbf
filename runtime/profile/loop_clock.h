/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_LOOP_CLOCK_H
#define PM_RUNTIME_LOOP_CLOCK_H

/* The program's main loop, as the thread that measures accesses sees it and waits for it. */
#include <stdbool.h>
#include <stdint.h>

struct pm_loop {
	uint32_t number, phases;      /* iterations and phases that have begun */
	uint64_t began_ns, period_ns; /* the last one's begin, of CLOCK_MONOTONIC, and length */
	bool is_fresh, is_first;      /* nobody has taken this iteration, or this loop */
};

void pm_loop_start(void);

/* From the program's threads. */
void pm_loop_iteration(uint32_t number);
void pm_loop_phase(uint32_t number);

/* From now on nobody waits. */
void pm_loop_end(void);

/* `take`: its iteration is not fresh any more. */
struct pm_loop pm_loop_get(bool take);

/* Waits until then; the second one also for a fresh iteration. False: pm_loop_end() was called. */
bool pm_loop_wait(uint64_t until_ns);
bool pm_loop_wait_for_iteration(uint64_t until_ns);

/* For fork(2). */
void pm_loop_lock(void);
void pm_loop_unlock(void);

#endif
