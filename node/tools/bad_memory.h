/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_BAD_MEMORY_H
#define PM_BAD_MEMORY_H

/* Memory that the kernel has found bad: pages, in its log, and blocks, in lists of the regions. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct pm_bad_page {
	uint64_t address;
	bool is_dax; /* of a file or a device on persistent memory, not of memory that is online */
};

/*
 * The pages of which ROOT/dev/kmsg says that they failed within the last `seconds`, "Memory
 * failure: 0x14c600: recovery action for dax page: Recovered" (mm/memory-failure.c of Linux 4.10
 * and later). Returns their number, at most `max`; 0 if the log cannot be read.
 */
size_t pm_bad_pages(const char *root, uint64_t seconds, struct pm_bad_page *ret, size_t max);

/* The NUMA node with this address online; -1: none. */
int pm_bad_page_node(const char *root, uint64_t address);

/* The socket of the region with this address; -1: none. */
int pm_bad_page_socket(const char *root, uint64_t address);

/*
 * The bad blocks of 512 bytes that the kernel knows of in a region, below the descriptor of a root
 * directory. -ENOENT, -ENXIO: it is not in use, or not of persistent memory; -EBADMSG.
 */
int pm_bad_blocks_of(int root_fd, const char *region, uint64_t *ret, struct pm_err *err);

/* The same in all regions of a socket, as far as they can be read. */
uint64_t pm_bad_blocks(const char *root, unsigned socket);

#endif
