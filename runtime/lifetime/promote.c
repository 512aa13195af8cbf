/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/lifetime/promote.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/moved_pages.h"

#define PLACED	1 /* less than any size: the program wants an object of this chunk in PMem */
#define CLASSES 33

/* One byte for each chunk of PMem: the size class of its smallest object, from 2 on; 0: none. */
struct chunk_map {
	unsigned char *classes;
	uint32_t chunks;
};

static uint64_t promoted_bytes;

static struct pm_space *pmem(void)
{
	return &pm_heap.spaces[PM_PMEM];
}

/* Classes are powers of two: 2 for one granule, 3 for two and three, ... */
static unsigned char class_of(const struct pm_extent *extent)
{
	return extent->kind == PM_EXTENT_PLACED
		       ? PLACED
		       : (unsigned char)(PLACED + 32 - __builtin_clz(extent->granules));
}

static void map_extent(struct chunk_map *map, uint32_t at, const struct pm_extent *extent)
{
	unsigned char class = class_of(extent);
	uint32_t granules = extent->granules;
	uint32_t last = (at + granules - 1) / PM_CHUNK_GRANULES;

	for (uint32_t chunk = at / PM_CHUNK_GRANULES; chunk <= last; chunk++) {
		if (!map->classes[chunk] || class < map->classes[chunk])
			map->classes[chunk] = class;
	}
}

/* Maps the present objects. Extents do not change while their space is locked. */
static void fill_map(struct chunk_map *map)
{
	struct pm_space *space = pmem();

	pthread_mutex_lock(&space->lock);
	for (uint32_t at = 0; at < space->top; at += space->extents[at].granules)
		if (space->extents[at].kind >= PM_EXTENT_OBJECT)
			map_extent(map, at, &space->extents[at]);
	map->chunks = (space->top + PM_CHUNK_GRANULES - 1) / PM_CHUNK_GRANULES;
	pthread_mutex_unlock(&space->lock);
}

/* Reserves n chunks of DRAM addresses, or half as many, and so on. Returns how many; 0: none. */
static uint32_t reserve_dram(uint32_t n)
{
	while (n && !pm_heap_reserve_dram(n * PM_CHUNK).start)
		n /= 2;
	return n;
}

/*
 * Promotes n chunks. False: DRAM is used up. A reservation is kept even if the migration fails,
 * since some pages may have been moved. They are noted before: another thread may fork meanwhile.
 */
static bool promote_run(uint32_t first, uint32_t n)
{
	while (n) {
		char *start = pmem()->base + first * PM_CHUNK;
		uint32_t reserved = reserve_dram(n);

		if (!reserved || !pm_moved_pages_keep(start, reserved * PM_CHUNK))
			return false;
		if (!pm_nodemask_migrate(&pm_heap.settings.dram, start, reserved * PM_CHUNK))
			promoted_bytes += reserved * PM_CHUNK;
		first += reserved;
		n -= reserved;
	}
	return true;
}

static bool promote_class(const struct chunk_map *map, unsigned char class)
{
	for (uint32_t at = 0, n; at < map->chunks; at += n ? n : 1) {
		for (n = 0; at + n < map->chunks && map->classes[at + n] == class;)
			n++;
		if (!promote_run(at, n))
			return false;
	}
	return true;
}

uint64_t pm_promote(void)
{
	size_t room = pm_space_bytes(pmem()) / PM_CHUNK;
	struct chunk_map map = {.classes = mmap(NULL, room, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)};

	if (pm_nodemask_empty(&pm_heap.settings.dram) || map.classes == MAP_FAILED)
		return 0;
	fill_map(&map);
	for (unsigned char class = PLACED + 1; class <= CLASSES && promote_class(&map, class);)
		class ++;
	munmap(map.classes, room);
	return promoted_bytes;
}
