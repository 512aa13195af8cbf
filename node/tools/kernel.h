/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_KERNEL_H
#define PM_KERNEL_H

/* The running kernel's numbers of memory, read below a root directory ("/" on a real node). */
#include <stdint.h>

#include "base/err.h"
#include "site/modes.h"

#define PM_BOOT_ID_MAX 40

struct pm_kernel {
	char boot_id[PM_BOOT_ID_MAX]; /* proc/sys/kernel/random/boot_id */
	uint64_t mem_total_bytes;     /* MemTotal of proc/meminfo, without the kernel's own part */
	uint64_t n_regions;	      /* sys/bus/nd/devices/region* that are persistent memory */
	uint64_t region_bytes;	      /* their sum */
	uint64_t n_flat_regions;      /* regions with memory that is online as system-ram */
	uint64_t flat_bytes;	   /* MemTotal of their NUMA nodes, which is in mem_total_bytes */
	uint64_t side_cache_bytes; /* sys/devices/system/node/node<n>/memory_side_cache, the sum;
				    * not 0 in Memory Mode, if the firmware has an HMAT */
};

/* Reads all. -EBADMSG: a file cannot be parsed. On failure *ret is untouched. */
int pm_kernel_read(const char *root, struct pm_kernel *ret, struct pm_err *err);

/* MemTotal without flat memory: the memory that the firmware gave the kernel at boot. */
uint64_t pm_kernel_boot_memory(const struct pm_kernel *kernel);

/* Memory for jobs in a mode; in flat with the regions, even while they are not yet online. */
uint64_t pm_kernel_memory_in(const struct pm_kernel *kernel, enum pm_mode mode);

/* boot_id alone. */
int pm_kernel_boot_id(const char *root, char ret[PM_BOOT_ID_MAX], struct pm_err *err);

#endif
