/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_NEXT_H
#define PM_RUNTIME_NEXT_H

/*
 * The allocator that the program would have without us: the C library's, or one that is preloaded
 * behind us or linked. It serves what is asked for before we have started, everything where nothing
 * is placed, and gets back what came from it.
 */
#include <stdatomic.h>
#include <stddef.h>

struct pm_next {
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

/* NULL until they have been looked for. */
extern const struct pm_next *_Atomic pm_next_found;

const struct pm_next *pm_next_find(void);

static inline const struct pm_next *pm_next(void)
{
	const struct pm_next *found = atomic_load_explicit(&pm_next_found, memory_order_acquire);

	return __builtin_expect(found != NULL, 1) ? found : pm_next_find();
}

#endif
