/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_STATIC_H
#define PM_RUNTIME_STATIC_H

/*
 * Static data: what a program and its libraries have in .bss, COMMON blocks of Fortran among it,
 * which no allocator ever sees (in CASTEP 17.6 of 18.7 GB: paper 001). The loader has mapped it
 * when we start, and hardly anything has touched it.
 *
 * Where it is large it is bound, by mbind(2): to DRAM if there is room in the free space of the
 * budget, of which it then has a part that nothing else is put into, else to PMem. PM_STATIC=pmem:
 * to PMem in any case. A piece, that is the .bss of one file, is not divided.
 */
#include <stdbool.h>
#include <stdint.h>

#define PM_STATIC_LEAST (UINT64_C(1) << 20) /* smaller ones stay as they are */

struct pm_static {
	uint64_t dram_bytes, pmem_bytes;
};

/* After pm_heap_start(). */
void pm_static_place(bool in_pmem);

/* In a forked child: pages that it writes to come from PMem. */
void pm_static_after_fork_in_child(void);

void pm_static_counts(struct pm_static *ret);

#endif
