/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_COPY_H
#define PM_COPY_H

/*
 * Copies between memory tiers. The ranges must not overlap. When a copy returns, its bytes are
 * visible to all threads.
 */
#include <stdbool.h>
#include <stddef.h>

enum pm_copy_kind {
	PM_COPY_CACHED,	   /* the destination is in the caches: for a batch that is used at once */
	PM_COPY_STREAMED,  /* past the caches, which a large batch would only empty */
	PM_COPY_PERSISTED, /* the same; and the bytes survive a loss of power: for mappings of files
			    * on persistent memory with MAP_SYNC */
};

/*
 * CACHED below the size of a core's L2 cache, else STREAMED. A copy alone is faster when it is
 * streamed, at any size; what then reads a small batch finds it in the cache.
 */
enum pm_copy_kind pm_copy_kind_for(size_t bytes);

/* Any alignment; 64 bytes of both make it fast. */
void pm_copy(void *to, const void *from, size_t bytes, enum pm_copy_kind kind);

/* The kernel in use: "avx512", "avx2", "sse2", or "memcpy" on other processors. */
const char *pm_copy_kernel_name(void);

/* For tests and measurements: the kernel of that name from now on. False: not on this processor. */
bool pm_copy_use(const char *kernel);

#endif
