/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_COPY_KERNELS_H
#define PM_COPY_KERNELS_H

/* Loops with stores past the caches. */
#include <stdbool.h>
#include <stddef.h>

#define PM_COPY_LINE 64 /* bytes of a cache line */

struct pm_copy_kernel {
	const char *name;
	/* `to` is a multiple of PM_COPY_LINE; whole lines alone are copied, their bytes returned.
	 */
	size_t (*stream)(void *to, const void *from, size_t bytes);
	bool (*is_here)(void); /* this processor has it */
};

/* The fastest first; ends with a row without a name. The last one is on each processor. */
extern const struct pm_copy_kernel pm_copy_kernels[];

/* Before other threads may see streamed bytes. */
void pm_copy_fence(void);

/* Writes the lines of a range back to memory, and waits for it. */
void pm_copy_write_back(const void *at, size_t bytes);

#endif
