/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/jemalloc.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/jemalloc_calls.h"

/*
 * One arena a processor: each arena has bookkeeping, 192 KiB, which is DRAM of the budget. No
 * brk(2): its memory is not in the heap. Thread caches keep objects of up to 64 KiB: DRAM is never
 * returned to the node, so nothing is gained by flushing them.
 */
const char *pmje_malloc_conf = "narenas_ratio:1,dss:disabled,tcache_max:65536";

/* jemalloc's exp_grow_t: size classes of an arena's next request, and of its largest one. */
struct growth {
	unsigned next, limit;
};
#define CLASSES_A_DOUBLING 4

/* Copied from jemalloc/jemalloc.h 5, which is not included: its function names are not ours. */
#define MALLOCX_ALIGN(a)    ((int)__builtin_ctzl(a))
#define MALLOCX_ZERO	    0x40
#define MALLOCX_TCACHE_NONE 0x100
#define MALLOCX_ARENA(a)    ((int)((a) + 1) << 20)

static unsigned cold_arena;

/* True while this thread calls jemalloc for an object in PMem. */
static __thread bool is_cold __attribute__((tls_model("initial-exec")));

void *pmje_mallocx(size_t size, int flags);
void pmje_dallocx(void *object, int flags);
int pmje_mallctl(const char *name, void *old, size_t *old_bytes, void *new, size_t new_bytes);

void __wrap_pmje_exp_grow_init(struct growth *growth);
void __real_pmje_exp_grow_init(struct growth *growth);

/*
 * A call with an address comes where overcommit is off. jemalloc then commits memory that it has
 * already, which is writable: success. Or it decommits memory, which is not supported: failure.
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
 * Keeps each request of an arena at the same size. By default each request is larger than the last,
 * which would leave the end of a space unused. The option for it, arena.<i>.retain_grow_limit of
 * jemalloc(3), cannot be set before an arena's first request. The size is small where the budget
 * is: an arena that needs little then leaves the rest to large objects.
 */
void __wrap_pmje_exp_grow_init(struct growth *growth)
{
	__real_pmje_exp_grow_init(growth); /* PM_GRANULE: runtime/jemalloc */
	for (uint64_t step = pm_heap_slab_step(); step > PM_GRANULE; step /= 2)
		growth->next += CLASSES_A_DOUBLING;
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
