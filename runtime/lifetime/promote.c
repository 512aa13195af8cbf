/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/lifetime/promote.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "runtime/heap/heap.h"

#define CLASSES 32

/* A byte a chunk of PMem: the class of the smallest object that lies in it, from 1 on; 0: none. */
struct chart {
	unsigned char *classes;
	uint32_t chunks;
};

static uint64_t promoted_bytes;
static bool is_begun; /* before the first page is moved, for those that fork meanwhile */

static struct pm_space *pmem(void)
{
	return &pm_heap.spaces[PM_PMEM];
}

/* By powers of two. */
static unsigned char class_of(uint32_t granules)
{
	return (unsigned char)(32 - __builtin_clz(granules));
}

static void enter(struct chart *chart, uint32_t at, uint32_t granules)
{
	unsigned char class = class_of(granules);
	uint32_t last = (at + granules - 1) / PM_CHUNK_GRANULES;

	for (uint32_t chunk = at / PM_CHUNK_GRANULES; chunk <= last; chunk++) {
		if (!chart->classes[chunk] || class < chart->classes[chunk])
			chart->classes[chunk] = class;
	}
}

/* What is there now. Blocks do not move while their space is locked. */
static void fill(struct chart *chart)
{
	struct pm_space *space = pmem();

	pthread_mutex_lock(&space->lock);
	for (uint32_t at = 0; at < space->top; at += space->extents[at].granules)
		if (space->extents[at].kind == PM_EXTENT_OBJECT)
			enter(chart, at, space->extents[at].granules);
	chart->chunks = (space->top + PM_CHUNK_GRANULES - 1) / PM_CHUNK_GRANULES;
	pthread_mutex_unlock(&space->lock);
}

/* DRAM's addresses for n chunks, or for fewer; 0: there is no room at all. */
static uint32_t set_aside(uint32_t n)
{
	while (n && !pm_heap_reserve_dram(n * PM_CHUNK).start)
		n /= 2;
	return n;
}

/* What was set aside stays so if it fails: some may have been moved. */
static bool promote_run(uint32_t first, uint32_t n)
{
	while (n) {
		char *start = pmem()->base + first * PM_CHUNK;
		uint32_t part = set_aside(n);

		if (!part)
			return false;
		is_begun = true;
		if (!pm_nodemask_migrate(&pm_heap.settings.dram, start, part * PM_CHUNK))
			promoted_bytes += part * PM_CHUNK;
		first += part;
		n -= part;
	}
	return true;
}

static bool promote_class(const struct chart *chart, unsigned char class)
{
	for (uint32_t at = 0, n; at < chart->chunks; at += n ? n : 1) {
		for (n = 0; at + n < chart->chunks && chart->classes[at + n] == class;)
			n++;
		if (!promote_run(at, n))
			return false;
	}
	return true;
}

uint64_t pm_promote(void)
{
	size_t room = pm_space_bytes(pmem()) / PM_CHUNK;
	struct chart chart = {.classes = mmap(NULL, room, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)};

	if (pm_nodemask_empty(&pm_heap.settings.dram) || chart.classes == MAP_FAILED)
		return 0;
	fill(&chart);
	for (unsigned char class = 1; class < CLASSES && promote_class(&chart, class);)
		class ++;
	munmap(chart.classes, room);
	return promoted_bytes;
}

void pm_promote_after_fork_in_child(void)
{
	const struct pm_nodemask *nodes = &pm_heap.settings.pmem;

	if (is_begun && !pm_nodemask_empty(nodes))
		(void)pm_nodemask_bind(nodes, pmem()->base, pm_space_bytes(pmem()));
}
