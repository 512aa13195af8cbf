/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/heap/named_ranges.h"

#include <pthread.h>
#include <string.h>
#include <sys/param.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/moved_pages.h"

#define PAGE_BYTES ((uintptr_t)4096)

/* Whole pages; [at, end) is still to be moved, [start, at) is done. */
struct range {
	const char *start, *at, *end;
};

static struct {
	pthread_mutex_t lock;
	struct range list[PM_NAMED_RANGES_MAX];
	unsigned n;
} named = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void drop(unsigned i)
{
	named.n--;
	memmove(&named.list[i], &named.list[i + 1], (named.n - i) * sizeof(named.list[0]));
}

/* Called by free(). */
static bool forget(void *start, size_t bytes)
{
	pm_named_ranges_remove(start, bytes);
	return false;
}

bool pm_named_ranges_add(const void *start, size_t bytes)
{
	const char *at = (const char *)start + -(uintptr_t)start % PAGE_BYTES;
	const char *end = (const char *)start + bytes;
	bool is_added;

	end -= (uintptr_t)end % PAGE_BYTES;
	if (end <= at)
		return true;
	pthread_mutex_lock(&named.lock);
	is_added = named.n < PM_NAMED_RANGES_MAX;
	if (is_added)
		named.list[named.n++] = (struct range){at, at, end};
	atomic_store_explicit(&pm_heap.forget_named, forget, memory_order_release);
	pthread_mutex_unlock(&named.lock);
	return is_added;
}

void pm_named_ranges_remove(const void *start, size_t bytes)
{
	const char *first = start, *end = first + bytes;

	pthread_mutex_lock(&named.lock);
	for (unsigned i = 0; i < named.n;)
		if (named.list[i].start < end && first < named.list[i].end)
			drop(i);
		else
			i++;
	pthread_mutex_unlock(&named.lock);
}

/* --- promotion --- */

/* The first part that is still to be moved: within one chunk, so that free() waits for no more. */
static size_t next_part(const struct range *range, size_t most)
{
	size_t in_chunk = PM_CHUNK - (uintptr_t)range->at % PM_CHUNK;
	size_t left = (size_t)(range->end - range->at);

	return MIN(MIN(in_chunk, left), most);
}

/*
 * Moves a part of the first range. *ret_bytes: of the part, 0 without ranges. *ret_full: DRAM has
 * no room. Returns the bytes that were moved.
 */
static size_t promote_part(size_t most, size_t *ret_bytes, bool *ret_full)
{
	struct range *first = named.list;
	size_t moved = 0;

	pthread_mutex_lock(&named.lock);
	*ret_full = false;
	*ret_bytes = named.n ? next_part(first, most) : 0;
	if (*ret_bytes) {
		moved = pm_moved_pages_try_dram(first->at, *ret_bytes, ret_full);
		first->at += *ret_full ? 0 : *ret_bytes;
	}
	if (named.n && first->at == first->end)
		drop(0);
	pthread_mutex_unlock(&named.lock);
	return moved;
}

/* A page that two parts share would be in neither. */
size_t pm_named_ranges_promote(size_t bytes)
{
	size_t moved = 0, part = 1;
	bool is_full = false;

	for (size_t left = bytes / PAGE_BYTES * PAGE_BYTES; left && part && !is_full; left -= part)
		moved += promote_part(left, &part, &is_full);
	return moved;
}

/* --- fork --- */

void pm_named_ranges_before_fork(void)
{
	pthread_mutex_lock(&named.lock);
}

void pm_named_ranges_after_fork(void)
{
	pthread_mutex_unlock(&named.lock);
}

void pm_named_ranges_after_fork_in_child(void)
{
	named.n = 0;
	pthread_mutex_unlock(&named.lock);
}
