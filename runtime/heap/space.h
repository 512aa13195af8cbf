/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SPACE_H
#define PM_RUNTIME_SPACE_H

/*
 * A space: a range of addresses of one tier, handed out in blocks of whole granules of 64 KiB.
 *
 * What is known of a block stands in an array beside the space, an entry a granule: no byte of the
 * space is spent on it, no page is touched to look at it, and a program that writes behind its
 * objects cannot spoil it. Blocks tile the space from its begin to its top; beyond the top nothing
 * has been handed out yet. No two free blocks are neighbours. A block is looked for in lists by
 * size, four to each power of two (two-level segregated fit: Masmano et al., ECRTS 2004), then at
 * the top: constant time, but for a bounded look through the list of the size itself.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_GRANULE	  (UINT64_C(64) << 10)
#define PM_CHUNK	  (UINT64_C(2) << 20) /* a huge page: what is made ready at a time */
#define PM_CHUNK_GRANULES ((uint32_t)(PM_CHUNK / PM_GRANULE))
#define PM_SPACE_CLASSES  128
#define PM_SPACE_MAX	  (UINT64_C(1) << 43) /* bytes: what 27 bits of granules are */

enum pm_block_kind {
	PM_BLOCK_FREE,
	PM_BLOCK_OBJECT, /* one object of the program's */
	PM_BLOCK_SLAB,	 /* lent to the allocator of small objects */
	PM_BLOCK_HOLE,	 /* never to be had */
};

struct pm_block {
	uint32_t granules : 28; /* 0: no block starts here */
	uint32_t kind : 3;
	uint32_t clean : 1;	 /* free, and known to be zero */
	uint32_t next, previous; /* of the same list, if free */
	uint32_t start;		 /* of the block whose last granule this is */
};

struct pm_space;

/*
 * Asked under the lock before granules [first, first + n) are handed out for the first time; both
 * are whole chunks but for the end of the space. Returns how many may be used, from the first on,
 * which may be more than n; *ret_gone: how many behind these never may, whole chunks. 0 of both:
 * not now.
 */
typedef uint32_t pm_space_ready_fn(
	const struct pm_space *space, uint32_t first, uint32_t n, uint32_t *ret_gone);

/* Sizes in granules. */
struct pm_space {
	pthread_mutex_t lock __attribute__((aligned(64))); /* a cache line */
	char *base;					   /* a multiple of PM_CHUNK */
	uint32_t size;	     /* changed by pm_space_split() alone, and read without the lock */
	uint32_t top;	     /* what is below has been handed out before */
	uint32_t ready;	     /* what is below may be */
	uint32_t gone;	     /* but for these, in holes */
	uint32_t used, peak; /* now, and the most there was; holes are none */
	uint32_t kept;	     /* free, and perhaps not zero: it has pages */
	uint64_t filled[PM_SPACE_CLASSES / 64]; /* which lists have a block */
	uint32_t lists[PM_SPACE_CLASSES];
	struct pm_block *blocks;
	pm_space_ready_fn *make_ready;
};

struct pm_taken {
	char *start; /* NULL: there is no room */
	size_t bytes;
	size_t dirty_bytes; /* the first so many may hold something, the others are zero */
	size_t fresh_bytes; /* the last so many are handed out for the first time */
};

/* `blocks` has an entry for each granule, all zero. Without `make_ready` all may be used. */
void pm_space_init(struct pm_space *space, void *base, uint64_t bytes, struct pm_block *blocks,
	pm_space_ready_fn *make_ready);

/* `align` is a power of two. */
struct pm_taken pm_space_take(
	struct pm_space *space, size_t bytes, size_t align, enum pm_block_kind kind);

/* Gives back the block at `start`; `clean`: its pages have been dropped, so it is zero. */
void pm_space_give(struct pm_space *space, const void *start, bool clean);

/* Bytes in use, and bytes that are free and have pages. */
void pm_space_usage(struct pm_space *space, uint64_t *ret_used, uint64_t *ret_kept);

/*
 * Makes the block at `start` larger or smaller where it is; false: there is no room behind it.
 * *ret_fresh_bytes: the last so many are handed out for the first time.
 */
bool pm_space_resize(
	struct pm_space *space, const void *start, size_t bytes, size_t *ret_fresh_bytes);

/*
 * Makes the end of a space another one, `to`, which has been nothing but initialised: whole chunks
 * behind the first `keep_bytes` that have never been made ready. Objects may be taken and given
 * back meanwhile. Returns the bytes of `to`; 0: there is no such end, nothing is changed.
 */
uint64_t pm_space_split(struct pm_space *from, struct pm_space *to, uint64_t keep_bytes);

static inline uint64_t pm_space_bytes(const struct pm_space *space)
{
	return __atomic_load_n(&space->size, __ATOMIC_ACQUIRE) * PM_GRANULE;
}

/* Without granules it has no base, perhaps. */
static inline bool pm_space_holds(const struct pm_space *space, const void *p)
{
	uint64_t bytes = pm_space_bytes(space);

	return bytes && (uintptr_t)p - (uintptr_t)space->base < bytes;
}

/* The entry of the granule that p is in. Of a block in use no lock is needed to read it. */
static inline const struct pm_block *pm_space_block(const struct pm_space *space, const void *p)
{
	return &space->blocks[((uintptr_t)p - (uintptr_t)space->base) / PM_GRANULE];
}

#endif
