/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_INTERPOSE_H
#define PM_RUNTIME_INTERPOSE_H

#include <stddef.h>

/*
 * malloc() and free() as the program has them, for our other front doors; `caller` is where the
 * program goes on.
 */
#define CALLER __builtin_return_address(0)
void *pm_malloc(size_t size, const void *caller);
void *pm_aligned(size_t align, size_t size, const void *caller);
void pm_free(void *object);

/* As <stdlib.h> and <malloc.h> will have them; C23, 7.24.3. */
void free_sized(void *object, size_t size);
void free_aligned_sized(void *object, size_t align, size_t size);
void cfree(void *object);

#endif
