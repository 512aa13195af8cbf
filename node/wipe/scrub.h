/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SCRUB_H
#define PM_SCRUB_H

/*
 * Makes devices read as zeros, all of them at once, at the speed of the device: each page is read,
 * and written only when it is not zero. That saves the endurance of persistent memory, and reading
 * it is several times faster than writing. Every page that was written is read again, so that when
 * it succeeds each byte of the device was seen to be zero after the last write to it; reading all
 * once more would tell no more and cost as much as the first look.
 *
 * /dev/daxX.Y and plain files are mapped and written past the processor's caches; block devices
 * are read and written directly (O_DIRECT), which also heals bad blocks, and only while nobody has
 * them mounted or open for himself.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PM_SCRUB_PAGE_BYTES 4096

struct pm_scrub_target {
	const char *path; /* "/dev/dax0.0", "/dev/pmem1" or a plain file */
	int numa_node;	  /* whose processors do it; -1: any */
};

struct pm_scrub_options {
	const char *fs_root; /* below which sys is read: "/" */
	bool discard;	     /* let the device zero itself first, where it offers that */
	bool by_write;	     /* plain files are treated like block devices */
	unsigned report_s;   /* how often `progress` is called; 0 never */
	void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
};

struct pm_scrub_result {
	uint64_t size_bytes;	/* of all devices */
	uint64_t written_bytes; /* that were not zero */
	uint64_t elapsed_ms;
	size_t n_discarded; /* devices that zeroed themselves */
};

/*
 * -EBUSY a block device is in use, -ENOTSUP it is of none of these kinds, -EIO a page could not be
 * read or is not zero after it was written; else an errno. The sentence names the device. On
 * failure other devices may be zero or not, and *ret is untouched.
 */
int pm_scrub(const struct pm_scrub_target *targets, size_t n,
	const struct pm_scrub_options *options, struct pm_scrub_result *ret, struct pm_err *err);

/* The whole sentence of a speed needs it: bytes per ms as MB/s; 0 ms count as 1. */
uint64_t pm_scrub_mb_per_s(uint64_t bytes, uint64_t elapsed_ms);

#endif
