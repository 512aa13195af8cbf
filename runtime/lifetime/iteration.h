/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_ITERATION_H
#define PM_RUNTIME_ITERATION_H

/* In which iteration of its main loop is the program? */
#include <stdint.h>

/* How iterations are known. */
enum pm_known { PM_KNOWN_NOT, PM_KNOWN_INFERRED, PM_KNOWN_MARKED };

/*
 * Of the main loop, from 1 on; 0: before the first, or nobody knows. It begins anew when what is
 * inferred turns out to have been an inner loop, or is marked now.
 */
uint32_t pm_iteration(void);
enum pm_known pm_iteration_known(void);

/* The next one begins; its number. */
uint32_t pm_iteration_next(void);

/* The count begins anew, but not where iterations are marked already, by another thread perhaps. */
void pm_iteration_begin_anew(enum pm_known how);

#endif
