/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into a program under qemu-x86_64: tells the emulator's plugin which objects the program
 * allocates and frees. Objects are those of the C library; call sites have the keys that they have
 * in the runtime's profiles. Objects below PM_METER_LEAST bytes (4,096 if not set) are not told.
 * Call sites have three frames, with PM_METER_FRAMES=8 as many as in profiles for large objects.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/advice/site.h"
#include "twin/meter/allocation_calls.h"
#include "twin/meter/instructions.h"

#define LARGE  (256 << 10) /* PM_LARGE of runtime/heap/heap.h */
#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *object, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *object);

static size_t least = 4096;
static unsigned frames = PM_SITE_LEAST; /* of call sites of objects of LARGE bytes and more */
static _Thread_local bool is_inside
	__attribute__((tls_model("initial-exec"))); /* libgcc's unwinder may allocate */

__attribute__((constructor)) static void start(void)
{
	const char *text = getenv("PM_METER_LEAST"), *deep = getenv("PM_METER_FRAMES");

	if (text)
		least = strtoul(text, NULL, 10);
	if (deep)
		frames = strtoul(deep, NULL, 10);
	pm_site_program();
}

static __attribute__((noinline)) void tell(long number, void *object, size_t bytes, uint64_t site)
{
	int saved = errno;

	syscall(number, object, bytes, site);
	errno = saved;
}

static __attribute__((noinline)) void tell_allocated(void *object, size_t bytes)
{
	struct pm_site site = pm_site_capture(bytes >= LARGE ? frames : PM_SITE_LEAST);

	tell(PM_METER_ALLOCATED, object, bytes, site.key);
}

/*
 * In both, the walk of the stack and the rest are not the program's accesses. Inlined: behind
 * PM_METER_RESUME() only the caller's few loads from the stack are left.
 */
static inline __attribute__((always_inline)) void *told(void *object, size_t bytes)
{
	PM_METER_PAUSE();
	if (is_inside) /* stays paused */
		return object;
	is_inside = true;
	if (object && bytes >= least)
		tell_allocated(object, bytes);
	is_inside = false;
	PM_METER_RESUME();
	return object;
}

static inline __attribute__((always_inline)) void tell_freed(void *object)
{
	PM_METER_PAUSE();
	if (object && malloc_usable_size(object) >= least)
		tell(PM_METER_FREED, object, 0, 0);
	if (!is_inside)
		PM_METER_RESUME();
}

EXPORT void *malloc(size_t bytes)
{
	return told(__libc_malloc(bytes), bytes);
}

EXPORT void *calloc(size_t n, size_t bytes)
{
	return told(__libc_calloc(n, bytes), n * bytes);
}

EXPORT void free(void *object)
{
	tell_freed(object);
	__libc_free(object);
}

/* The plugin has forgotten the object when another thread may get its memory. */
EXPORT void *realloc(void *object, size_t bytes)
{
	tell_freed(object);
	return told(__libc_realloc(object, bytes), bytes);
}

EXPORT void *memalign(size_t align, size_t bytes)
{
	return told(__libc_memalign(align, bytes), bytes);
}

EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
	return told(__libc_memalign(align, bytes), bytes);
}

EXPORT int posix_memalign(void **ret, size_t align, size_t bytes)
{
	void *object;

	if (!align || align % sizeof(void *) || align & (align - 1))
		return EINVAL;
	object = told(__libc_memalign(align, bytes), bytes);
	if (!object)
		return ENOMEM;
	*ret = object;
	return 0;
}

EXPORT void *valloc(size_t bytes)
{
	return told(__libc_memalign(sysconf(_SC_PAGESIZE), bytes), bytes);
}
