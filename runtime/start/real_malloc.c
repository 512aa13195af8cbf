/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/start/real_malloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* glibc's internal names of its functions, which need no dlsym(3). */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *object, size_t size);
void *__libc_memalign(size_t align, size_t size);
void *__libc_valloc(size_t size);
void __libc_free(void *object);

const struct pm_real_malloc *_Atomic pm_real_malloc_found;

static int libc_posix_memalign(void **ret, size_t align, size_t size)
{
	void *object = __libc_memalign(align, size);

	*ret = object ? object : *ret;
	return object ? 0 : ENOMEM;
}

/* glibc has no internal name for malloc_usable_size(): the size is unknown. */
static size_t no_size(void *object)
{
	(void)object;
	return 0;
}

static const struct pm_real_malloc libc = {
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

static void lookup(const char *name, void *ret)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (function)
		memcpy(ret, &function, sizeof(function));
}

static void lookup_all(struct pm_real_malloc *real)
{
	*real = libc;
	lookup("malloc", &real->malloc);
	lookup("calloc", &real->calloc);
	lookup("realloc", &real->realloc);
	lookup("memalign", &real->memalign);
	lookup("aligned_alloc", &real->aligned_alloc);
	lookup("posix_memalign", &real->posix_memalign);
	lookup("valloc", &real->valloc);
	lookup("free", &real->free);
	lookup("malloc_usable_size", &real->usable_size);
}

const struct pm_real_malloc *pm_real_malloc_lookup(void)
{
	static struct pm_real_malloc real;
	static atomic_flag in_lookup = ATOMIC_FLAG_INIT;

	if (atomic_flag_test_and_set(&in_lookup))
		return &libc;
	lookup_all(&real);
	atomic_store_explicit(&pm_real_malloc_found, &real, memory_order_release);
	return &real;
}
