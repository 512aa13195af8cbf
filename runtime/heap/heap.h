/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_HEAP_H
#define PM_RUNTIME_HEAP_H

/*
 * The rank's heap: one reserved address range, the DRAM spaces first, then PMem.
 *
 *	| metadata | temporary | migration | free | guard | extents | pmem ... |
 *	 <-- bound to the DRAM nodes: the budget ->        <- bound to the PMem nodes ->
 *
 * The DRAM range has exactly as many bytes of addresses as the budget, so that no error in the
 * bookkeeping can put more pages than the budget into DRAM. An object that finds no room there is
 * spilled: it goes to PMem and is counted. DRAM is never returned to the node. Before the heap
 * commits more DRAM it checks that the node has it: the kernel's OOM killer ends a process when
 * the nodes that it is bound to are full. A large object in DRAM is prefaulted, by
 * MADV_POPULATE_WRITE (Linux 5.14, madvise(2)).
 *
 * Objects below PM_LARGE bytes are allocated by jemalloc (runtime/heap/jemalloc.h), which takes
 * its memory, bookkeeping included, from here as slabs. A larger object is an extent of its own
 * and starts at a granule's boundary. Hence a pointer that is not a multiple of PM_GRANULE is
 * jemalloc's; this test needs no memory access.
 *
 * Order of spaces (paper 000, §IV-A, as far as it needs no knowledge of the program): slabs go to
 * metadata; large objects to free; large objects that are predicted to be short-lived to temporary.
 * Without room there, they go to free and to lent DRAM, then to migration unless it is kept for
 * streams (runtime/stream/stream.h), then to PMem. The size of temporary follows from the first
 * iteration (runtime/lifetime/sizing.h).
 *
 * Locks: one for each space. A thread holds one at a time, except in pm_space_split(), around
 * fork(2) and when it ends a profile.
 */
#include <stdatomic.h>

#include "runtime/common/rank_registry.h"
#include "runtime/heap/settings.h"
#include "runtime/heap/space.h"

#define PM_LARGE (UINT64_C(256) << 10)

/*
 * Called before a range of the heap is free; both ends are granules'. True: it reads as zero now.
 * runtime/heap/moved_pages.h.
 */
typedef bool pm_forget_fn(void *start, size_t bytes);

/* The fields that every malloc() or free() reads come first, on a cache line without a lock. */
struct pm_heap {
	uintptr_t base;
	uintptr_t size; /* 0: nothing is placed, no pointer is in the heap */
	uintptr_t
		fast_free_size; /* small objects in [base, base + this) are freed by pmje_free() */
	const struct pm_extent *extents; /* an entry for each granule from `base` on */
	size_t small_limit;		 /* smaller objects: pmje_malloc(); 0: nothing is placed */
	enum pm_registry registry;
	bool has_budget; /* false where claims of the rank's other processes are unknown */
	bool is_child;	 /* forked: its DRAM range is bound to PMem, except chunks that it claims */
	bool migration_is_closed;      /* kept for streams: no object of the program goes there */
	atomic_bool lent_to_temporary; /* PM_LENT is for short-lived objects only */
	atomic_uint_least64_t refused_bytes;
	_Atomic(pm_forget_fn *) forget_moved; /* NULL: no page was moved yet */
	_Atomic(pm_forget_fn *) forget_named; /* NULL: no range was named yet */
	struct pm_settings settings;
	struct pm_space spaces[PM_SPACES];
};

extern struct pm_heap pm_heap;

struct pm_heap_stats {
	uint64_t spilled_objects, spilled_bytes; /* so far: DRAM spaces had no room for them */
	uint64_t slab_bytes;	/* so far, in all tiers; jemalloc keeps its slabs */
	uint64_t refused_bytes; /* DRAM within the budget that the node did not have */
};

/*
 * Reserves the range and binds it. False, after a line on standard error: nothing is placed. The
 * calling thread must be the only one.
 */
bool pm_heap_start(const struct pm_settings *settings);

/*
 * Starts placing objects, after all that this needs has started. `watched`: no allocation takes the
 * fast path, so that each is offered to the profile or the advice. `sorted`: advice puts some small
 * objects into PMem, so that frees of small objects there do not take the fast path.
 */
void pm_heap_open(bool watched, bool sorted);

/* Stops placing objects. Objects that are in the heap may still be freed. */
void pm_heap_close(void);

/* Allocates a large object, or one with a large alignment. NULL with errno = ENOMEM. */
void *pm_heap_alloc(size_t bytes, size_t align, bool zero);

/* The same, where the lifetime is predicted by the call site and not by the size. */
void *pm_heap_alloc_predicted(size_t bytes, size_t align, bool zero, bool is_temporary);

/* The same, where advice names the tier: any DRAM space before PMem, or PMem first. */
void *pm_heap_alloc_advised(size_t bytes, size_t align, bool zero, bool in_dram);

/* PMem first, since the program wants the object there: it is not promoted. */
void *pm_heap_alloc_placed(size_t bytes);

/* Allocates a small object as an extent of its own, where slabs go. NULL: no room. */
void *pm_heap_alloc_sample(size_t bytes, size_t align, bool zero);

/*
 * For objects that are extents. pm_heap_free() keeps errno. pm_heap_resize() works in place; false:
 * there is no room behind the object.
 */
void pm_heap_free(void *object);
bool pm_heap_resize(void *object, size_t bytes);
size_t pm_heap_usable_size(const void *object);

/*
 * Memory for batches of streams, from the migration space alone, aligned to a granule. NULL: no
 * room there.
 */
void *pm_heap_alloc_migration(size_t bytes);
void pm_heap_free_migration(void *buffers);

/* Bytes that the DRAM nodes have free. UINT64_MAX: no node is named, or sysfs cannot be read. */
uint64_t pm_heap_available_dram(void);

/* True: an object in one of the DRAM spaces. */
bool pm_heap_is_in_dram(const void *p);

/* Bytes of objects and slabs in a space. */
uint64_t pm_heap_used_bytes(enum pm_space_id id);

/*
 * Reserves whole chunks of DRAM addresses that were never touched and never will be: budget for
 * pages that lie elsewhere, in .bss or in promoted chunks. From PM_LENT or PM_FREE; .start is NULL
 * when these have no room. pm_heap_free() releases them.
 */
struct pm_allocation pm_heap_reserve_dram(size_t bytes);

/*
 * Zeroed memory for jemalloc, aligned to a granule, a chunk to a chunk. NULL: no room. The first
 * takes DRAM, but for an index that is large for the budget.
 */
void *pm_heap_take_slab(size_t bytes);
void *pm_heap_take_slab_in_pmem(size_t bytes);
void pm_heap_give_slab(void *slab, size_t bytes);

/*
 * Keeps a part of the free space for small objects (runtime/heap/space.h), or gives it up. To be
 * called before jemalloc starts, and where advice or an iteration knows better.
 */
void pm_heap_keep_for_small(bool keep);

/* Bytes that an arena takes at a time: a 64th of the budget, PM_GRANULE to PM_CHUNK. */
uint64_t pm_heap_slab_step(void);

/* Purges the pages of a part of a slab. False: they are kept, as all of DRAM is. */
bool pm_heap_drop(void *start, size_t bytes);

void pm_heap_stats(struct pm_heap_stats *ret);

/*
 * Handlers of pthread_atfork(3). The first one takes the locks of all spaces in their order, the
 * others release them. In the child, copy-on-write pages come from PMem, since the parent's DRAM
 * pages use the budget already; chunks that the child claims itself are DRAM.
 */
void pm_heap_before_fork(void);
void pm_heap_after_fork(void);
void pm_heap_after_fork_in_child(void);

/* One subtraction and one compare: below `base` the difference wraps around. */
static inline bool pm_heap_owns(const void *p)
{
	return (uintptr_t)p - pm_heap.base < pm_heap.size;
}

static inline bool pm_heap_is_fast_free(const void *p)
{
	return (uintptr_t)p - pm_heap.base < pm_heap.fast_free_size;
}

/* `p` points into the heap. True: it is an extent; false: it is jemalloc's. */
static inline bool pm_heap_is_large(const void *p)
{
	const struct pm_extent *extent =
		&pm_heap.extents[((uintptr_t)p - pm_heap.base) / PM_GRANULE];

	return !((uintptr_t)p % PM_GRANULE) && extent->granules && extent->kind >= PM_EXTENT_OBJECT;
}

#endif
