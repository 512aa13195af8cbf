/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interposes the C library's allocation functions: the complete set that glibc's manual requires of
 * a replacement ("Replacing malloc"), the functions that C23 adds, and those that older binaries
 * call. They behave as in glibc 2.36, malloc(3) and posix_memalign(3): an object of 0 bytes is not
 * NULL, realloc(p, 0) frees, memalign() rounds its alignment up, free() keeps errno.
 *
 * Fast path: malloc() of a small object is one compare and jemalloc's malloc; free() of a small
 * object is two compares and jemalloc's free. All else is out of line.
 */
#define _GNU_SOURCE
#include "runtime/start/interpose.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/advice/advice.h"
#include "runtime/advice/advised_objects.h"
#include "runtime/advice/site.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/jemalloc.h"
#include "runtime/lifetime/lifetime.h"
#include "runtime/profile/profile.h"
#include "runtime/start/marks.h"
#include "runtime/start/real_malloc.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

static bool is_placing(void)
{
	return pm_heap.small_limit;
}

/* --- allocating --- */

static void *alloc_by_lifetime(size_t size, size_t align, bool zero)
{
	uint64_t site = pm_site_capture(PM_SITE_LEAST).key;
	void *object = pm_heap_alloc_predicted(size, align, zero, pm_lifetime_is_short(site, size));

	if (object)
		pm_lifetime_alloc(object, site);
	return object;
}

static void *place_large(size_t size, size_t align, bool zero)
{
	if (size < PM_LARGE)
		return pm_heap_alloc(size, align, zero);
	if (pm_advice_on)
		return pm_advised_alloc(size, align, zero);
	return pm_lifetime_is_on() ? alloc_by_lifetime(size, align, zero)
				   : pm_heap_alloc(size, align, zero);
}

/* Also allocates small objects with a large alignment; the profile samples them like other ones. */
static __attribute__((noinline)) void *alloc_large(
	size_t size, size_t align, bool zero, const void *caller)
{
	void *object;

	if (atomic_load_explicit(&pm_marks_inferring, memory_order_relaxed) && size >= PM_LARGE)
		pm_marks_large_alloc(caller, size);
	object = place_large(size, align, zero);

	if (pm_profile_on && object && (size >= PM_LARGE || pm_profile_is_sample(size)))
		pm_profile_alloc(object, size);
	return object;
}

/* Allocates a small object that is a sample of the profile. NULL: it is not one. */
static void *alloc_sample(size_t size, size_t align, bool zero)
{
	void *object = NULL;

	if (pm_profile_on && pm_profile_is_sample(size))
		object = pm_heap_alloc_sample(size, align, zero);
	if (object)
		pm_profile_alloc(object, size);
	return object;
}

/* `caller` is the return address into the program. */
static void *alloc_small(size_t size, size_t align, bool zero, const void *caller)
{
	void *object = alloc_sample(size, align, zero);

	if (!object && pm_advice_on_small && pm_advice_is_cold(caller)) {
		object = pm_jemalloc_take_cold(size, align, zero);
		pm_advised_count_cold();
	}
	if (object)
		return object;
	if (zero)
		return pmje_calloc(1, size);
	return align > 1 ? pmje_memalign(align, size) : pmje_malloc(size);
}

static __attribute__((noinline)) void *malloc_slow(size_t size, const void *caller)
{
	if (!is_placing())
		return pm_real_malloc()->malloc(size);
	return size < PM_LARGE ? alloc_small(size, 1, false, caller)
			       : alloc_large(size, 1, false, caller);
}

void *pm_malloc(size_t size, const void *caller)
{
	return likely(size < pm_heap.small_limit) ? pmje_malloc(size) : malloc_slow(size, caller);
}

static void *calloc_object(size_t n, size_t size, const void *caller)
{
	size_t bytes;

	if (!is_placing())
		return pm_real_malloc()->calloc(n, size);
	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return bytes < PM_LARGE ? alloc_small(bytes, 1, true, caller)
				: alloc_large(bytes, 1, true, caller);
}

/* Next power of two, at least the size of a pointer; 0: overflow. */
static size_t power_of_two(size_t align)
{
	size_t power = sizeof(void *);

	while (power && power < align)
		power <<= 1;
	return power;
}

static void *alloc_aligned(size_t align, size_t size, const void *caller)
{
	align = power_of_two(align);
	if (!align || size > PTRDIFF_MAX) {
		errno = align ? ENOMEM : EINVAL;
		return NULL;
	}
	return size < PM_LARGE && align < PM_GRANULE ? alloc_small(size, align, false, caller)
						     : alloc_large(size, align, false, caller);
}

void *pm_memalign(size_t align, size_t size, const void *caller)
{
	return is_placing() ? alloc_aligned(align, size, caller)
			    : pm_real_malloc()->memalign(align, size);
}

/* --- freeing --- */

static void free_large(void *object)
{
	if (pm_profile_on)
		pm_profile_free(object);
	if (pm_lifetime_is_on())
		pm_lifetime_free(object);
	if (pm_advice_on)
		pm_advised_free(object);
	pm_heap_free(object);
}

static __attribute__((noinline)) void free_slow(void *object)
{
	if (!pm_heap_owns(object))
		pm_real_malloc()->free(object);
	else if (pm_heap_is_large(object))
		free_large(object);
	else if (pm_heap_is_fast_free(object))
		pmje_free(object);
	else
		pm_jemalloc_give_cold(object);
}

/* Only a pointer at a granule's boundary, one address of 65536, needs the extent table. */
static inline __attribute__((always_inline)) void free_object(void *object)
{
	if (unlikely(!pm_heap_is_fast_free(object))) {
		if (object)
			free_slow(object);
	} else if (likely((uintptr_t)object % PM_GRANULE) || !pm_heap_is_large(object)) {
		pmje_free(object);
	} else {
		free_slow(object);
	}
}

void pm_free(void *object)
{
	free_object(object);
}

/* --- sizes --- */

static size_t usable_size(void *object)
{
	if (!object)
		return 0;
	if (!pm_heap_owns(object))
		return pm_real_malloc()->usable_size(object);
	return pm_heap_is_large(object) ? pm_heap_usable_size(object)
					: pmje_malloc_usable_size(object);
}

/* Allocates anew and copies. The old object may be of the real allocator. */
static void *copy_to_new(void *object, size_t size, const void *caller)
{
	size_t old = usable_size(object);
	void *moved = pm_malloc(size, caller);

	if (moved) {
		memcpy(moved, object, old < size ? old : size);
		pm_free(object);
	}
	return moved;
}

/* In place. The profile records the resized object as a new one. */
static bool resize_large(void *object, size_t size)
{
	size_t before = pm_heap_usable_size(object);

	if (!pm_heap_resize(object, size))
		return false;
	if (pm_advice_on)
		pm_advised_resize(object, before, pm_heap_usable_size(object));
	if (pm_profile_on) {
		pm_profile_free(object);
		pm_profile_alloc(object, size);
	}
	return true;
}

/*
 * pmje_realloc() may move an object without asking the profile or the advice, and may move a cold
 * one into DRAM. So it is kept if it uses at least half of its bytes, else allocated anew.
 */
static void *resize_small_watched(void *object, size_t size, const void *caller)
{
	size_t old = usable_size(object);

	return size <= old && size > old / 2 ? object : copy_to_new(object, size, caller);
}

static void *realloc_ours(void *object, size_t size, const void *caller)
{
	bool large = pm_heap_is_large(object);

	if (!large && size < PM_LARGE)
		return pm_heap_is_fast_free(object) && !pm_profile_on
			       ? pmje_realloc(object, size)
			       : resize_small_watched(object, size, caller);
	if (large && size >= PM_LARGE && resize_large(object, size))
		return object;
	return copy_to_new(object, size, caller);
}

static void *realloc_object(void *object, size_t size, const void *caller)
{
	if (!object)
		return pm_malloc(size, caller);
	if (!is_placing())
		return pm_real_malloc()->realloc(object, size);
	if (!size) {
		pm_free(object);
		return NULL;
	}
	return pm_heap_owns(object) ? realloc_ours(object, size, caller)
				    : copy_to_new(object, size, caller);
}

/*
 * --- exported ---
 *
 * Where nothing is placed, functions that other allocators often lack (reallocarray, pvalloc,
 * cfree, free_sized) call realloc(), valloc() and free() by name: the allocator that comes first
 * defines these.
 */

#pragma GCC visibility push(default)

void *malloc(size_t size)
{
	return pm_malloc(size, CALLER);
}

void free(void *object)
{
	free_object(object);
}

void *calloc(size_t n, size_t size)
{
	return calloc_object(n, size, CALLER);
}

void *realloc(void *object, size_t size)
{
	return realloc_object(object, size, CALLER);
}

void *reallocarray(void *object, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return is_placing() ? realloc_object(object, bytes, CALLER) : realloc(object, bytes);
}

void *memalign(size_t align, size_t size)
{
	return pm_memalign(align, size, CALLER);
}

void *aligned_alloc(size_t align, size_t size)
{
	return is_placing() ? alloc_aligned(align, size, CALLER)
			    : pm_real_malloc()->aligned_alloc(align, size);
}

int posix_memalign(void **ret, size_t align, size_t size)
{
	int saved = errno;
	void *object;

	if (!is_placing())
		return pm_real_malloc()->posix_memalign(ret, align, size);
	if (align % sizeof(void *) || !align || align & (align - 1))
		return EINVAL;
	object = alloc_aligned(align, size, CALLER);
	errno = saved;
	if (!object)
		return ENOMEM;
	*ret = object;
	return 0;
}

void *valloc(size_t size)
{
	return is_placing() ? alloc_aligned((size_t)getpagesize(), size, CALLER)
			    : pm_real_malloc()->valloc(size);
}

void *pvalloc(size_t size)
{
	size_t page = (size_t)getpagesize(), rounded;

	if (__builtin_add_overflow(size, page - 1, &rounded)) {
		errno = ENOMEM;
		return NULL;
	}
	rounded = rounded / page * page;
	return is_placing() ? alloc_aligned(page, rounded, CALLER) : valloc(rounded);
}

size_t malloc_usable_size(void *object)
{
	return usable_size(object);
}

void cfree(void *object)
{
	free(object);
}

void free_sized(void *object, size_t size)
{
	(void)size;
	free(object);
}

void free_aligned_sized(void *object, size_t align, size_t size)
{
	(void)align;
	(void)size;
	free(object);
}

#pragma GCC visibility pop
