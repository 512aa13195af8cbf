/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/lifetime.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "runtime/heap.h"
#include "runtime/marks.h"

#define SITES	  8192u
#define LOOKS	  16 /* for a site's place; one that finds none is not known */
#define SHORT	  1  /* iterations later */
#define GIVEN_MIN 2  /* once could be by chance */

struct note {
	uint64_t site; /* 0: none */
	uint32_t iteration;
};

bool pm_lifetime_on;

static struct note *notes;

static struct {
	atomic_uint_least64_t key;
	atomic_uint_least32_t taken, given_soon;
} sites[SITES];

void pm_lifetime_begin(void)
{
	void *start = mmap(NULL, pm_heap.size / PM_GRANULE * sizeof(*notes), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return;
	notes = start;
	atomic_thread_fence(memory_order_release);
	pm_lifetime_on = true;
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

bool pm_lifetime_is_short(uint64_t site)
{
	uint32_t at = place_of(site), given;

	if (at == SITES)
		return false;
	given = atomic_load_explicit(&sites[at].given_soon, memory_order_relaxed);
	return given >= GIVEN_MIN &&
	       given >= atomic_load_explicit(&sites[at].taken, memory_order_relaxed) / 2;
}

static struct note *note_of(const void *object)
{
	return &notes[((uintptr_t)object - pm_heap.base) / PM_GRANULE];
}

void pm_lifetime_taken(const void *object, uint64_t site)
{
	uint32_t at = place_of(site);

	if (at == SITES)
		return;
	atomic_fetch_add_explicit(&sites[at].taken, 1, memory_order_relaxed);
	*note_of(object) = (struct note){site, pm_marks_iteration()};
}

void pm_lifetime_given(const void *object)
{
	struct note *note = note_of(object);
	uint32_t at = place_of(note->site);

	if (at != SITES && pm_marks_iteration() - note->iteration <= SHORT)
		atomic_fetch_add_explicit(&sites[at].given_soon, 1, memory_order_relaxed);
	note->site = 0;
}
