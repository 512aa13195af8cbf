/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_METER_CACHE_H
#define PM_METER_CACHE_H

/*
 * A set-associative cache that writes back, allocates on stores and evicts the line that was used
 * least recently. It knows lines of 64 bytes by number (address / 64), each with an owner: a number
 * that the user of the cache gives, of the last access that stored into the line, or that filled
 * it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_LINE_SHIFT 6
#define PM_LINE_BYTES ((uint64_t)1 << PM_LINE_SHIFT)

struct pm_cache_line {
	uint64_t tag; /* the line's number + 1; 0: empty */
	uint32_t owner;
	bool is_dirty;
};

struct pm_cache {
	uint64_t sets; /* a power of two */
	unsigned ways;
	struct pm_cache_line *lines; /* of each set, the last used first */
};

/* False: bytes are not ways times a power of two lines, or there is no memory. */
bool pm_cache_init(struct pm_cache *cache, size_t bytes, unsigned ways);

/*
 * An access to a line. True: it is in the cache. False: it is now, and evicted is the line that
 * made room (tag 0: none).
 */
bool pm_cache_access(struct pm_cache *cache, uint64_t line, uint32_t owner, bool is_store,
	struct pm_cache_line *evicted);

/* Takes the line out. Its tag is 0 if it was not in the cache. */
struct pm_cache_line pm_cache_take(struct pm_cache *cache, uint64_t line);

/* Makes a dirty line clean. True: it was dirty, and is written back now. */
bool pm_cache_clean(struct pm_cache *cache, uint64_t line, uint32_t *owner);

#endif
