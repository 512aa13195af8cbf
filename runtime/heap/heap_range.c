/* SPDX-License-Identifier: Apache-2.0 */
/* The heap's addresses: reserved at the start, bound to nodes, made ready as they are needed. */
#define _GNU_SOURCE
#include "runtime/heap/heap.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/common/log.h"

#define PMEM_BYTES_MAX (UINT64_C(4) << 40) /* addresses, not memory */
#define PMEM_BYTES_MIN (UINT64_C(64) << 20)
#define GROW_BYTES     (UINT64_C(64) << 20) /* of PMem at a time, and an eighth of what it has */
#define GROW_SHARE     8

struct pm_heap pm_heap;

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

static bool bind(const char *name, const struct pm_nodemask *nodes, void *start, uint64_t bytes)
{
	int rc = bytes && !pm_nodemask_empty(nodes) ? pm_nodemask_bind(nodes, start, bytes) : 0;

	if (rc)
		pm_log("cannot bind memory to %s: %s; nothing is placed", name,
			strerrordesc_np(-rc));
	return !rc;
}

/* Is so much DRAM free on the nodes, whatever the budget says? */
static bool nodes_have(uint64_t bytes)
{
	if (pm_nodemask_empty(&pm_heap.settings.dram) ||
		pm_nodemask_available_bytes(&pm_heap.settings.dram) >= bytes)
		return true;
	atomic_fetch_add(&pm_heap.refused_bytes, bytes);
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
	const struct pm_nodemask *nodes = &pm_heap.settings.dram;

	return !pm_heap.is_child || !n || pm_nodemask_empty(nodes) ||
	       !pm_nodemask_bind(nodes, space->base + first * PM_GRANULE, n * PM_GRANULE);
}

static uint32_t ready_dram(
	const struct pm_space *space, uint32_t first, uint32_t n, uint32_t *ret_gone)
{
	uint64_t before = (uintptr_t)space->base - pm_heap.base + first * PM_GRANULE;
	uint32_t got;

	*ret_gone = 0;
	if (!pm_heap.has_budget || !nodes_have(n * PM_GRANULE))
		return 0;
	got = pm_registry_claim_chunks(
		(uint32_t)(before / PM_CHUNK), n / PM_CHUNK_GRANULES, ret_gone);
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
	make_space(PM_LENT, start, 0, ready_dram);
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
	lay_out(start, pmem);
	pm_heap.registry = pm_registry_open();
	pm_heap.has_budget = pm_heap.registry != PM_REGISTRY_LOST;
	pm_heap.size = bytes;
	return true;
}
