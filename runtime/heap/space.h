/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SPACE_H
#define PM_RUNTIME_SPACE_H

/*
 * A space: an address range of one tier, from which extents are allocated. An extent is a whole
 * number of granules of 64 KiB.
 *
 * The metadata is out of line: an array with one entry a granule lies beside the space. It takes no
 * byte of the space, no page of the space is touched to read it, and a program that writes behind
 * its objects cannot corrupt it.
 *
 * Invariants, under the lock:
 * - Extents tile [0, top) without gaps. Beyond the top nothing has been allocated yet.
 * - No two free extents are neighbours: freeing coalesces them.
 * - top <= committed <= size, in granules.
 *
 * A space may keep room for small objects, which come later than large ones and are accessed more
 * often a byte: until slabs have used it, other extents leave so much free. It is given up once
 * objects of PM_KEPT_PATIENCE times its size were denied it and no slab was taken
 * meanwhile: the program then has no small objects, or enough slabs for them.
 *
 * Free extents are in segregated free lists, four size classes a power of two, found by a bitmap
 * (two-level segregated fit, TLSF: Masmano et al., ECRTS 2004). If no list has a fit, the extent is
 * allocated at the top. Both take constant time; the search of the size's own class is bounded.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_GRANULE	  (UINT64_C(64) << 10)
#define PM_CHUNK	  (UINT64_C(2) << 20) /* a huge page of x86-64: the unit of committing */
#define PM_CHUNK_GRANULES ((uint32_t)(PM_CHUNK / PM_GRANULE))
#define PM_SPACE_CLASSES  128
#define PM_KEPT_PATIENCE  2 /* 1: one array of 4 MiB ends it; more: 24 MiB end before it does */
#define PM_SPACE_MAX	  (UINT64_C(1) << 43) /* bytes: 2^27 granules, within 28 bits */

enum pm_extent_kind {
	PM_EXTENT_FREE,
	PM_EXTENT_SLAB,	  /* memory of the small-object allocator, jemalloc */
	PM_EXTENT_INDEX,  /* of the same: addresses, few of them touched; counts as no use */
	PM_EXTENT_HOLE,	  /* never usable: another process of the rank holds these chunks */
	PM_EXTENT_OBJECT, /* one object of the program; so are all kinds from here on */
	PM_EXTENT_PLACED, /* one that the program wants in PMem: it is not promoted */
	PM_EXTENT_SAMPLE, /* a small one, of the profile: it may have what is kept for slabs */
};

/* Entry of a granule. The first four fields are valid at an extent's first granule. */
struct pm_extent {
	uint32_t granules : 28; /* length; 0: no extent starts here */
	uint32_t kind : 3;
	uint32_t zeroed : 1; /* free, and all its bytes are zero */
	uint32_t next, prev; /* links of the free list; UINT32_MAX: end */
	uint32_t start;	     /* valid at the last granule: the extent's first granule */
};

struct pm_space;

/*
 * Makes granules [first, first + n) usable. Called with the lock held, before they are allocated
 * for the first time. Both `first` and `n` are whole chunks, but for the end of the space. Returns
 * how many may be used from `first` on, which may be more than n. *ret_hole: how many directly
 * behind these are a hole, a whole number of chunks. Both 0: none now, a later call may succeed.
 */
typedef uint32_t pm_space_commit_fn(
	const struct pm_space *space, uint32_t first, uint32_t n, uint32_t *ret_hole);

/* Sizes and positions are in granules. */
struct pm_space {
	pthread_mutex_t lock __attribute__((aligned(64))); /* a cache line */
	char *base;					   /* a multiple of PM_CHUNK */
	uint32_t size;	    /* read without the lock; only pm_space_split() changes it */
	uint32_t top;	    /* end of the tiled part */
	uint32_t committed; /* all below is usable, but for holes */
	uint32_t holes;
	uint32_t used, peak; /* in objects and slabs: now, and the largest value so far */
	uint32_t dirty;	     /* free, not known to be zero: has pages, perhaps */
	uint32_t kept;	     /* of the free ones, for small objects alone */
	uint32_t denied;     /* of large objects, for the sake of these, since the last slab */
	uint32_t denied_max; /* from here on nothing is kept any more */
	uint64_t nonempty[PM_SPACE_CLASSES / 64]; /* bitmap of the free lists */
	uint32_t free_lists[PM_SPACE_CLASSES];	  /* first extent; valid where `nonempty` is set */
	struct pm_extent *extents;
	pm_space_commit_fn *commit;
};

struct pm_allocation {
	char *start; /* NULL: no room */
	size_t bytes;
	size_t dirty_bytes; /* the first ones may be non-zero, all others are zero */
	size_t fresh_bytes; /* the last ones have never been allocated before: no pages yet */
};

/*
 * `extents` has one entry a granule, all zero, and is not owned. Without `commit` all granules are
 * usable.
 */
void pm_space_init(struct pm_space *space, void *base, uint64_t bytes, struct pm_extent *extents,
	pm_space_commit_fn *commit);

/* Keeps so many bytes for small objects. 0: gives up those that are kept. */
void pm_space_keep(struct pm_space *space, uint64_t bytes);

/* Allocates at least `bytes`; `align` is a power of two. */
struct pm_allocation pm_space_alloc(
	struct pm_space *space, size_t bytes, size_t align, enum pm_extent_kind kind);

/* Frees the extent at `start`. `zeroed`: its pages have been dropped, so that it reads as zero. */
void pm_space_free(struct pm_space *space, const void *start, bool zeroed);

/* Bytes in use, and bytes that are free and dirty. */
void pm_space_usage(struct pm_space *space, uint64_t *ret_used, uint64_t *ret_dirty);

/*
 * The part that has ever been allocated, from *ret_begin to before *ret_end. Both are read under
 * the lock: pm_space_split() may give an empty space its range meanwhile.
 */
void pm_space_tiled(struct pm_space *space, uintptr_t *ret_begin, uintptr_t *ret_end);

/*
 * Resizes the extent at `start` in place. False: no room behind it, nothing is changed.
 * *ret_fresh_bytes: as in struct pm_allocation.
 */
bool pm_space_resize(
	struct pm_space *space, const void *start, size_t bytes, size_t *ret_fresh_bytes);

/*
 * Splits off the end of a space as `to`, which is initialised and empty: the chunks behind the
 * first `keep_bytes` that were never committed. Other threads may allocate and free meanwhile.
 * Locks `from`, then `to`. Returns the bytes of `to`; 0: no such end, nothing is changed.
 */
uint64_t pm_space_split(struct pm_space *from, struct pm_space *to, uint64_t keep_bytes);

static inline uint64_t pm_space_bytes(const struct pm_space *space)
{
	return __atomic_load_n(&space->size, __ATOMIC_ACQUIRE) * PM_GRANULE;
}

/* An empty space may have no base yet: the size is read first. */
static inline bool pm_space_contains(const struct pm_space *space, const void *p)
{
	uint64_t bytes = pm_space_bytes(space);

	return bytes && (uintptr_t)p - (uintptr_t)space->base < bytes;
}

/* Entry of the granule of `p`. The owner of an extent may read its entry without the lock. */
static inline const struct pm_extent *pm_space_extent(const struct pm_space *space, const void *p)
{
	return &space->extents[((uintptr_t)p - (uintptr_t)space->base) / PM_GRANULE];
}

#endif
