/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_JEMALLOC_H
#define PM_RUNTIME_JEMALLOC_H

/*
 * jemalloc 5.3.0 allocates the small objects. runtime/jemalloc builds it with the prefix pmje_ and
 * without its constructor, and it is linked into this library. So it does not define malloc(), does
 * not clash with a jemalloc that the program is linked to, does not read MALLOC_CONF, and does
 * nothing in a process where nothing is placed. Its system calls for memory lead to the spaces of
 * runtime/heap/heap.h, so that its arenas and its bookkeeping are within the budget. Its own code
 * for small objects is unchanged.
 *
 * Extent hooks (jemalloc(3), arena.<i>.extent_hooks) would be the documented way. But they are set
 * one arena at a time, after the arena has mapped its first 2 MiB by mmap(2), and they never get
 * the first bookkeeping.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *pmje_malloc(size_t size);
void *pmje_calloc(size_t n, size_t size);
void *pmje_realloc(void *object, size_t size);
void *pmje_memalign(size_t align, size_t size);
void pmje_free(void *object);
size_t pmje_malloc_usable_size(void *object);

/* To be called after pm_heap_start(), before the first allocation. False: out of memory. */
bool pm_jemalloc_start(void);

/*
 * Makes a second arena for small objects, in PMem. Objects of this arena that are freed bypass the
 * thread caches, which would reuse them for objects that belong in DRAM. False: out of memory.
 */
bool pm_jemalloc_start_cold(void);
void *pm_jemalloc_take_cold(size_t size, size_t align, bool zero);
void pm_jemalloc_give_cold(void *object);

#endif
