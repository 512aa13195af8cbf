/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "measure/area.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

#define MEMINFO_BYTES 65536
#define NODES	      1024
#define WORD_BITS     (sizeof(unsigned long) * CHAR_BIT)

static int bind_to(void *at, size_t bytes, int node)
{
	unsigned long mask[NODES / WORD_BITS] = {0};

	mask[(unsigned)node / WORD_BITS] = 1UL << (unsigned)node % WORD_BITS;
	/* The kernel reads one bit less than it is told. */
	return syscall(SYS_mbind, at, bytes, MPOL_BIND, mask, NODES + 1UL, 0) ? -errno : 0;
}

/* Allocates all pages: MADV_POPULATE_WRITE fails if the node has no free memory, a store is killed.
 */
static int populate(const struct pm_area *area, struct pm_err *err)
{
	if (madvise(area->at, area->bytes, MADV_POPULATE_WRITE))
		return pm_err_sys(err, -errno, "fill %zu MiB", area->bytes >> 20);
	return 0;
}

static int make_on_node(int node, struct pm_area *area, struct pm_err *err)
{
	int rc;

	area->at =
		mmap(NULL, area->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area->at == MAP_FAILED)
		return pm_err_sys(err, -errno, "map %zu MiB", area->bytes >> 20);
	madvise(area->at, area->bytes, MADV_HUGEPAGE);
	rc = bind_to(area->at, area->bytes, node);
	return rc ? pm_err_sys(err, rc, "bind memory") : populate(area, err);
}

static void map_file(int fd, struct pm_area *area)
{
	const int may = PROT_READ | PROT_WRITE;

	area->at = mmap(NULL, area->bytes, may, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
	area->is_dax = area->at != MAP_FAILED;
	if (area->at == MAP_FAILED && errno == EOPNOTSUPP)
		area->at = mmap(NULL, area->bytes, may, MAP_SHARED, fd, 0);
}

static int make_in(const char *dir, struct pm_area *area, struct pm_err *err)
{
	cleanup_close int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return pm_err_sys(err, -errno, "make a file");
	rc = posix_fallocate(fd, 0, (off_t)area->bytes);
	if (rc)
		return pm_err_sys(err, -rc, "reserve %zu MiB", area->bytes >> 20);
	map_file(fd, area);
	if (area->at == MAP_FAILED)
		return pm_err_sys(err, -errno, "map a file");
	return populate(area, err);
}

int pm_area_make(
	const struct pm_area_place *place, size_t bytes, struct pm_area *ret, struct pm_err *err)
{
	struct pm_area area = {.at = MAP_FAILED, .bytes = bytes};
	int rc = place->dir ? make_in(place->dir, &area, err)
			    : make_on_node(place->node, &area, err);

	if (!rc) {
		*ret = area;
		return 0;
	}
	if (area.at != MAP_FAILED)
		munmap(area.at, bytes);
	if (place->dir)
		return pm_err_prefix(err, "directory '%s'", place->dir);
	return pm_err_prefix(err, "NUMA node %d", place->node);
}

/* "Node 0 MemFree:  1234 kB" */
static size_t bytes_of(const char *meminfo, const char *key)
{
	const char *at = strstr(meminfo, key);

	return at ? strtoul(at + strlen(key), NULL, 10) * 1024 : 0;
}

/* Pages of files are given up for others. */
static size_t room_on_node(int node)
{
	cleanup_free char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	if (pm_file_read(AT_FDCWD, path, MEMINFO_BYTES, &text, NULL, NULL))
		return 0;
	return bytes_of(text, " MemFree:") + bytes_of(text, " FilePages:") -
	       bytes_of(text, " Shmem:");
}

size_t pm_area_room(const struct pm_area_place *place)
{
	struct statvfs fs;

	if (!place->dir)
		return room_on_node(place->node);
	return statvfs(place->dir, &fs) ? 0 : (size_t)fs.f_bavail * fs.f_frsize;
}

void pm_area_done(struct pm_area *area)
{
	if (area->bytes)
		munmap(area->at, area->bytes);
	*area = (struct pm_area){0};
}
