/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/jemalloc.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/jemalloc_calls.h"

/*
 * One arena a processor: each has 2 MiB of bookkeeping, which is DRAM of the budget. No brk: its
 * memory is not ours. Objects up to 64 KiB in the threads' caches: in DRAM nothing is gained by
 * giving them back.
 */
const char *pmje_malloc_conf = "narenas_ratio:1,dss:disabled,tcache_max:65536";

/* Its exp_grow_t: size classes of the next piece an arena asks for, and of the largest. */
struct growth {
	unsigned next, limit;
};

/* Of jemalloc/jemalloc.h 5; its names for the rest are not ours. */
#define MALLOCX_ALIGN(a)    ((int)__builtin_ctzl(a))
#define MALLOCX_ZERO	    0x40
#define MALLOCX_TCACHE_NONE 0x100
#define MALLOCX_ARENA(a)    ((int)((a) + 1) << 20)

static unsigned cold_arena;

/* In this thread, right now, jemalloc is asked for an object in PMem. */
static __thread bool is_cold __attribute__((tls_model("initial-exec")));

void *pmje_mallocx(size_t size, int flags);
void pmje_dallocx(void *object, int flags);
int pmje_mallctl(const char *name, void *old, size_t *old_bytes, void *new, size_t new_bytes);

void __wrap_pmje_exp_grow_init(struct growth *growth);
void __real_pmje_exp_grow_init(struct growth *growth);

/*
 * At an address: where overcommit is off, jemalloc commits what it has mapped already, which is
 * done, and decommits, which is not.
 */
void *pmje_mmap(void *address, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *slab;

	(void)fd;
	(void)offset;
	if (address)
		return flags & MAP_FIXED && prot & PROT_WRITE ? address : MAP_FAILED;
	slab = is_cold ? pm_heap_take_slab_in_pmem(bytes) : pm_heap_take_slab(bytes);
	return slab ? slab : MAP_FAILED;
}

int pmje_munmap(void *start, size_t bytes)
{
	pm_heap_give_slab(start, bytes);
	return 0;
}

int pmje_madvise(void *start, size_t bytes, int advice)
{
	int saved = errno;
	bool dropped = advice == MADV_DONTNEED && pm_heap_drop(start, bytes);

	errno = saved;
	return dropped ? 0 : -1;
}

/*
 * An arena asks for 2 MiB, and not for more each time, which would leave the end of each space
 * unused: arena.<i>.retain_grow_limit of jemalloc(3), which cannot be set before an arena's first.
 */
void __wrap_pmje_exp_grow_init(struct growth *growth)
{
	__real_pmje_exp_grow_init(growth);
	growth->limit = growth->next;
}

bool pm_jemalloc_start(void)
{
	void *first = pmje_malloc(1);

	pmje_free(first);
	return first;
}

/* --- cold objects --- */

bool pm_jemalloc_start_cold(void)
{
	size_t bytes = sizeof(cold_arena);
	int rc;

	is_cold = true;
	rc = pmje_mallctl("arenas.create", &cold_arena, &bytes, NULL, 0);
	is_cold = false;
	return !rc;
}

void *pm_jemalloc_take_cold(size_t size, size_t align, bool zero)
{
	int flags = MALLOCX_ARENA(cold_arena) | MALLOCX_TCACHE_NONE | (zero ? MALLOCX_ZERO : 0);
	void *object;

	is_cold = true;
	object = pmje_mallocx(size ? size : 1, align > 1 ? flags | MALLOCX_ALIGN(align) : flags);
	is_cold = false;
	return object;
}

void pm_jemalloc_give_cold(void *object)
{
	pmje_dallocx(object, MALLOCX_TCACHE_NONE);
}
