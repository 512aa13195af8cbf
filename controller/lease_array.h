/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LEASE_ARRAY_H
#define PM_LEASE_ARRAY_H

/* The tasks of an array's pending record, as Slurm writes them: "3,7-9,10-20:2%4". */
#include <stddef.h>

/* The number of tasks; 1 for NULL or "", which Slurm sends for a single job or a single task. */
size_t pm_lease_array_count(const char *tasks);

/* The first `n` of them, "3,7,8", malloc'ed; "" for a single job; NULL when out of memory. */
char *pm_lease_array_first(const char *tasks, size_t n);

#endif
