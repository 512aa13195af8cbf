/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_WRITTEN_PAGES_H
#define PM_RUNTIME_WRITTEN_PAGES_H

/*
 * Pages of the heap that were written since they were last looked at: asynchronous write protection
 * by userfaultfd(2), and PAGEMAP_SCAN of pagemap (ioctl_pagemap_scan(2), Linux 6.7). The kernel
 * lifts the protection at the first write by itself; this takes about a microsecond. Of an object
 * larger than PM_WRITTEN_PIECES granules, as many granules stand for all. Needs no privilege. For
 * one thread with a table of descriptors of its own, as in accessed_pages.h.
 */
#include <stdint.h>

#define PM_WRITTEN_PIECES 16

/* Returns 0, or -errno: this kernel has no such thing, or the user may not use it. */
int pm_written_pages_open(void);

/* Around the others. Returns 0, or -errno. */
int pm_written_pages_begin(void);
void pm_written_pages_end(void);

/*
 * Bytes of the pages of [start, start + bytes) that were written since the last call for them, and
 * protects them again. Pages that were not protected before count as written.
 */
uint64_t pm_written_pages_take(uintptr_t start, uint64_t bytes);

#endif
