/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/lifetime/lifetime.h"

#include <stddef.h>
#include <sys/mman.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/size_predictor.h"
#include "runtime/lifetime/iteration.h"

#define SITES	   8192u
#define LOOKS	   16		       /* for a site's place; one that finds none is not known */
#define SHORT	   1		       /* iterations later */
#define GIVEN_MIN  2		       /* once could be by chance */
#define GROW_NOTES (UINT64_C(1) << 16) /* of 4 GiB at a time */

struct note {
	uint64_t site; /* 0: none */
	uint32_t iteration;
};

atomic_bool pm_lifetime_on;

static struct {
	struct note *first;
	atomic_flag is_growing;
	atomic_uintptr_t end; /* of what may be written */
} notes = {.is_growing = ATOMIC_FLAG_INIT};

static struct {
	atomic_uint_least64_t key;
	atomic_uint_least32_t taken, given_soon;
} sites[SITES];

void pm_lifetime_begin(void)
{
	static atomic_flag is_begun = ATOMIC_FLAG_INIT;
	void *start;

	if (atomic_flag_test_and_set(&is_begun))
		return;
	start = mmap(NULL, pm_heap.size / PM_GRANULE * sizeof(struct note), PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED)
		return;
	notes.first = start;
	atomic_store(&notes.end, (uintptr_t)start);
	atomic_store_explicit(&pm_lifetime_on, true, memory_order_release);
}

/* SITES: it has no place. */
static uint32_t place_of(uint64_t key)
{
	for (uint32_t look = 0; key && look < LOOKS; look++) {
		uint32_t at = (uint32_t)((key + look) % SITES);
		uint64_t there = 0;

		if (atomic_compare_exchange_strong(&sites[at].key, &there, key) || there == key)
			return at;
	}
	return SITES;
}

bool pm_lifetime_is_short(uint64_t site, size_t bytes)
{
	uint32_t at = place_of(site), taken, given;

	if (at == SITES)
		return false;
	taken = atomic_load_explicit(&sites[at].taken, memory_order_relaxed);
	given = atomic_load_explicit(&sites[at].given_soon, memory_order_relaxed);
	return taken < GIVEN_MIN ? pm_size_predictor_is_confident(bytes)
				 : given >= GIVEN_MIN && given >= taken / 2;
}

/* NULL: it cannot be written. */
static struct note *note_of(const void *object)
{
	struct note *note = &notes.first[((uintptr_t)object - pm_heap.base) / PM_GRANULE];

	return (uintptr_t)note < atomic_load(&notes.end) ? note : NULL;
}

/* Has it written to. If another thread is at that, this object is not noted. */
static void grow(const void *object)
{
	uint64_t n = ((uintptr_t)object - pm_heap.base) / PM_GRANULE / GROW_NOTES + 1;
	uintptr_t begin, end = (uintptr_t)&notes.first[n * GROW_NOTES];

	if (atomic_flag_test_and_set(&notes.is_growing))
		return;
	begin = atomic_load(&notes.end);
	if (begin < end && !mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE))
		atomic_store(&notes.end, end);
	atomic_flag_clear(&notes.is_growing);
}

void pm_lifetime_taken(const void *object, uint64_t site)
{
	uint32_t at = place_of(site);
	struct note *note;

	if (!note_of(object))
		grow(object);
	note = note_of(object);
	if (at == SITES || !note)
		return;
	atomic_fetch_add_explicit(&sites[at].taken, 1, memory_order_relaxed);
	*note = (struct note){site, pm_iteration()};
}

void pm_lifetime_given(const void *object)
{
	struct note *note = note_of(object);
	uint32_t at = note ? place_of(note->site) : SITES;

	if (at != SITES && pm_iteration() - note->iteration <= SHORT)
		atomic_fetch_add_explicit(&sites[at].given_soon, 1, memory_order_relaxed);
	if (note)
		note->site = 0;
}
