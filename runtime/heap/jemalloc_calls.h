/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_JEMALLOC_CALLS_H
#define PM_RUNTIME_JEMALLOC_CALLS_H

/*
 * The compiler reads this before each file of jemalloc's (runtime/rules.mk): its system calls for
 * memory lead to the spaces of runtime/heap/heap.h. The C library's headers come first, so that
 * they declare the functions of the kernel under their own names.
 */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>

void *pmje_mmap(void *address, size_t bytes, int prot, int flags, int fd, off_t offset);
int pmje_munmap(void *start, size_t bytes);
int pmje_madvise(void *start, size_t bytes, int advice);

#define mmap	pmje_mmap
#define munmap	pmje_munmap
#define madvise pmje_madvise

/* Its constructor would start it in each process, pm_jemalloc_start() where objects are placed. */
#define constructor unused

#endif
