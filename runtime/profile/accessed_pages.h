/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_ACCESSED_PAGES_H
#define PM_RUNTIME_ACCESSED_PAGES_H

/*
 * Pages of this process that were accessed since they were last cleared, by mapping: clear_refs and
 * smaps of proc(5). Needs no privilege. For one thread, which has a table of descriptors of its
 * own: the files stay open, and no file that the program closes or opens is touched.
 */
#include <stdbool.h>
#include <stdint.h>

/* Returns 0, or -errno. */
int pm_accessed_pages_open(void);

/* Clears the accessed bits of all pages. */
bool pm_accessed_pages_clear(void);

/* Called for each mapping that has an accessed page. */
typedef void pm_accessed_fn(uintptr_t start, uintptr_t end, uint64_t accessed_bytes);

/* False: the file could not be read to its end. */
bool pm_accessed_pages_read(pm_accessed_fn *fn);

#endif
