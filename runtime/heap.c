/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/heap.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/recur.h"
#include "runtime/say.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; glibc 2.35 */
#endif

#define PMEM_BYTES_MAX (UINT64_C(4) << 40) /* addresses, not memory */
#define PMEM_BYTES_MIN (UINT64_C(64) << 20)
#define GROW_BYTES     (UINT64_C(64) << 20) /* of PMem at a time, and an eighth of what it has */
#define GROW_SHARE     8
#define KEEP_BYTES     (UINT64_C(64) << 20) /* of freed PMem, and an eighth of what is in use */
#define KEEP_SHARE     8

struct pm_heap pm_heap;

static struct {
	atomic_uint_least64_t spilled_objects, spilled_bytes, refused_bytes;
} counts;

/* Where room is looked for. Nothing is prefetched yet, so migration is what is free at last. */
static const enum pm_space_id for_slabs[] = {PM_METADATA, PM_FREE, PM_MIGRATION, PM_PMEM};
static const enum pm_space_id for_objects[] = {PM_FREE, PM_MIGRATION, PM_PMEM};
static const enum pm_space_id for_recurring[] = {PM_TEMPORARY, PM_FREE, PM_MIGRATION, PM_PMEM};

/* --- start --- */

static uint64_t whole_chunks(uint64_t bytes)
{
	return (bytes + PM_CHUNK - 1) / PM_CHUNK * PM_CHUNK;
}

/* Of the entries for so many bytes, and for themselves. */
static uint64_t blocks_bytes(uint64_t bytes)
{
	return whole_chunks(bytes / (PM_GRANULE / sizeof(struct pm_block) - 1));
}

/* The whole range: DRAM, guard, blocks, PMem. */
static uint64_t heap_bytes(uint64_t dram, uint64_t pmem)
{
	return dram + PM_CHUNK + blocks_bytes(dram + PM_CHUNK + pmem) + pmem;
}

/* Half of what the process may map: the rest is for its libraries, stacks and files. */
static uint64_t pmem_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY ||
		limit.rlim_cur / 2 > PMEM_BYTES_MAX)
		return PMEM_BYTES_MAX;
	return limit.rlim_cur / 2 / PM_CHUNK * PM_CHUNK;
}

static char *reserve(uint64_t bytes)
{
	char *start = mmap(NULL, bytes + PM_CHUNK, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uintptr_t skip;

	if (start == MAP_FAILED)
		return NULL;
	skip = -(uintptr_t)start % PM_CHUNK;
	if (skip)
		munmap(start, skip);
	munmap(start + skip + bytes, PM_CHUNK - skip);
	return start + skip;
}

/* As much for PMem as the process may have, in halves; 0: not even the least. */
static uint64_t reserve_heap(uint64_t dram, char **ret)
{
	for (uint64_t pmem = pmem_limit(); pmem >= PMEM_BYTES_MIN;
		pmem = pmem / 2 / PM_CHUNK * PM_CHUNK) {
		*ret = reserve(heap_bytes(dram, pmem));
		if (*ret)
			return pmem;
	}
	return 0;
}

static bool bind(const char *name, const struct pm_nodes *nodes, void *start, uint64_t bytes)
{
	int rc = bytes && !pm_nodes_empty(nodes) ? pm_nodes_bind(nodes, start, bytes) : 0;

	if (rc)
		pm_say("cannot bind memory to %s: %s; nothing is placed", name,
			strerrordesc_np(-rc));
	return !rc;
}

/* Is so much DRAM free on the nodes, whatever the budget says? */
static bool nodes_have(uint64_t bytes)
{
	if (pm_nodes_empty(&pm_heap.settings.dram) ||
		pm_nodes_available(&pm_heap.settings.dram) >= bytes)
		return true;
	atomic_fetch_add(&counts.refused_bytes, bytes);
	return false;
}

/*
 * Makes granules of a space writable, and the entries of these and of those that are gone behind
 * them. What is only reserved costs nothing where a site forbids overcommit
 * (vm.overcommit_memory=2, ulimit -d), what is writable does.
 */
static bool commit(const struct pm_space *space, uint32_t first, uint32_t n, uint32_t gone)
{
	uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t begin = (uintptr_t)&space->blocks[first] / page * page;
	uintptr_t end = (uintptr_t)&space->blocks[first + n + gone];
	const int prot = PROT_READ | PROT_WRITE;

	return !mprotect((void *)begin, end - begin, prot) &&
	       (!n || !mprotect(space->base + first * PM_GRANULE, n * PM_GRANULE, prot));
}

/* Of a child, whose whole DRAM part is bound to PMem. */
static bool bind_again(const struct pm_space *space, uint32_t first, uint32_t n)
{
	const struct pm_nodes *nodes = &pm_heap.settings.dram;

	return !pm_heap.is_child || !n || pm_nodes_empty(nodes) ||
	       !pm_nodes_bind(nodes, space->base + first * PM_GRANULE, n * PM_GRANULE);
}

static uint32_t ready_dram(
	const struct pm_space *space, uint32_t first, uint32_t n, uint32_t *ret_gone)
{
	uint64_t before = (uintptr_t)space->base - pm_heap.base + first * PM_GRANULE;
	uint32_t got;

	*ret_gone = 0;
	if (!pm_heap.has_budget || !nodes_have(n * PM_GRANULE))
		return 0;
	got = pm_roll_claim((uint32_t)(before / PM_CHUNK), n / PM_CHUNK_GRANULES, ret_gone);
	got *= PM_CHUNK_GRANULES;
	*ret_gone *= PM_CHUNK_GRANULES;
	if (commit(space, first, got, *ret_gone) && bind_again(space, first, got))
		return got;
	*ret_gone = 0;
	return 0;
}

static uint32_t ready_pmem(
	const struct pm_space *space, uint32_t first, uint32_t n, uint32_t *ret_gone)
{
	uint32_t most = GROW_BYTES / PM_GRANULE +
			first / GROW_SHARE / PM_CHUNK_GRANULES * PM_CHUNK_GRANULES;

	*ret_gone = 0;
	if (most < n)
		most = n;
	if (most > space->size - first)
		most = space->size - first;
	if (commit(space, first, most, 0))
		return most;
	return commit(space, first, n, 0) ? n : 0;
}

static void make_space(enum pm_space_id id, char *base, uint64_t bytes, pm_space_ready_fn *ready)
{
	struct pm_block *blocks = (struct pm_block *)pm_heap.blocks;

	pm_space_init(&pm_heap.spaces[id], base, bytes,
		&blocks[((uintptr_t)base - pm_heap.base) / PM_GRANULE], ready);
}

static void lay_out(char *start, uint64_t pmem)
{
	const struct pm_settings *settings = &pm_heap.settings;
	char *base = start;

	pm_heap.base = (uintptr_t)start;
	pm_heap.blocks = (struct pm_block *)(start + settings->budget_bytes + PM_CHUNK);
	for (int i = 0; i < PM_DRAM_SPACES; i++) {
		make_space((enum pm_space_id)i, base, settings->bytes[i], ready_dram);
		base += settings->bytes[i];
	}
	make_space(
		PM_PMEM, start + heap_bytes(settings->budget_bytes, pmem) - pmem, pmem, ready_pmem);
}

bool pm_heap_start(const struct pm_settings *settings)
{
	uint64_t dram = settings->budget_bytes, pmem, bytes;
	char *start = NULL;

	pmem = reserve_heap(dram, &start);
	if (!pmem) {
		pm_say("cannot reserve addresses (ulimit -v?): nothing is placed");
		return false;
	}
	bytes = heap_bytes(dram, pmem);
	if (!bind("PM_NODE_DRAM", &settings->dram, start, dram) ||
		!bind("PM_NODE_PMEM", &settings->pmem, start + dram, bytes - dram)) {
		munmap(start, bytes);
		return false;
	}
	(void)madvise(start, bytes, MADV_HUGEPAGE);
	pm_heap.settings = *settings;
	lay_out(start, pmem);
	pm_heap.roll = pm_roll_open();
	pm_heap.has_budget = pm_heap.roll != PM_ROLL_LOST;
	pm_heap.size = bytes;
	return true;
}

void pm_heap_open(void)
{
	pm_heap.small_limit = PM_LARGE;
}

/* --- taking --- */

static void count_spill(size_t bytes)
{
	atomic_fetch_add_explicit(&counts.spilled_objects, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&counts.spilled_bytes, bytes, memory_order_relaxed);
}

/* The first space with room, of a list that ends with PMem. */
static struct pm_taken take(
	const enum pm_space_id *where, size_t bytes, size_t align, enum pm_block_kind kind)
{
	struct pm_taken t = {0};

	for (; !t.start; where++) {
		t = pm_space_take(&pm_heap.spaces[*where], bytes, align, kind);
		if (*where != PM_PMEM)
			continue;
		if (t.start)
			count_spill(t.bytes);
		break;
	}
	if (t.fresh_bytes && *where != PM_PMEM)
		(void)madvise(
			t.start + t.bytes - t.fresh_bytes, t.fresh_bytes, MADV_POPULATE_WRITE);
	return t;
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
static void populate(const struct pm_taken *t)
{
	if (t->fresh_bytes && !is_pmem(t->start))
		(void)madvise(
			t->start + t->bytes - t->fresh_bytes, t->fresh_bytes, MADV_POPULATE_WRITE);
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

void *pm_heap_take(size_t bytes, size_t align, bool zero)
{
	size_t size = bytes ? bytes : 1;
	struct pm_taken t = {0};
	int saved = errno;

	if (size <= PM_SPACE_MAX)
		t = take(pm_recur_taken(size) ? for_recurring : for_objects, size, align,
			PM_BLOCK_OBJECT);
	populate(&t);
	errno = t.start ? saved : ENOMEM;
	if (t.start && zero && t.dirty_bytes)
		clear(t.start, least(t.dirty_bytes, bytes));
	return t.start;
}

/* Whole chunks: no huge page of a neighbour's reaches into them. */
struct pm_taken pm_heap_set_aside(size_t bytes)
{
	return pm_space_take(
		&pm_heap.spaces[PM_FREE], whole_chunks(bytes), PM_CHUNK, PM_BLOCK_OBJECT);
}

void *pm_heap_take_slab(size_t bytes)
{
	struct pm_taken t = take(for_slabs, bytes, PM_CHUNK, PM_BLOCK_SLAB);

	if (t.dirty_bytes)
		memset(t.start, 0, t.dirty_bytes);
	return t.start;
}

/* --- giving back --- */

static struct pm_space *space_of(const void *p)
{
	struct pm_space *space = pm_heap.spaces;

	while (!pm_space_holds(space, p))
		space++;
	return space;
}

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
	pm_space_give(space_of(object), object, is_pmem(object) && drop_surplus(object, bytes));
	errno = saved;
}

bool pm_heap_resize(void *object, size_t bytes)
{
	return pm_space_resize(space_of(object), object, bytes);
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
	ret->refused_bytes = atomic_load(&counts.refused_bytes);
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
	pm_heap.has_budget &= pm_heap.roll == PM_ROLL_OURS;
	if (settings->budget_bytes && !pm_nodes_empty(&settings->pmem))
		(void)pm_nodes_bind(&settings->pmem, (void *)pm_heap.base, settings->budget_bytes);
}
