/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_JEMALLOC_H
#define PM_RUNTIME_JEMALLOC_H

/*
 * Small objects are jemalloc's: version 5.3.0, built by runtime/jemalloc with names of its own and
 * without its constructor, and linked into this library. So it neither defines malloc() before us,
 * nor meets a jemalloc that the program itself is linked to, nor heeds that one's MALLOC_CONF, nor
 * does anything in a process where nothing is placed. The system calls it asks for memory with lead
 * to the spaces of runtime/heap/heap.h: its arenas and its own bookkeeping alike are within the
 * budget, and the path of a small object is its own, unchanged.
 *
 * Extent hooks (jemalloc(3), arena.<i>.extent_hooks) would be the documented way. They come one
 * arena at a time, after that arena has mapped its first 2 MiB by mmap, and never for the first
 * bookkeeping.
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

/* Before the first object is asked for; after pm_heap_start(). False: out of memory. */
bool pm_jemalloc_start(void);

/*
 * A second home for small objects, an arena in PMem. What is given back there is not kept in a
 * thread's cache, which would hand it to those that want DRAM. False: out of memory.
 */
bool pm_jemalloc_start_cold(void);
void *pm_jemalloc_take_cold(size_t size, size_t align, bool zero);
void pm_jemalloc_give_cold(void *object);

#endif
