/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_HEAP_H
#define PM_RUNTIME_HEAP_H

/*
 * The rank's heap: one reserved range of addresses, the DRAM spaces first, then PMem.
 *
 *	| metadata | temporary | migration | free | guard | blocks | pmem ... |
 *	 <-- bound to the DRAM nodes: the budget ->        <- bound to the PMem nodes ->
 *
 * The DRAM part has exactly as many addresses as the budget has bytes, so that no page more than
 * the budget can be in DRAM, whatever the rest of this program does. What finds no room there is
 * spilled: it goes to PMem, and is counted. DRAM is never given back to the node. Before more is
 * taken the runtime looks whether the node has it: the kernel's OOM killer ends a rank whose bound
 * node is full. A large object's pages are there when it is handed out, by MADV_POPULATE_WRITE
 * (Linux 5.14).
 *
 * Objects below PM_LARGE bytes are jemalloc's (runtime/heap/jemalloc.h), which gets its memory, its
 * own bookkeeping included, from here as slabs. Larger ones are blocks of their own. Which of
 * both a pointer is costs no memory access for most: a large object starts at a whole granule.
 *
 * Where things go, by paper 000, §IV-A, with what can be known without knowing the program:
 * slabs to metadata, large objects to free, those of a size that the program keeps giving back to
 * temporary; what finds no room there to free, then migration, then PMem. How large temporary is,
 * the first iteration shows (runtime/lifetime/sizing.h).
 */
#include <stdatomic.h>

#include "runtime/common/rank_registry.h"
#include "runtime/heap/settings.h"
#include "runtime/heap/space.h"

#define PM_LARGE (UINT64_C(256) << 10)

/* What every call looks at comes first, apart from the locks of the spaces. */
struct pm_heap {
	uintptr_t base;
	uintptr_t size;	 /* 0: nothing is placed, no pointer is ours */
	uintptr_t quick; /* small objects below are given back to jemalloc the shortest way */
	const struct pm_block *blocks; /* an entry for each granule from `base` on */
	size_t small_limit; /* smaller ones are jemalloc's and not watched; 0: nothing is placed */
	enum pm_registry registry;
	bool has_budget; /* not of a process that cannot know what the others of its rank have */
	bool is_child;	 /* forked: its DRAM part is bound to PMem but for what it claims itself */
	atomic_bool lent_to_temporary; /* what is lent: not to what stays */
	atomic_uint_least64_t refused_bytes;
	struct pm_settings settings;
	struct pm_space spaces[PM_SPACES];
};

extern struct pm_heap pm_heap;

struct pm_heap_counts {
	uint64_t spilled_objects, spilled_bytes; /* wanted DRAM, and are, or were, in PMem */
	uint64_t refused_bytes; /* of these, because the node had none, not the budget */
};

/* Reserves and binds; false with a line on standard error when that cannot be. */
bool pm_heap_start(const struct pm_settings *settings);

/*
 * From now on objects are placed: after whatever they need has started. `watched`: none is taken
 * the shortest way, on which nothing is asked; `sorted`: some small ones are in PMem on purpose, so
 * that those there are not given back the shortest way.
 */
void pm_heap_open(bool watched, bool sorted);

/* Nothing is placed from now on; what has been taken may be given back. */
void pm_heap_close(void);

/* A large object, or one with a large alignment; NULL with errno = ENOMEM. */
void *pm_heap_take(size_t bytes, size_t align, bool zero);

/* The same for one of which is known whether it will be gone soon, not guessed by its size. */
void *pm_heap_take_known(size_t bytes, size_t align, bool zero, bool is_temporary);

/* And for one that is advised to be in DRAM, in any of its spaces; or in PMem, from the first.
 */
void *pm_heap_take_advised(size_t bytes, size_t align, bool zero, bool in_dram);

/* A small object that is a block of its own, where slabs go; NULL: there is no room. */
void *pm_heap_take_sample(size_t bytes, size_t align, bool zero);
void pm_heap_give(void *object);
bool pm_heap_resize(void *object, size_t bytes);
size_t pm_heap_bytes(const void *object);

/*
 * Whole chunks of DRAM's addresses that never were touched and never will be, for pages that are
 * elsewhere and count; .start is NULL when there are none, of what is lent and in the free space.
 * pm_heap_give() takes them back.
 */
struct pm_taken pm_heap_set_aside(size_t bytes);

/* Memory for jemalloc, zero, from a chunk's boundary; NULL: none. */
void *pm_heap_take_slab(size_t bytes);
void *pm_heap_take_slab_in_pmem(size_t bytes);
void pm_heap_give_slab(void *slab, size_t bytes);

/* Drops the pages of a part of a slab; false: they are to stay. */
bool pm_heap_drop(void *start, size_t bytes);

void pm_heap_counts(struct pm_heap_counts *ret);

/*
 * Around fork(2). What the child copies when it writes to it comes from PMem, for the budget has it
 * once; what it claims for itself is DRAM.
 */
void pm_heap_before_fork(void);
void pm_heap_after_fork(void);
void pm_heap_after_fork_in_child(void);

/* Two compares: is it of this heap; and is it not jemalloc's? */
static inline bool pm_heap_owns(const void *p)
{
	return (uintptr_t)p - pm_heap.base < pm_heap.size;
}

static inline bool pm_heap_is_quick(const void *p)
{
	return (uintptr_t)p - pm_heap.base < pm_heap.quick;
}

static inline bool pm_heap_is_large(const void *p)
{
	const struct pm_block *block = &pm_heap.blocks[((uintptr_t)p - pm_heap.base) / PM_GRANULE];

	return !((uintptr_t)p % PM_GRANULE) && block->granules && block->kind == PM_BLOCK_OBJECT;
}

#endif
