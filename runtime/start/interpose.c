/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library's family of allocation functions, in place of the program's: the set that glibc's
 * manual asks of a replacement (22.3.2.2, "Replacing malloc"), which must be whole, and what C23
 * and older binaries have besides. They behave as glibc 2.36's, malloc(3) and posix_memalign(3): no
 * object of 0 bytes is NULL, realloc(p, 0) frees, memalign() rounds its alignment up, free() keeps
 * errno.
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
#include "runtime/advice/site.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/jemalloc.h"
#include "runtime/lifetime/lifetime.h"
#include "runtime/profile/profile.h"
#include "runtime/start/marks.h"
#include "runtime/start/next.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

static bool placing(void)
{
	return pm_heap.small_limit;
}

/* --- taking --- */

static size_t in_granules(size_t size)
{
	return (size + PM_GRANULE - 1) / PM_GRANULE * PM_GRANULE;
}

static void *take_by_lifetime(size_t size, size_t align, bool zero)
{
	uint64_t site = pm_site_capture().key;
	void *object = pm_heap_alloc_predicted(size, align, zero, pm_lifetime_is_short(site, size));

	if (object)
		pm_lifetime_alloc(object, site);
	return object;
}

static void *take_advised(size_t size, size_t align, bool zero)
{
	enum pm_advice advice = pm_advice_on && size >= PM_LARGE
					? pm_advice_lookup(in_granules(size))
					: PM_ADVICE_NONE;

	if (advice == PM_ADVICE_NONE && pm_lifetime_is_on() && size >= PM_LARGE)
		return take_by_lifetime(size, align, zero);
	if (advice == PM_ADVICE_NONE)
		return pm_heap_alloc(size, align, zero);
	return pm_heap_alloc_advised(size, align, zero, advice == PM_ADVICE_DRAM);
}

/* What is small and a block for its alignment's sake has its chance as other small objects. */
static __attribute__((noinline)) void *take_large(
	size_t size, size_t align, bool zero, const void *caller)
{
	void *object;

	if (atomic_load_explicit(&pm_marks_infers, memory_order_relaxed) && size >= PM_LARGE)
		pm_marks_asked(caller, size);
	object = take_advised(size, align, zero);

	if (pm_profile_on && object && (size >= PM_LARGE || pm_profile_is_sample(size)))
		pm_profile_alloc(object, size);
	return object;
}

/* A small object that is a sample of the profile's; NULL: it is none. */
static void *take_sample(size_t size, size_t align, bool zero)
{
	void *object = NULL;

	if (pm_profile_on && pm_profile_is_sample(size))
		object = pm_heap_alloc_sample(size, align, zero);
	if (object)
		pm_profile_alloc(object, size);
	return object;
}

/* `caller` is where the program goes on. */
static void *take_small(size_t size, size_t align, bool zero, const void *caller)
{
	void *object = take_sample(size, align, zero);

	if (!object && pm_advice_on_small && pm_advice_is_cold(caller))
		object = pm_jemalloc_take_cold(size, align, zero);
	if (object)
		return object;
	if (zero)
		return pmje_calloc(1, size);
	return align > 1 ? pmje_memalign(align, size) : pmje_malloc(size);
}

static __attribute__((noinline)) void *take_otherwise(size_t size, const void *caller)
{
	if (!placing())
		return pm_next()->malloc(size);
	return size < PM_LARGE ? take_small(size, 1, false, caller)
			       : take_large(size, 1, false, caller);
}

void *pm_malloc(size_t size, const void *caller)
{
	return likely(size < pm_heap.small_limit) ? pmje_malloc(size)
						  : take_otherwise(size, caller);
}

static void *take_zero(size_t n, size_t size, const void *caller)
{
	size_t bytes;

	if (!placing())
		return pm_next()->calloc(n, size);
	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return bytes < PM_LARGE ? take_small(bytes, 1, true, caller)
				: take_large(bytes, 1, true, caller);
}

/* The power of two from there on; 0: there is none. */
static size_t power_of_two(size_t align)
{
	size_t power = sizeof(void *);

	while (power && power < align)
		power <<= 1;
	return power;
}

static void *take_aligned(size_t align, size_t size, const void *caller)
{
	align = power_of_two(align);
	if (!align || size > PTRDIFF_MAX) {
		errno = align ? ENOMEM : EINVAL;
		return NULL;
	}
	return size < PM_LARGE && align < PM_GRANULE ? take_small(size, align, false, caller)
						     : take_large(size, align, false, caller);
}

void *pm_aligned(size_t align, size_t size, const void *caller)
{
	return placing() ? take_aligned(align, size, caller) : pm_next()->memalign(align, size);
}

/* --- giving back --- */

static void give_large(void *object)
{
	if (pm_profile_on)
		pm_profile_free(object);
	if (pm_lifetime_is_on())
		pm_lifetime_free(object);
	pm_heap_free(object);
}

static __attribute__((noinline)) void give_otherwise(void *object)
{
	if (!pm_heap_owns(object))
		pm_next()->free(object);
	else if (pm_heap_is_large(object))
		give_large(object);
	else if (pm_heap_is_fast_free(object))
		pmje_free(object);
	else
		pm_jemalloc_give_cold(object);
}

/* Most are jemalloc's; of one in 65536 bytes of addresses a look tells whether it is. */
static inline __attribute__((always_inline)) void give(void *object)
{
	if (unlikely(!pm_heap_is_fast_free(object))) {
		if (object)
			give_otherwise(object);
	} else if (likely((uintptr_t)object % PM_GRANULE) || !pm_heap_is_large(object)) {
		pmje_free(object);
	} else {
		give_otherwise(object);
	}
}

void pm_free(void *object)
{
	give(object);
}

/* --- sizes --- */

static size_t usable_size(void *object)
{
	if (!object)
		return 0;
	if (!pm_heap_owns(object))
		return pm_next()->usable_size(object);
	return pm_heap_is_large(object) ? pm_heap_usable_size(object)
					: pmje_malloc_usable_size(object);
}

/* Into a new object of another size, perhaps another allocator's. */
static void *move(void *object, size_t size, const void *caller)
{
	size_t old = usable_size(object);
	void *moved = pm_malloc(size, caller);

	if (moved) {
		memcpy(moved, object, old < size ? old : size);
		pm_free(object);
	}
	return moved;
}

/* To the profile, another object. */
static bool resize_large(void *object, size_t size)
{
	if (!pm_heap_resize(object, size))
		return false;
	if (pm_profile_on) {
		pm_profile_free(object);
		pm_profile_alloc(object, size);
	}
	return true;
}

/* A small object that jemalloc would resize into its thread's cache, and nobody would see it. */
static void *resize_watched(void *object, size_t size, const void *caller)
{
	size_t old = usable_size(object);

	return size <= old && size > old / 2 ? object : move(object, size, caller);
}

static void *resize_ours(void *object, size_t size, const void *caller)
{
	bool large = pm_heap_is_large(object);

	if (!large && size < PM_LARGE)
		return pm_heap_is_fast_free(object) && !pm_profile_on
			       ? pmje_realloc(object, size)
			       : resize_watched(object, size, caller);
	if (large && size >= PM_LARGE && resize_large(object, size))
		return object;
	return move(object, size, caller);
}

static void *resize(void *object, size_t size, const void *caller)
{
	if (!object)
		return pm_malloc(size, caller);
	if (!placing())
		return pm_next()->realloc(object, size);
	if (!size) {
		pm_free(object);
		return NULL;
	}
	return pm_heap_owns(object) ? resize_ours(object, size, caller)
				    : move(object, size, caller);
}

/*
 * --- the names ---
 *
 * What other allocators do not have calls what they have, by its name, as glibc's does: theirs may
 * come first.
 */

#pragma GCC visibility push(default)

void *malloc(size_t size)
{
	return pm_malloc(size, CALLER);
}

void free(void *object)
{
	give(object);
}

void *calloc(size_t n, size_t size)
{
	return take_zero(n, size, CALLER);
}

void *realloc(void *object, size_t size)
{
	return resize(object, size, CALLER);
}

void *reallocarray(void *object, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return placing() ? resize(object, bytes, CALLER) : realloc(object, bytes);
}

void *memalign(size_t align, size_t size)
{
	return pm_aligned(align, size, CALLER);
}

void *aligned_alloc(size_t align, size_t size)
{
	return placing() ? take_aligned(align, size, CALLER)
			 : pm_next()->aligned_alloc(align, size);
}

int posix_memalign(void **ret, size_t align, size_t size)
{
	int saved = errno;
	void *object;

	if (!placing())
		return pm_next()->posix_memalign(ret, align, size);
	if (align % sizeof(void *) || !align || align & (align - 1))
		return EINVAL;
	object = take_aligned(align, size, CALLER);
	errno = saved;
	if (!object)
		return ENOMEM;
	*ret = object;
	return 0;
}

void *valloc(size_t size)
{
	return placing() ? take_aligned((size_t)getpagesize(), size, CALLER)
			 : pm_next()->valloc(size);
}

void *pvalloc(size_t size)
{
	size_t page = (size_t)getpagesize(), rounded;

	if (__builtin_add_overflow(size, page - 1, &rounded)) {
		errno = ENOMEM;
		return NULL;
	}
	rounded = rounded / page * page;
	return placing() ? take_aligned(page, rounded, CALLER) : valloc(rounded);
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
