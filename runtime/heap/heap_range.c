/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap's address range: reserved at the start (PROT_NONE), bound to NUMA nodes, and committed
 * (made writable) chunk by chunk as it is needed.
 */
#define _GNU_SOURCE
#include "runtime/heap/heap.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/common/log.h"

/* Sizes of the PMem range: addresses, not memory. */
#define PMEM_BYTES_MAX (UINT64_C(4) << 40)
#define PMEM_BYTES_MIN (UINT64_C(64) << 20)
/* PMem committed at a time: this many bytes, and an eighth of the bytes committed already. */
#define GROW_BYTES (UINT64_C(64) << 20)
#define GROW_SHARE 8

struct pm_heap pm_heap;

static uint64_t whole_chunks(uint64_t bytes)
{
	return (bytes + PM_CHUNK - 1) / PM_CHUNK * PM_CHUNK;
}

/*
 * Size T of the extent table of a range of n bytes and the table itself, with entries of E bytes
 * and granules of G bytes: T = (n + T) / G * E, hence T = n / (G / E - 1).
 */
static uint64_t extent_table_bytes(uint64_t bytes)
{
	return whole_chunks(bytes / (PM_GRANULE / sizeof(struct pm_extent) - 1));
}

/* The whole range: DRAM, guard, extent table, PMem. */
static uint64_t heap_bytes(uint64_t dram, uint64_t pmem)
{
	return dram + PM_CHUNK + extent_table_bytes(dram + PM_CHUNK + pmem) + pmem;
}

/* Half of RLIMIT_AS: the rest is for libraries, stacks and files of the program. */
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

	/* mmap(2) aligns to pages only: reserve a chunk more, then trim both ends to chunks. */
	if (start == MAP_FAILED)
		return NULL;
	skip = -(uintptr_t)start % PM_CHUNK;
	if (skip)
		munmap(start, skip);
	munmap(start + skip + bytes, PM_CHUNK - skip);
	return start + skip;
}

/* Halves the PMem range until the kernel grants it. Returns its bytes; 0: not even the smallest. */
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

static bool bind(const char *name, const struct pm_nodemask *nodes, void *start, uint64_t bytes)
{
	int rc = bytes && !pm_nodemask_empty(nodes) ? pm_nodemask_bind(nodes, start, bytes) : 0;

	if (rc)
		pm_log("cannot bind memory to %s: %s; nothing is placed", name,
			strerrordesc_np(-rc));
	return !rc;
}

uint64_t pm_heap_available_dram(void)
{
	const struct pm_nodemask *nodes = &pm_heap.settings.dram;

	return pm_nodemask_empty(nodes) ? UINT64_MAX : pm_nodemask_available_bytes(nodes);
}

/* True: the DRAM nodes have that many bytes free. The budget alone does not promise it. */
static bool dram_is_available(uint64_t bytes)
{
	if (pm_heap_available_dram() >= bytes)
		return true;
	atomic_fetch_add(&pm_heap.refused_bytes, bytes);
	return false;
}

/*
 * Makes n granules writable, and the table entries of these and of the hole behind them. Where a
 * site forbids overcommit (vm.overcommit_memory=2, ulimit -d), writable memory counts and reserved
 * addresses do not. So nothing is made writable before it is needed. The entries come first, since
 * the space writes to them.
 */
static bool make_writable(const struct pm_space *space, uint32_t first, uint32_t n, uint32_t holes)
{
	uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t begin = (uintptr_t)&space->extents[first] / page * page;
	uintptr_t end = (uintptr_t)&space->extents[first + n + holes];
	const int prot = PROT_READ | PROT_WRITE;

	return !mprotect((void *)begin, end - begin, prot) &&
	       (!n || !mprotect(space->base + first * PM_GRANULE, n * PM_GRANULE, prot));
}

/* In a forked child, the DRAM range is bound to PMem: binds claimed chunks to DRAM again. */
static bool rebind_in_child(const struct pm_space *space, uint32_t first, uint32_t n)
{
	const struct pm_nodemask *nodes = &pm_heap.settings.dram;

	return !pm_heap.is_child || !n || pm_nodemask_empty(nodes) ||
	       !pm_nodemask_bind(nodes, space->base + first * PM_GRANULE, n * PM_GRANULE);
}

static uint32_t commit_dram(
	const struct pm_space *space, uint32_t first, uint32_t n, uint32_t *ret_hole)
{
	uint64_t before = (uintptr_t)space->base - pm_heap.base + first * PM_GRANULE;
	uint32_t got;

	*ret_hole = 0;
	if (!pm_heap.has_budget || !dram_is_available(n * PM_GRANULE))
		return 0;
	got = pm_registry_claim_chunks(
		(uint32_t)(before / PM_CHUNK), n / PM_CHUNK_GRANULES, ret_hole);
	got *= PM_CHUNK_GRANULES;
	*ret_hole *= PM_CHUNK_GRANULES;
	if (make_writable(space, first, got, *ret_hole) && rebind_in_child(space, first, got))
		return got;
	/* The chunks stay claimed: a later call for them claims them again. */
	*ret_hole = 0;
	return 0;
}

static uint32_t commit_pmem(
	const struct pm_space *space, uint32_t first, uint32_t n, uint32_t *ret_hole)
{
	uint32_t n_max = GROW_BYTES / PM_GRANULE +
			 first / GROW_SHARE / PM_CHUNK_GRANULES * PM_CHUNK_GRANULES;

	*ret_hole = 0;
	if (n_max < n)
		n_max = n;
	if (n_max > space->size - first)
		n_max = space->size - first;
	if (make_writable(space, first, n_max, 0))
		return n_max;
	return make_writable(space, first, n, 0) ? n : 0;
}

static void init_space(
	enum pm_space_id id, char *base, uint64_t bytes, pm_space_commit_fn *committed)
{
	struct pm_extent *extents = (struct pm_extent *)pm_heap.extents;

	pm_space_init(&pm_heap.spaces[id], base, bytes,
		&extents[((uintptr_t)base - pm_heap.base) / PM_GRANULE], committed);
}

static void init_spaces(char *start, uint64_t pmem)
{
	const struct pm_settings *settings = &pm_heap.settings;
	char *base = start;

	pm_heap.base = (uintptr_t)start;
	pm_heap.extents = (struct pm_extent *)(start + settings->budget_bytes + PM_CHUNK);
	for (int i = 0; i < PM_DRAM_SPACES; i++) {
		init_space((enum pm_space_id)i, base, settings->bytes[i], commit_dram);
		base += settings->bytes[i];
	}
	init_space(PM_PMEM, start + heap_bytes(settings->budget_bytes, pmem) - pmem, pmem,
		commit_pmem);
	init_space(PM_LENT, start, 0, commit_dram);
}

bool pm_heap_start(const struct pm_settings *settings)
{
	uint64_t dram = settings->budget_bytes, pmem, bytes;
	char *start = NULL;

	pmem = reserve_heap(dram, &start);
	if (!pmem) {
		pm_log("cannot reserve addresses (ulimit -v?): nothing is placed");
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
	init_spaces(start, pmem);
	pm_heap.registry = pm_registry_open();
	pm_heap.has_budget = pm_heap.registry != PM_REGISTRY_LOST;
	pm_heap.size = bytes;
	return true;
}
