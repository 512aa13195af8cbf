/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/heap/heap.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>

#include "runtime/heap/live_bytes.h"
#include "runtime/heap/size_predictor.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; glibc 2.35 */
#endif

/* Free PMem may keep this many bytes of pages, and an eighth of the bytes that are in use. */
#define DIRTY_BYTES_MAX (UINT64_C(64) << 20)
#define DIRTY_SHARE	8

/* One slab is at most this part of the budget, but for one granule, so that few take little. */
#define SLAB_SHARE 64

/*
 * Kept for small objects: a third of the budget, 4 MiB at most, which is less than slabs took at
 * the start when each was a chunk. metis, which holds 3 MiB of small objects, has 37 % of its
 * traffic in 6 MiB of DRAM if 2 are kept, 19.2 if 1.5 are, for then its first array of 4.2 MiB has
 * room, and no more if 3 are. minipic, which has no small objects, has 31 % of it in 10 MiB, and 22
 * if 4 are kept. The plan's metadata space is a part of it.
 */
#define KEPT_SHARE     3
#define KEPT_BYTES_MAX (UINT64_C(4) << 20)

static struct {
	atomic_uint_least64_t spilled_objects, spilled_bytes;
	atomic_uint_least64_t slab_bytes; /* so far */
} counts;

/*
 * Spaces in the order in which they are tried. In programs that open no streams migration serves as
 * a reserve for free.
 */
#define END PM_SPACES
static const enum pm_space_id for_slabs[] = {
	PM_METADATA, PM_FREE, PM_LENT, PM_MIGRATION, PM_PMEM, END};
static const enum pm_space_id for_objects[] = {PM_FREE, PM_LENT, PM_MIGRATION, PM_PMEM, END};
static const enum pm_space_id for_temporary[] = {
	PM_TEMPORARY, PM_LENT, PM_FREE, PM_MIGRATION, PM_PMEM, END};
static const enum pm_space_id for_dram[] = {
	PM_FREE, PM_LENT, PM_MIGRATION, PM_TEMPORARY, PM_METADATA, PM_PMEM, END};
static const enum pm_space_id for_pmem[] = {PM_PMEM, PM_FREE, PM_MIGRATION, END};
static const enum pm_space_id for_batches[] = {PM_MIGRATION, END};
static const enum pm_space_id for_reservations[] = {PM_LENT, PM_FREE, END};

void pm_heap_open(bool watched, bool sorted)
{
	pm_heap.fast_free_size = sorted ? pm_heap.settings.budget_bytes : pm_heap.size;
	pm_heap.small_limit = watched ? 1 : PM_LARGE;
}

void pm_heap_close(void)
{
	pm_heap.small_limit = 0;
}

/* --- allocating --- */

static void count_spill(size_t bytes)
{
	atomic_fetch_add_explicit(&counts.spilled_objects, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&counts.spilled_bytes, bytes, memory_order_relaxed);
}

static bool is_reserved_for_temporary(enum pm_space_id id, const enum pm_space_id *where)
{
	return id == PM_LENT && where != for_temporary &&
	       atomic_load_explicit(&pm_heap.lent_to_temporary, memory_order_relaxed);
}

static bool is_closed(enum pm_space_id id, const enum pm_space_id *where)
{
	return id == PM_MIGRATION && where != for_batches && pm_heap.migration_is_closed;
}

/*
 * Allocates in the first space with room. An allocation in PMem is a spill unless PMem is the first
 * in its order.
 */
static struct pm_allocation alloc_in_spaces(
	const enum pm_space_id *where, size_t bytes, size_t align, enum pm_extent_kind kind)
{
	struct pm_allocation t = {0};

	for (int i = 0; !t.start && where[i] != END; i++) {
		if (is_reserved_for_temporary(where[i], where) || is_closed(where[i], where))
			continue;
		t = pm_space_alloc(&pm_heap.spaces[where[i]], bytes, align, kind);
		if (t.start && i && where[i] == PM_PMEM)
			count_spill(t.bytes);
	}
	if (kind >= PM_EXTENT_OBJECT)
		pm_live_bytes_add((int64_t)t.bytes);
	return t;
}

static struct pm_space *space_of(const void *p)
{
	struct pm_space *space = pm_heap.spaces;

	while (!pm_space_contains(space, p))
		space++;
	return space;
}

static void free_extent(void *object, size_t bytes, bool zeroed)
{
	pm_live_bytes_add(-(int64_t)bytes);
	pm_space_free(space_of(object), object, zeroed);
}

static bool call(_Atomic(pm_forget_fn *) *hook, void *start, size_t bytes)
{
	pm_forget_fn *forget = atomic_load_explicit(hook, memory_order_acquire);

	return forget && forget(start, bytes);
}

/* First the names, so that nothing is promoted that is free. */
static bool forget_moved(void *start, size_t bytes)
{
	(void)call(&pm_heap.forget_named, start, bytes);
	return call(&pm_heap.forget_moved, start, bytes);
}

static bool is_pmem(const void *p)
{
	return pm_space_contains(&pm_heap.spaces[PM_PMEM], p);
}

/*
 * Faults in the pages of DRAM that were never allocated before. Slabs are not prefaulted: jemalloc
 * writes to the first objects of one at once, and a program that needs little would wait
 * for pages that it never uses.
 */
static void prefault(char *start, size_t bytes, size_t fresh_bytes)
{
	if (fresh_bytes && !is_pmem(start))
		(void)madvise(start + bytes - fresh_bytes, fresh_bytes, MADV_POPULATE_WRITE);
}

/*
 * Large ranges of PMem are zeroed by dropping their pages: the parts of a sparse object that the
 * program never touches then take no memory. DRAM keeps its pages.
 */
static void zero_fill(char *start, size_t bytes)
{
	if (bytes < PM_CHUNK || !is_pmem(start) || madvise(start, bytes, MADV_DONTNEED))
		memset(start, 0, bytes);
}

static void *alloc_extent(const enum pm_space_id *where, size_t bytes, size_t align, bool zero,
	enum pm_extent_kind kind)
{
	struct pm_allocation t = {0};
	int saved = errno;

	if (bytes <= PM_SPACE_MAX)
		t = alloc_in_spaces(where, bytes, align, kind);
	prefault(t.start, t.bytes, t.fresh_bytes);
	errno = t.start ? saved : ENOMEM;
	if (t.start && zero && t.dirty_bytes)
		zero_fill(t.start, MIN(t.dirty_bytes, bytes));
	return t.start;
}

static void *alloc_object(const enum pm_space_id *where, size_t bytes, size_t align, bool zero)
{
	return alloc_extent(where, bytes, align, zero, PM_EXTENT_OBJECT);
}

void *pm_heap_alloc_sample(size_t bytes, size_t align, bool zero)
{
	struct pm_allocation t =
		alloc_in_spaces(for_slabs, bytes ? bytes : 1, align, PM_EXTENT_SAMPLE);

	if (t.start && zero)
		memset(t.start, 0, MIN(t.dirty_bytes, bytes));
	return t.start;
}

void *pm_heap_alloc(size_t bytes, size_t align, bool zero)
{
	size_t size = bytes ? bytes : 1;

	return alloc_object(
		pm_size_predictor_alloc(size) ? for_temporary : for_objects, size, align, zero);
}

void *pm_heap_alloc_predicted(size_t bytes, size_t align, bool zero, bool is_temporary)
{
	(void)pm_size_predictor_alloc(bytes);
	return alloc_object(is_temporary ? for_temporary : for_objects, bytes, align, zero);
}

void *pm_heap_alloc_advised(size_t bytes, size_t align, bool zero, bool in_dram)
{
	(void)pm_size_predictor_alloc(bytes);
	return alloc_object(in_dram ? for_dram : for_pmem, bytes, align, zero);
}

void *pm_heap_alloc_placed(size_t bytes)
{
	(void)pm_size_predictor_alloc(bytes);
	return alloc_extent(for_pmem, bytes, 1, false, PM_EXTENT_PLACED);
}

void *pm_heap_alloc_migration(size_t bytes)
{
	struct pm_allocation t = alloc_in_spaces(for_batches, bytes, PM_GRANULE, PM_EXTENT_SLAB);

	prefault(t.start, t.bytes, t.fresh_bytes);
	return t.start;
}

/*
 * Whole chunks, so that no huge page of a neighbour reaches into them. The chunks must be fresh:
 * pages of earlier objects may be pinned, like memory that is registered with a network card. Such
 * pages would stay in DRAM, in addition to the pages that the reservation is for.
 */
struct pm_allocation pm_heap_reserve_dram(size_t bytes)
{
	struct pm_allocation t = alloc_in_spaces(for_reservations,
		(bytes + PM_CHUNK - 1) / PM_CHUNK * PM_CHUNK, PM_CHUNK, PM_EXTENT_OBJECT);

	if (!t.start || t.fresh_bytes == t.bytes)
		return t;
	free_extent(t.start, t.bytes, false);
	return (struct pm_allocation){0};
}

/* A whole chunk gets a huge page of its own; all other slabs fill the gaps between extents. */
static void *alloc_slab(const enum pm_space_id *where, size_t bytes, enum pm_extent_kind kind)
{
	struct pm_allocation t =
		alloc_in_spaces(where, bytes, bytes == PM_CHUNK ? PM_CHUNK : PM_GRANULE, kind);

	if (kind == PM_EXTENT_SLAB)
		atomic_fetch_add_explicit(&counts.slab_bytes, t.bytes, memory_order_relaxed);
	if (t.dirty_bytes)
		memset(t.start, 0, t.dirty_bytes);
	return t.start;
}

void pm_heap_keep_for_small(bool keep)
{
	const struct pm_settings *settings = &pm_heap.settings;
	uint64_t bytes = MIN(settings->budget_bytes / KEPT_SHARE, KEPT_BYTES_MAX);

	bytes -= MIN(bytes, settings->bytes[PM_METADATA]);
	pm_space_keep(&pm_heap.spaces[PM_FREE], keep ? bytes : 0);
}

uint64_t pm_heap_slab_step(void)
{
	uint64_t step = PM_CHUNK;

	while (step > PM_GRANULE && step > pm_heap.settings.budget_bytes / SLAB_SHARE)
		step /= 2;
	return step;
}

/*
 * jemalloc takes more than a chunk only for an index of 1 GiB of addresses, 2 MiB, of which it
 * touches one page for 2 MiB of small objects. A small budget has no room for the rest of it.
 */
static bool is_index(size_t bytes)
{
	return bytes > PM_CHUNK && bytes > pm_heap.settings.budget_bytes / SLAB_SHARE;
}

void *pm_heap_take_slab(size_t bytes)
{
	return is_index(bytes) ? alloc_slab(for_pmem, bytes, PM_EXTENT_INDEX)
			       : alloc_slab(for_slabs, bytes, PM_EXTENT_SLAB);
}

void *pm_heap_take_slab_in_pmem(size_t bytes)
{
	return alloc_slab(for_pmem, bytes, is_index(bytes) ? PM_EXTENT_INDEX : PM_EXTENT_SLAB);
}

/* --- freeing --- */

size_t pm_heap_usable_size(const void *object)
{
	return pm_space_extent(space_of(object), object)->granules * PM_GRANULE;
}

/*
 * Drops the pages of a PMem object that is about to be freed, if free PMem would otherwise keep too
 * many. True: the object now reads as zero. Free DRAM always keeps its pages.
 */
static bool purge_surplus(void *start, size_t bytes)
{
	uint64_t used, dirty;

	pm_space_usage(&pm_heap.spaces[PM_PMEM], &used, &dirty);
	return dirty + bytes > DIRTY_BYTES_MAX + used / DIRTY_SHARE &&
	       !madvise(start, bytes, MADV_DONTNEED);
}

void pm_heap_free_migration(void *buffers)
{
	pm_space_free(&pm_heap.spaces[PM_MIGRATION], buffers, false);
}

bool pm_heap_is_in_dram(const void *p)
{
	return pm_heap_owns(p) && !is_pmem(p);
}

uint64_t pm_heap_used_bytes(enum pm_space_id id)
{
	uint64_t used, dirty;

	pm_space_usage(&pm_heap.spaces[id], &used, &dirty);
	return used;
}

void pm_heap_free(void *object)
{
	size_t bytes = pm_heap_usable_size(object);
	int saved = errno;

	pm_size_predictor_free(bytes);
	free_extent(object, bytes,
		forget_moved(object, bytes) || (is_pmem(object) && purge_surplus(object, bytes)));
	errno = saved;
}

/* The granules behind the first `bytes` are about to be free. */
static void forget_end(char *object, size_t bytes, size_t before)
{
	size_t kept = (bytes + PM_GRANULE - 1) / PM_GRANULE * PM_GRANULE;

	(void)forget_moved(object + kept, before - kept);
}

bool pm_heap_resize(void *object, size_t bytes)
{
	size_t fresh_bytes, before = pm_heap_usable_size(object);

	if (bytes < before)
		forget_end(object, bytes, before);
	if (!pm_space_resize(space_of(object), object, bytes, &fresh_bytes))
		return false;
	pm_live_bytes_add((int64_t)(pm_heap_usable_size(object) - before));
	prefault(object, pm_heap_usable_size(object), fresh_bytes);
	return true;
}

void pm_heap_give_slab(void *slab, size_t bytes)
{
	if (pm_heap_owns(slab) && pm_heap_usable_size(slab) - bytes < PM_GRANULE)
		pm_space_free(space_of(slab), slab, forget_moved(slab, bytes));
}

bool pm_heap_drop(void *start, size_t bytes)
{
	return is_pmem(start) && !madvise(start, bytes, MADV_DONTNEED);
}

void pm_heap_stats(struct pm_heap_stats *ret)
{
	ret->spilled_objects = atomic_load(&counts.spilled_objects);
	ret->spilled_bytes = atomic_load(&counts.spilled_bytes);
	ret->slab_bytes = atomic_load(&counts.slab_bytes);
	ret->refused_bytes = atomic_load(&pm_heap.refused_bytes);
}

/* --- fork --- */

void pm_heap_before_fork(void)
{
	for (int i = 0; i < PM_SPACES; i++)
		pthread_mutex_lock(&pm_heap.spaces[i].lock);
}

void pm_heap_after_fork(void)
{
	for (int i = PM_SPACES; i-- > 0;)
		pthread_mutex_unlock(&pm_heap.spaces[i].lock);
}

void pm_heap_after_fork_in_child(void)
{
	const struct pm_settings *settings = &pm_heap.settings;

	/* A child without the registry would use the budget a second time: it gets no new DRAM. */
	pm_heap_after_fork();
	pm_heap.is_child = true;
	pm_heap.has_budget &= pm_heap.registry == PM_REGISTRY_OPEN;
	if (settings->budget_bytes && !pm_nodemask_empty(&settings->pmem))
		(void)pm_nodemask_bind(
			&settings->pmem, (void *)pm_heap.base, settings->budget_bytes);
}
