/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_ITERATION_H
#define PM_RUNTIME_ITERATION_H

/* The number of the iteration of the program's main loop. */
#include <stdint.h>

/* How the runtime knows iterations. */
enum pm_iteration_source {
	PM_ITERATIONS_UNKNOWN,
	PM_ITERATIONS_INFERRED, /* runtime/lifetime/infer.h */
	PM_ITERATIONS_MARKED,	/* runtime/start/marks.h */
};

/*
 * From 1 on; 0: before the first, or unknown. The number restarts when the program marks its first
 * iteration, or when another loop becomes the clock (runtime/lifetime/infer.h).
 */
uint32_t pm_iteration_number(void);
enum pm_iteration_source pm_iteration_source(void);

/* Begins the next iteration. Returns its number. */
uint32_t pm_iteration_advance(void);

/* Restarts the count. Marked iterations, perhaps of another thread, are never restarted. */
void pm_iteration_restart(enum pm_iteration_source source);

#endif
