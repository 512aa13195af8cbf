/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SCRUB_H
#define PM_SCRUB_H

/*
 * Makes devices read as zeros, all in parallel, at the speed of the devices. Each page is read, and
 * written only if it is not zero: that saves the endurance of persistent memory, and reads are
 * several times faster than writes. Each page that was written is read again, so on success every
 * byte was seen to be zero after its last write. A second pass over everything would prove no more.
 *
 * /dev/daxX.Y and plain files are mapped, and written past the CPU's caches. Block devices are
 * read and written with O_DIRECT, which also heals bad blocks, and only while they are not mounted
 * and not opened exclusively.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PM_SCRUB_PAGE_BYTES 4096

struct pm_scrub_target {
	const char *path; /* "/dev/dax0.0", "/dev/pmem1" or a plain file */
	int numa_node;	  /* its CPUs run the threads; -1: any */
};

struct pm_scrub_options {
	const char *fs_root; /* parent of sys/: "/" */
	bool discard;	     /* let the device zero itself first, if it can */
	bool by_write;	     /* plain files are read and written, as block devices are */
	unsigned report_s;   /* interval of `progress`; 0: never */
	void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
};

struct pm_scrub_result {
	uint64_t size_bytes;	/* of all devices */
	uint64_t written_bytes; /* of pages that were not zero or could not be read */
	uint64_t elapsed_ms;
	size_t n_discarded; /* devices that zeroed themselves */
};

/*
 * -EBUSY: a block device is in use; -ENOTSUP: a device of another kind; -EIO: a page cannot be
 * read, or is not zero after it was written; else an errno. The sentence names the device. After a
 * failure the devices may be zero or not, and *ret is untouched.
 */
int pm_scrub(const struct pm_scrub_target *targets, size_t n,
	const struct pm_scrub_options *options, struct pm_scrub_result *ret, struct pm_err *err);

/* Bytes per millisecond as MB/s; 0 ms count as 1. */
uint64_t pm_scrub_mb_per_s(uint64_t bytes, uint64_t elapsed_ms);

#endif
