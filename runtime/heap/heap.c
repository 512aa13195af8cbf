/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/heap/heap.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/heap/live.h"
#include "runtime/heap/recur.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; glibc 2.35 */
#endif

#define KEEP_BYTES (UINT64_C(64) << 20) /* of freed PMem, and an eighth of what is in use */
#define KEEP_SHARE 8

static struct {
	atomic_uint_least64_t spilled_objects, spilled_bytes;
} counts;

/* Where room is looked for. Nothing is prefetched yet, so migration is what is free at last. */
#define END PM_SPACES
static const enum pm_space_id for_slabs[] = {
	PM_METADATA, PM_FREE, PM_LENT, PM_MIGRATION, PM_PMEM, END};
static const enum pm_space_id for_objects[] = {PM_FREE, PM_LENT, PM_MIGRATION, PM_PMEM, END};
static const enum pm_space_id for_recurring[] = {
	PM_TEMPORARY, PM_LENT, PM_FREE, PM_MIGRATION, PM_PMEM, END};
static const enum pm_space_id for_dram[] = {
	PM_FREE, PM_LENT, PM_MIGRATION, PM_TEMPORARY, PM_METADATA, PM_PMEM, END};
static const enum pm_space_id for_pmem[] = {PM_PMEM, PM_FREE, PM_MIGRATION, END};
static const enum pm_space_id for_pages_elsewhere[] = {PM_LENT, PM_FREE, END};

void pm_heap_open(bool watched, bool sorted)
{
	pm_heap.quick = sorted ? pm_heap.settings.budget_bytes : pm_heap.size;
	pm_heap.small_limit = watched ? 1 : PM_LARGE;
}

void pm_heap_close(void)
{
	pm_heap.small_limit = 0;
}

/* --- taking --- */

static void count_spill(size_t bytes)
{
	atomic_fetch_add_explicit(&counts.spilled_objects, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&counts.spilled_bytes, bytes, memory_order_relaxed);
}

static bool is_closed(enum pm_space_id id, const enum pm_space_id *where)
{
	return id == PM_LENT && where != for_recurring &&
	       atomic_load_explicit(&pm_heap.lent_to_temporary, memory_order_relaxed);
}

/* The first space with room. What begins with PMem is not spilled there. */
static struct pm_taken take(
	const enum pm_space_id *where, size_t bytes, size_t align, enum pm_block_kind kind)
{
	struct pm_taken t = {0};

	for (int i = 0; !t.start && where[i] != END; i++) {
		if (is_closed(where[i], where))
			continue;
		t = pm_space_take(&pm_heap.spaces[where[i]], bytes, align, kind);
		if (t.start && i && where[i] == PM_PMEM)
			count_spill(t.bytes);
	}
	if (kind == PM_BLOCK_OBJECT)
		pm_live_count((int64_t)t.bytes);
	return t;
}

static struct pm_space *space_of(const void *p)
{
	struct pm_space *space = pm_heap.spaces;

	while (!pm_space_holds(space, p))
		space++;
	return space;
}

static void give_block(void *object, size_t bytes, bool is_clean)
{
	pm_live_count(-(int64_t)bytes);
	pm_space_give(space_of(object), object, is_clean);
}

static bool is_pmem(const void *p)
{
	return pm_space_holds(&pm_heap.spaces[PM_PMEM], p);
}

/*
 * Takes the pages of DRAM that have never been used. Not those of slabs: jemalloc asks for them in
 * growing pieces, whose first objects are written at once, and a program that needs little should
 * not wait for what it does not use.
 */
static void populate(char *start, size_t bytes, size_t fresh_bytes)
{
	if (fresh_bytes && !is_pmem(start))
		(void)madvise(start + bytes - fresh_bytes, fresh_bytes, MADV_POPULATE_WRITE);
}

/* By the kernel where that leaves the untouched pages of a sparse object without memory. */
static void clear(char *start, size_t bytes)
{
	if (bytes < PM_CHUNK || !is_pmem(start) || madvise(start, bytes, MADV_DONTNEED))
		memset(start, 0, bytes);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void *take_object(const enum pm_space_id *where, size_t bytes, size_t align, bool zero)
{
	struct pm_taken t = {0};
	int saved = errno;

	if (bytes <= PM_SPACE_MAX)
		t = take(where, bytes, align, PM_BLOCK_OBJECT);
	populate(t.start, t.bytes, t.fresh_bytes);
	errno = t.start ? saved : ENOMEM;
	if (t.start && zero && t.dirty_bytes)
		clear(t.start, least(t.dirty_bytes, bytes));
	return t.start;
}

void *pm_heap_take_sample(size_t bytes, size_t align, bool zero)
{
	struct pm_taken t = take(for_slabs, bytes ? bytes : 1, align, PM_BLOCK_OBJECT);

	if (t.start && zero)
		memset(t.start, 0, least(t.dirty_bytes, bytes));
	return t.start;
}

void *pm_heap_take(size_t bytes, size_t align, bool zero)
{
	size_t size = bytes ? bytes : 1;

	return take_object(pm_recur_taken(size) ? for_recurring : for_objects, size, align, zero);
}

void *pm_heap_take_known(size_t bytes, size_t align, bool zero, bool is_temporary)
{
	(void)pm_recur_taken(bytes);
	return take_object(is_temporary ? for_recurring : for_objects, bytes, align, zero);
}

void *pm_heap_take_advised(size_t bytes, size_t align, bool zero, bool in_dram)
{
	(void)pm_recur_taken(bytes);
	return take_object(in_dram ? for_dram : for_pmem, bytes, align, zero);
}

/*
 * Whole chunks: no huge page of a neighbour's reaches into them. What has had pages is not taken,
 * for these might stay where they are: memory that is registered with a network card is pinned.
 */
struct pm_taken pm_heap_set_aside(size_t bytes)
{
	struct pm_taken t = take(for_pages_elsewhere, (bytes + PM_CHUNK - 1) / PM_CHUNK * PM_CHUNK,
		PM_CHUNK, PM_BLOCK_OBJECT);

	if (!t.start || t.fresh_bytes == t.bytes)
		return t;
	give_block(t.start, t.bytes, false);
	return (struct pm_taken){0};
}

static void *take_slab(const enum pm_space_id *where, size_t bytes)
{
	struct pm_taken t = take(where, bytes, PM_CHUNK, PM_BLOCK_SLAB);

	if (t.dirty_bytes)
		memset(t.start, 0, t.dirty_bytes);
	return t.start;
}

void *pm_heap_take_slab(size_t bytes)
{
	return take_slab(for_slabs, bytes);
}

void *pm_heap_take_slab_in_pmem(size_t bytes)
{
	return take_slab(for_pmem, bytes);
}

/* --- giving back --- */

size_t pm_heap_bytes(const void *object)
{
	return pm_space_block(space_of(object), object)->granules * PM_GRANULE;
}

/* PMem that is free keeps its pages for what comes next, up to a limit; DRAM always does. */
static bool drop_surplus(void *start, size_t bytes)
{
	uint64_t used, kept;

	pm_space_usage(&pm_heap.spaces[PM_PMEM], &used, &kept);
	return kept + bytes > KEEP_BYTES + used / KEEP_SHARE &&
	       !madvise(start, bytes, MADV_DONTNEED);
}

void pm_heap_give(void *object)
{
	size_t bytes = pm_heap_bytes(object);
	int saved = errno;

	pm_recur_given(bytes);
	give_block(object, bytes, is_pmem(object) && drop_surplus(object, bytes));
	errno = saved;
}

bool pm_heap_resize(void *object, size_t bytes)
{
	size_t fresh_bytes, before = pm_heap_bytes(object);

	if (!pm_space_resize(space_of(object), object, bytes, &fresh_bytes))
		return false;
	pm_live_count((int64_t)(pm_heap_bytes(object) - before));
	populate(object, pm_heap_bytes(object), fresh_bytes);
	return true;
}

void pm_heap_give_slab(void *slab, size_t bytes)
{
	if (pm_heap_owns(slab) && pm_heap_bytes(slab) - bytes < PM_GRANULE)
		pm_space_give(space_of(slab), slab, false);
}

bool pm_heap_drop(void *start, size_t bytes)
{
	return is_pmem(start) && !madvise(start, bytes, MADV_DONTNEED);
}

void pm_heap_counts(struct pm_heap_counts *ret)
{
	ret->spilled_objects = atomic_load(&counts.spilled_objects);
	ret->spilled_bytes = atomic_load(&counts.spilled_bytes);
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

	pm_heap_after_fork();
	pm_heap.is_child = true;
	pm_heap.has_budget &= pm_heap.registry == PM_REGISTRY_OPEN;
	if (settings->budget_bytes && !pm_nodemask_empty(&settings->pmem))
		(void)pm_nodemask_bind(
			&settings->pmem, (void *)pm_heap.base, settings->budget_bytes);
}
