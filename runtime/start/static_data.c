/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/start/static_data.h"

#include <link.h>
#include <stddef.h>
#include <unistd.h>

#include "runtime/heap/heap.h"

#define RANGES_MAX 32 /* in DRAM; a forked child does not bind further ones to PMem */

struct range {
	void *start;
	size_t bytes;
};

static struct {
	struct pm_static_data counts;
	struct range in_dram[RANGES_MAX];
	unsigned n;
} placed;

static bool bind(const struct pm_nodemask *nodes, const struct range *range)
{
	return !pm_nodemask_empty(nodes) && !pm_nodemask_migrate(nodes, range->start, range->bytes);
}

/* The reservation is the range's part of the budget. Its own addresses never get pages. */
static bool place_in_dram(const struct range *range)
{
	struct pm_allocation room = pm_heap_reserve_dram(range->bytes);

	if (!room.start)
		return false;
	if (!bind(&pm_heap.settings.dram, range)) {
		pm_heap_free(room.start);
		return false;
	}
	placed.counts.dram_bytes += range->bytes;
	if (placed.n < RANGES_MAX)
		placed.in_dram[placed.n++] = *range;
	return true;
}

static void place_range(const struct range *range, bool in_pmem)
{
	if (!in_pmem && place_in_dram(range))
		return;
	if (bind(&pm_heap.settings.pmem, range))
		placed.counts.pmem_bytes += range->bytes;
}

/* The .bss of a segment: whole pages between p_filesz and p_memsz, elf(5). */
static struct range bss_of(const struct dl_phdr_info *object, const ElfW(Phdr) * segment)
{
	uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t start = object->dlpi_addr + segment->p_vaddr + segment->p_filesz;
	uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;

	start = (start + page - 1) / page * page;
	end = (end + page - 1) / page * page;
	return (struct range){(void *)start, end > start ? end - start : 0};
}

/* This library's own .bss has jemalloc's tables, which are hot and mostly untouched. */
static bool is_own_bss(const struct range *range)
{
	return (uintptr_t)&placed - (uintptr_t)range->start < range->bytes;
}

static int place_object(struct dl_phdr_info *object, size_t size, void *in_pmem)
{
	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		struct range range = bss_of(object, &object->dlpi_phdr[i]);

		if (object->dlpi_phdr[i].p_type == PT_LOAD && range.bytes >= PM_STATIC_DATA_MIN &&
			!is_own_bss(&range))
			place_range(&range, *(const bool *)in_pmem);
	}
	return 0;
}

void pm_static_data_place(bool in_pmem)
{
	(void)dl_iterate_phdr(place_object, &in_pmem);
}

void pm_static_data_after_fork_in_child(void)
{
	for (unsigned i = 0; i < placed.n; i++)
		(void)pm_nodemask_bind(
			&pm_heap.settings.pmem, placed.in_dram[i].start, placed.in_dram[i].bytes);
}

void pm_static_data_counts(struct pm_static_data *ret)
{
	*ret = placed.counts;
}
