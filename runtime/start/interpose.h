/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_INTERPOSE_H
#define PM_RUNTIME_INTERPOSE_H

#include <stddef.h>

/*
 * malloc(), memalign() and free() for the other interposed functions of this library. `caller` is
 * the return address into the program, by which advice and inference know the caller.
 */
#define CALLER __builtin_return_address(0)
void *pm_malloc(size_t size, const void *caller);
void *pm_memalign(size_t align, size_t size, const void *caller);
void pm_free(void *object);

/* Exported, and not declared by the C library yet: C23, 7.24.3; cfree() of old binaries. */
void free_sized(void *object, size_t size);
void free_aligned_sized(void *object, size_t align, size_t size);
void cfree(void *object);

#endif
