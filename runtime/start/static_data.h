/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_STATIC_DATA_H
#define PM_RUNTIME_STATIC_DATA_H

/*
 * Static data: .bss of the program and its libraries, which includes Fortran's COMMON blocks. No
 * allocator sees it (in CASTEP it is 17.6 of 18.7 GB: paper 001). The loader has mapped it when
 * this library starts, and hardly a page has been touched.
 *
 * A .bss of at least PM_STATIC_DATA_MIN bytes is bound by mbind(2) as a whole: to DRAM if the free
 * space has room for a reservation of its size (pm_heap_reserve_dram()), else to PMem. With
 * PM_STATIC=pmem it goes to PMem in any case.
 */
#include <stdbool.h>
#include <stdint.h>

#define PM_STATIC_DATA_MIN (UINT64_C(1) << 20) /* smaller ones are not bound */

struct pm_static_data {
	uint64_t dram_bytes, pmem_bytes;
};

/* Binds the static data of all loaded files. After pm_heap_start(), by one thread. */
void pm_static_data_place(bool in_pmem);

/* Handler of pthread_atfork(3): the child's copy-on-write pages come from PMem. */
void pm_static_data_after_fork_in_child(void);

void pm_static_data_counts(struct pm_static_data *ret);

#endif
