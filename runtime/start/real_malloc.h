/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_REAL_MALLOC_H
#define PM_RUNTIME_REAL_MALLOC_H

/*
 * The real allocation functions: the program would have them without this library, from the C
 * library or from an allocator that is linked or preloaded behind this one. They serve allocations
 * before the start, all allocations where nothing is placed, and frees of their own objects.
 */
#include <stdatomic.h>
#include <stddef.h>

struct pm_real_malloc {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *object, size_t size);
	void *(*memalign)(size_t align, size_t size);
	void *(*aligned_alloc)(size_t align, size_t size);
	int (*posix_memalign)(void **ret, size_t align, size_t size);
	void *(*valloc)(size_t size);
	void (*free)(void *object);
	size_t (*usable_size)(void *object);
};

/* NULL until the lookup by dlsym(3) is complete. */
extern const struct pm_real_malloc *_Atomic pm_real_malloc_found;

/*
 * Looks the functions up. dlsym(3) may allocate: a call during the lookup, by any thread, gets
 * glibc's own functions. Never NULL.
 */
const struct pm_real_malloc *pm_real_malloc_lookup(void);

static inline const struct pm_real_malloc *pm_real_malloc(void)
{
	const struct pm_real_malloc *found =
		atomic_load_explicit(&pm_real_malloc_found, memory_order_acquire);

	return __builtin_expect(found != NULL, 1) ? found : pm_real_malloc_lookup();
}

#endif
