/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/common/rank_registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Byte ranges of the record locks, one byte a chunk, far behind the end of the file: record locks
 * may lie there, fcntl(2).
 */
#define LOCKS_START    (INT64_C(1) << 40)
#define LOCKS_PER_RANK (INT64_C(1) << 32)

static struct {
	int fd; /* -1: none */
	long rank;
	dev_t device;
	ino_t inode;
} registry = {.fd = -1};

/* Value of a variable; -1: unset, or not a number. */
static long number_in(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long number;

	if (!text || *text < '0' || *text > '9')
		return -1;
	number = strtol(text, &end, 10);
	return *end || number > 0x7fffff ? -1 : number;
}

/*
 * True for the memfd that plan/apply/attach.c makes. A program that closed it may have another file
 * under the same number.
 */
static bool is_registry(int fd)
{
	static const char name[] = "/memfd:slurm-pmem-ranks";
	char path[32], target[sizeof(name)];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target)) >= (ssize_t)strlen(name) &&
	       !strncmp(target, name, strlen(name));
}

/*
 * Opens the registry through the parent's descriptor. Some programs close all descriptors that
 * their children would inherit, as Python's subprocess does by default.
 */
static bool reopen(int fd)
{
	char path[64];
	int found;

	if (fcntl(fd, F_GETFD) >= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), fd);
	found = open(path, O_RDWR | O_NOCTTY);
	if (found < 0 || !is_registry(found)) {
		if (found >= 0)
			close(found);
		return false;
	}
	if (found == fd)
		return true;
	(void)dup2(found, fd);
	close(found);
	return is_registry(fd);
}

static struct flock chunk_lock(short type, int64_t first, int64_t n)
{
	return (struct flock){.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = LOCKS_START + registry.rank * LOCKS_PER_RANK + first,
		.l_len = n};
}

enum pm_registry pm_registry_open(void)
{
	long fd = number_in("PM_ATTACH_FD"), rank = number_in("PM_LOCAL_RANK");
	struct flock lock;
	struct stat info;

	if (fd < 0 || rank < 0)
		return PM_REGISTRY_ABSENT;
	if ((!is_registry((int)fd) && !reopen((int)fd)) || fstat((int)fd, &info))
		return PM_REGISTRY_LOST;
	registry.fd = (int)fd;
	registry.rank = rank;
	registry.device = info.st_dev;
	registry.inode = info.st_ino;
	lock = chunk_lock(F_UNLCK, 0, LOCKS_PER_RANK);
	(void)fcntl(registry.fd, F_SETLK, &lock);
	return PM_REGISTRY_OPEN;
}

bool pm_registry_attach(void)
{
	pid_t expected, cleared = 0;
	off_t offset = registry.rank * (off_t)sizeof(expected);

	if (registry.fd < 0)
		return false;
	if (pread(registry.fd, &expected, sizeof(expected), offset) != (ssize_t)sizeof(expected))
		return false;
	return expected == getpid() &&
	       pwrite(registry.fd, &cleared, sizeof(cleared), offset) == (ssize_t)sizeof(cleared);
}

static bool is_still_open(void)
{
	struct stat info;

	return registry.fd >= 0 && !fstat(registry.fd, &info) && info.st_dev == registry.device &&
	       info.st_ino == registry.inode;
}

/*
 * Returns how many chunks of [first, first + n) are before the first one that another process
 * holds; *ret_held: how many that process holds from there on.
 */
static uint32_t unclaimed_prefix(uint32_t first, uint32_t n, uint32_t *ret_held)
{
	struct flock other = chunk_lock(F_WRLCK, first, n);
	int64_t base = other.l_start, begin, end;

	*ret_held = 0;
	if (fcntl(registry.fd, F_GETLK, &other) || other.l_type == F_UNLCK)
		return n;
	begin = other.l_start > base ? other.l_start - base : 0;
	end = other.l_len ? other.l_start + other.l_len - base : n;
	*ret_held = (uint32_t)((end < n ? end : n) - begin);
	return (uint32_t)begin;
}

/*
 * A process that has closed the registry has lost its locks, and its children cannot open the
 * registry and so claim nothing (PM_REGISTRY_LOST). It may use all chunks.
 */
uint32_t pm_registry_claim_chunks(uint32_t first, uint32_t n, uint32_t *ret_held)
{
	uint32_t got = n;

	*ret_held = 0;
	if (!is_still_open())
		return n;
	/* Another process may claim or end between F_SETLK and F_GETLK: try again with the rest. */
	for (;;) {
		struct flock lock = chunk_lock(F_WRLCK, first, got);

		if (!got || !fcntl(registry.fd, F_SETLK, &lock))
			return got;
		if (errno != EAGAIN && errno != EACCES)
			return got;
		got = unclaimed_prefix(first, got, ret_held);
	}
}
