/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/start/static.h"

#include <link.h>
#include <stddef.h>
#include <unistd.h>

#include "runtime/heap/heap.h"

#define PIECES_MAX 32 /* in DRAM; further ones are bound as well, but not by a child anew */

struct piece {
	void *start;
	size_t bytes;
};

static struct {
	struct pm_static counts;
	struct piece in_dram[PIECES_MAX];
	unsigned n;
} placed;

static bool bind(const struct pm_nodemask *nodes, const struct piece *piece)
{
	return !pm_nodemask_empty(nodes) && !pm_nodemask_migrate(nodes, piece->start, piece->bytes);
}

/* Its part of the budget: addresses that stay without pages, for it has those. */
static bool place_in_dram(const struct piece *piece)
{
	struct pm_allocation room = pm_heap_reserve_dram(piece->bytes);

	if (!room.start)
		return false;
	if (!bind(&pm_heap.settings.dram, piece)) {
		pm_heap_free(room.start);
		return false;
	}
	placed.counts.dram_bytes += piece->bytes;
	if (placed.n < PIECES_MAX)
		placed.in_dram[placed.n++] = *piece;
	return true;
}

static void place_piece(const struct piece *piece, bool in_pmem)
{
	if (!in_pmem && place_in_dram(piece))
		return;
	if (bind(&pm_heap.settings.pmem, piece))
		placed.counts.pmem_bytes += piece->bytes;
}

/* The whole pages behind what the file has of a segment. */
static struct piece piece_of(const struct dl_phdr_info *object, const ElfW(Phdr) * segment)
{
	uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t start = object->dlpi_addr + segment->p_vaddr + segment->p_filesz;
	uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;

	start = (start + page - 1) / page * page;
	end = (end + page - 1) / page * page;
	return (struct piece){(void *)start, end > start ? end - start : 0};
}

/* jemalloc's tables, which are ours, are hot and mostly empty. */
static bool is_ours(const struct piece *piece)
{
	return (uintptr_t)&placed - (uintptr_t)piece->start < piece->bytes;
}

static int place_object(struct dl_phdr_info *object, size_t size, void *in_pmem)
{
	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		struct piece piece = piece_of(object, &object->dlpi_phdr[i]);

		if (object->dlpi_phdr[i].p_type == PT_LOAD && piece.bytes >= PM_STATIC_LEAST &&
			!is_ours(&piece))
			place_piece(&piece, *(const bool *)in_pmem);
	}
	return 0;
}

void pm_static_place(bool in_pmem)
{
	(void)dl_iterate_phdr(place_object, &in_pmem);
}

void pm_static_after_fork_in_child(void)
{
	for (unsigned i = 0; i < placed.n; i++)
		(void)pm_nodemask_bind(
			&pm_heap.settings.pmem, placed.in_dram[i].start, placed.in_dram[i].bytes);
}

void pm_static_counts(struct pm_static *ret)
{
	*ret = placed.counts;
}
