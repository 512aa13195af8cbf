/* SPDX-License-Identifier: Apache-2.0 */
#include "copy/copy.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "copy/kernels.h"

#define L2_DEFAULT ((size_t)1 << 20) /* where the C library does not know */

static _Atomic(const struct pm_copy_kernel *) chosen;

static const struct pm_copy_kernel *kernel(void)
{
	const struct pm_copy_kernel *found = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (found)
		return found;
	for (found = pm_copy_kernels; !found->is_here(); found++)
		;
	atomic_store_explicit(&chosen, found, memory_order_relaxed);
	return found;
}

const char *pm_copy_kernel_name(void)
{
	return kernel()->name;
}

bool pm_copy_use(const char *name)
{
	for (const struct pm_copy_kernel *row = pm_copy_kernels; row->name; row++) {
		if (strcmp(row->name, name) != 0 || !row->is_here())
			continue;
		atomic_store_explicit(&chosen, row, memory_order_relaxed);
		return true;
	}
	return false;
}

enum pm_copy_kind pm_copy_kind_for(size_t bytes)
{
	long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);

	return bytes < (l2 > 0 ? (size_t)l2 : L2_DEFAULT) ? PM_COPY_CACHED : PM_COPY_STREAMED;
}

/* Ends of a range that are no whole lines go through the cache. */
static void copy_end(char *to, const char *from, size_t bytes, enum pm_copy_kind kind)
{
	memcpy(to, from, bytes);
	if (kind == PM_COPY_PERSISTED && bytes)
		pm_copy_write_back(to, bytes);
}

static void copy_past_caches(char *to, const char *from, size_t bytes, enum pm_copy_kind kind)
{
	size_t head = -(uintptr_t)to % PM_COPY_LINE, done;

	if (head > bytes)
		head = bytes;
	copy_end(to, from, head, kind);
	done = head + kernel()->stream(to + head, from + head, bytes - head);
	copy_end(to + done, from + done, bytes - done, kind);
	pm_copy_fence();
}

void pm_copy(void *to, const void *from, size_t bytes, enum pm_copy_kind kind)
{
	if (kind == PM_COPY_CACHED)
		memcpy(to, from, bytes);
	else
		copy_past_caches(to, from, bytes, kind);
}
