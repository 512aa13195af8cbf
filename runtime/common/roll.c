/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/common/roll.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* Where the locks of a rank's chunks begin: far behind what the file holds. */
#define CLAIMS	    (INT64_C(1) << 40)
#define CLAIMS_RANK (INT64_C(1) << 32)

static struct {
	int fd; /* -1: none */
	long rank;
	dev_t device;
	ino_t inode;
} roll = {.fd = -1};

/* -1: there is no such variable, or it is no number. */
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

/* Is it the file that plan/apply/attach.c makes? Programs reuse the numbers of what they have
 * closed. */
static bool is_roll(int fd)
{
	static const char name[] = "/memfd:slurm-pmem-ranks";
	char path[32], target[sizeof(name)];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target)) >= (ssize_t)strlen(name) &&
	       !strncmp(target, name, strlen(name));
}

/* Some launchers, Python's subprocess by default, close what their children would inherit. */
static bool reopen(int fd)
{
	char path[64];
	int found;

	if (fcntl(fd, F_GETFD) >= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), fd);
	found = open(path, O_RDWR | O_NOCTTY);
	if (found < 0 || !is_roll(found)) {
		if (found >= 0)
			close(found);
		return false;
	}
	if (found == fd)
		return true;
	(void)dup2(found, fd);
	close(found);
	return is_roll(fd);
}

static struct flock chunks(short type, int64_t first, int64_t n)
{
	return (struct flock){.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = CLAIMS + roll.rank * CLAIMS_RANK + first,
		.l_len = n};
}

enum pm_roll pm_roll_open(void)
{
	long fd = number_in("PM_ATTACH_FD"), rank = number_in("PM_LOCAL_RANK");
	struct flock all;
	struct stat info;

	if (fd < 0 || rank < 0)
		return PM_ROLL_NONE;
	if ((!is_roll((int)fd) && !reopen((int)fd)) || fstat((int)fd, &info))
		return PM_ROLL_LOST;
	roll.fd = (int)fd;
	roll.rank = rank;
	roll.device = info.st_dev;
	roll.inode = info.st_ino;
	all = chunks(F_UNLCK, 0, CLAIMS_RANK);
	(void)fcntl(roll.fd, F_SETLK, &all);
	return PM_ROLL_OURS;
}

bool pm_roll_attach(void)
{
	pid_t expected, nobody = 0;
	off_t place = roll.rank * (off_t)sizeof(expected);

	if (roll.fd < 0)
		return false;
	if (pread(roll.fd, &expected, sizeof(expected), place) != (ssize_t)sizeof(expected))
		return false;
	return expected == getpid() &&
	       pwrite(roll.fd, &nobody, sizeof(nobody), place) == (ssize_t)sizeof(nobody);
}

static bool is_still_open(void)
{
	struct stat info;

	return roll.fd >= 0 && !fstat(roll.fd, &info) && info.st_dev == roll.device &&
	       info.st_ino == roll.inode;
}

/* The chunks before those that another process has, and these, of [first, first + n). */
static uint32_t before_others(uint32_t first, uint32_t n, uint32_t *ret_gone)
{
	struct flock other = chunks(F_WRLCK, first, n);
	int64_t origin = other.l_start, begin, end;

	*ret_gone = 0;
	if (fcntl(roll.fd, F_GETLK, &other) || other.l_type == F_UNLCK)
		return n;
	begin = other.l_start > origin ? other.l_start - origin : 0;
	end = other.l_len ? other.l_start + other.l_len - origin : n;
	*ret_gone = (uint32_t)((end < n ? end : n) - begin);
	return (uint32_t)begin;
}

/*
 * A program that has closed the file keeps what it has, and may have more: those it starts from now
 * on cannot know, and have nothing.
 */
uint32_t pm_roll_claim(uint32_t first, uint32_t n, uint32_t *ret_gone)
{
	uint32_t got = n;

	*ret_gone = 0;
	if (!is_still_open())
		return n;
	for (;;) {
		struct flock ours = chunks(F_WRLCK, first, got);

		if (!got || !fcntl(roll.fd, F_SETLK, &ours))
			return got;
		if (errno != EAGAIN && errno != EACCES)
			return got;
		got = before_others(first, got, ret_gone);
	}
}
