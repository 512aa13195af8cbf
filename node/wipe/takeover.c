/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/wipe/takeover.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Flags that a setuid program of the site, or an administrator, may have set. */
#define STUBBORN_FLAGS (FS_IMMUTABLE_FL | FS_APPEND_FL)

/*
 * In blocks of 512 bytes. For smaller files the system calls cost more than the space: a process
 * has few files open.
 */
#define LARGE_BLOCKS 2048

/* Opens an entry on the file system of the directory, without following links. */
static int open_below(int dir_fd, const char *name, int flags)
{
	const struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	long fd = syscall(SYS_openat2, dir_fd, name, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static bool make_ordinary(int fd)
{
	int flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) || !(flags & STUBBORN_FLAGS))
		return false;
	flags &= ~STUBBORN_FLAGS;
	(void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
	return true;
}

/* Only files and directories have such flags; a FIFO or a device must not even be opened. */
bool pm_make_ordinary(int dir_fd, const char *name)
{
	cleanup_close int fd = -1;
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
		(!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return false;
	fd = open_below(dir_fd, name, O_RDONLY);
	return fd >= 0 && make_ordinary(fd);
}

static int take_over(int dir_fd, const char *name)
{
	cleanup_close int fd = open_below(dir_fd, name, O_RDONLY | O_DIRECTORY);
	int ret = fd;

	if (fd < 0)
		return fd;
	(void)make_ordinary(fd);
	if (fchown(fd, geteuid(), getegid()) || fchmod(fd, 0700))
		return -errno;
	fd = -1;
	return ret;
}

/* For tests without root: the owner's bits must be set before he can open the directory. */
int pm_take_over(int dir_fd, const char *name)
{
	int ret = take_over(dir_fd, name);

	if (ret != -EACCES || geteuid() == 0)
		return ret;
	if (fchmodat(dir_fd, name, 0700, 0))
		return -errno;
	return take_over(dir_fd, name);
}

/* A file with another link may be in use in a directory that stays. */
static bool is_ours_alone(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_nlink == 1 && st->st_blocks >= LARGE_BLOCKS;
}

void pm_empty_file(int dir_fd, const char *name)
{
	cleanup_close int fd = -1;
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) || !is_ours_alone(&st))
		return;
	fd = open_below(dir_fd, name, O_WRONLY);
	if (fd >= 0 && !fstat(fd, &st) && is_ours_alone(&st))
		(void)!ftruncate(fd, 0);
}
