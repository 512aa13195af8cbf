/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/start/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* glibc's own names, for as long as dlsym() looks for the others, and may itself allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *object, size_t size);
void *__libc_memalign(size_t align, size_t size);
void *__libc_valloc(size_t size);
void __libc_free(void *object);

const struct pm_next *_Atomic pm_next_found;

static int libc_posix_memalign(void **ret, size_t align, size_t size)
{
	void *object = __libc_memalign(align, size);

	*ret = object ? object : *ret;
	return object ? 0 : ENOMEM;
}

static size_t no_size(void *object)
{
	(void)object;
	return 0;
}

static const struct pm_next libc = {
	.malloc = __libc_malloc,
	.calloc = __libc_calloc,
	.realloc = __libc_realloc,
	.memalign = __libc_memalign,
	.aligned_alloc = __libc_memalign,
	.posix_memalign = libc_posix_memalign,
	.valloc = __libc_valloc,
	.free = __libc_free,
	.usable_size = no_size,
};

static void find(const char *name, void *ret)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (function)
		memcpy(ret, &function, sizeof(function));
}

static void find_all(struct pm_next *next)
{
	*next = libc;
	find("malloc", &next->malloc);
	find("calloc", &next->calloc);
	find("realloc", &next->realloc);
	find("memalign", &next->memalign);
	find("aligned_alloc", &next->aligned_alloc);
	find("posix_memalign", &next->posix_memalign);
	find("valloc", &next->valloc);
	find("free", &next->free);
	find("malloc_usable_size", &next->usable_size);
}

const struct pm_next *pm_next_find(void)
{
	static struct pm_next next;
	static atomic_flag looking = ATOMIC_FLAG_INIT;

	if (atomic_flag_test_and_set(&looking))
		return &libc;
	find_all(&next);
	atomic_store_explicit(&pm_next_found, &next, memory_order_release);
	return &next;
}
