/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/written_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/heap/heap.h"

/* Linux 5.11 and 6.7, which the headers of older systems do not have. */
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif
#define SCAN_WRITTEN	 (UINT64_C(1) << 1) /* PAGE_IS_WRITTEN */
#define SCAN_PROTECT	 (UINT64_C(1) << 0) /* PM_SCAN_WP_MATCHING */
#define SCAN_CHECK_ASYNC (UINT64_C(1) << 1) /* PM_SCAN_CHECK_WPASYNC */
#define REGIONS		 64

/* struct pm_scan_arg and struct page_region of <linux/fs.h>. */
struct scan {
	uint64_t size, flags, start, end, walk_end, regions, n_regions, pages_max;
	uint64_t inverted, mask, any_mask, return_mask;
};

struct region {
	uint64_t start, end, categories;
};

#define SCAN _IOWR('f', 16, struct scan)

static struct {
	int userfault, pagemap;
} files = {-1, -1};

static int open_userfault(void)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_WP_ASYNC};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, UFFDIO_API, &api))
		return fd;
	close(fd);
	return -EOPNOTSUPP;
}

int pm_written_pages_open(void)
{
	files.userfault = open_userfault();
	if (files.userfault < 0)
		return files.userfault;
	files.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	return files.pagemap < 0 ? -errno : 0;
}

int pm_written_pages_begin(void)
{
	struct uffdio_register all = {
		.range = {pm_heap.base, pm_heap.size}, .mode = UFFDIO_REGISTER_MODE_WP};

	if (files.pagemap < 0)
		return -EBADF;
	return ioctl(files.userfault, UFFDIO_REGISTER, &all) ? -errno : 0;
}

void pm_written_pages_end(void)
{
	struct uffdio_range all = {pm_heap.base, pm_heap.size};

	(void)ioctl(files.userfault, UFFDIO_UNREGISTER, &all);
}

/* Written bytes of [start, end). Pages in it that were never protected count as written, too. */
static uint64_t scan(uintptr_t start, uintptr_t end)
{
	struct region regions[REGIONS];
	uint64_t bytes = 0;

	while (start < end) {
		struct scan scan = {.size = sizeof(scan),
			.flags = SCAN_PROTECT | SCAN_CHECK_ASYNC,
			.start = start,
			.end = end,
			.regions = (uintptr_t)regions,
			.n_regions = REGIONS,
			.mask = SCAN_WRITTEN,
			.return_mask = SCAN_WRITTEN};
		int n = ioctl(files.pagemap, SCAN, &scan);

		if (n < 0 || scan.walk_end <= start)
			break;
		for (int i = 0; i < n; i++)
			bytes += regions[i].end - regions[i].start;
		start = scan.walk_end;
	}
	return bytes;
}

uint64_t pm_written_pages_take(uintptr_t start, uint64_t bytes)
{
	uint64_t granules = (bytes + PM_GRANULE - 1) / PM_GRANULE, found = 0;

	if (granules <= PM_WRITTEN_PIECES)
		return scan(start, start + granules * PM_GRANULE);
	for (uint64_t i = 0; i < PM_WRITTEN_PIECES; i++) {
		uintptr_t at = start + i * granules / PM_WRITTEN_PIECES * PM_GRANULE;

		found += scan(at, at + PM_GRANULE);
	}
	return found * granules / PM_WRITTEN_PIECES;
}
