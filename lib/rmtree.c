/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "lib/rmtree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cleanup.h"

/* Set by a setuid program of the site's, or by an administrator. */
#define STUBBORN_FLAGS (FS_IMMUTABLE_FL | FS_APPEND_FL)

struct removal {
	DIR *top;
	uint64_t next_name; /* of what is moved up */
	bool moved_on;	    /* something was removed since the top was last looked at */
};

/* Within the directory, on its own file system, through no link. */
static int open_below(int dir_fd, const char *name, uint64_t flags)
{
	const struct open_how how = {
		.flags = flags | O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	long fd = syscall(SYS_openat2, dir_fd, name, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static bool is_stubborn(int fd)
{
	int flags = 0;

	return !ioctl(fd, FS_IOC_GETFLAGS, &flags) && (flags & STUBBORN_FLAGS);
}

static void make_ordinary(int fd)
{
	int flags = 0;

	if (!ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
		flags &= ~STUBBORN_FLAGS;
		(void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
}

/* Only files and directories have such flags; a FIFO or a device must not even be opened. */
static bool make_entry_ordinary(int dir_fd, const char *name)
{
	cleanup_close int fd = -1;
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
		(!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return false;
	fd = open_below(dir_fd, name, 0);
	if (fd < 0 || !is_stubborn(fd))
		return false;
	make_ordinary(fd);
	return true;
}

/* Things that are moved into it keep the project that they have (see ext4 and XFS on EXDEV). */
static void forget_project(int fd)
{
	struct fsxattr attr;

	if (!ioctl(fd, FS_IOC_FSGETXATTR, &attr) && (attr.fsx_xflags & FS_XFLAG_PROJINHERIT)) {
		attr.fsx_xflags &= ~(unsigned)FS_XFLAG_PROJINHERIT;
		(void)ioctl(fd, FS_IOC_FSSETXATTR, &attr);
	}
}

/* Opens a directory and makes it ours alone. */
static int take_over(int dir_fd, const char *name, DIR **ret)
{
	cleanup_close int fd = open_below(dir_fd, name, O_DIRECTORY);

	if (fd < 0)
		return fd;
	if (is_stubborn(fd))
		make_ordinary(fd);
	if (fchown(fd, geteuid(), getegid()) || fchmod(fd, 0700))
		return -errno;
	*ret = fdopendir(fd);
	if (!*ret)
		return -errno;
	fd = -1;
	return 0;
}

/* One who may not list a directory cannot open it before the owner's bits are set. */
static int enter(int dir_fd, const char *name, DIR **ret)
{
	int rc = take_over(dir_fd, name, ret);

	if (rc != -EACCES || geteuid() == 0)
		return rc;
	if (fchmodat(dir_fd, name, 0700, 0))
		return -errno;
	return take_over(dir_fd, name, ret);
}

static int unlink_entry(int dir_fd, const char *name, int flags)
{
	if (!unlinkat(dir_fd, name, flags) || errno == ENOENT)
		return 0;
	if (errno == EPERM && make_entry_ordinary(dir_fd, name) && !unlinkat(dir_fd, name, flags))
		return 0;
	return -errno;
}

/* To the top, under a name that nobody has. */
static int move_up(struct removal *removal, int dir_fd, const char *name)
{
	char new_name[40];
	int rc;

	do {
		snprintf(new_name, sizeof(new_name), "pm-%llu",
			(unsigned long long)removal->next_name++);
		rc = renameat2(dir_fd, name, dirfd(removal->top), new_name, RENAME_NOREPLACE)
			     ? -errno
			     : 0;
		if (rc == -EPERM && make_entry_ordinary(dir_fd, name))
			rc = -EEXIST;
	} while (rc == -EEXIST);
	return rc;
}

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* In a directory of the second level: files go, directories that are not empty go to the top. */
static int clear_entry(struct removal *removal, int dir_fd, const char *name)
{
	int rc = unlink_entry(dir_fd, name, 0);

	if (rc == -EISDIR)
		rc = unlink_entry(dir_fd, name, AT_REMOVEDIR);
	if (rc == -ENOTEMPTY || rc == -EEXIST)
		rc = move_up(removal, dir_fd, name);
	return rc;
}

static int clear_directory(struct removal *removal, const char *name)
{
	cleanup_dir DIR *dir = NULL;
	const struct dirent *entry;
	int rc = enter(dirfd(removal->top), name, &dir);

	while (!rc && (entry = readdir(dir)))
		if (!is_dot(entry->d_name))
			rc = clear_entry(removal, dirfd(dir), entry->d_name);
	return rc;
}

/* At the top. A directory that got new entries while it was read is met again on the next round. */
static int remove_entry(struct removal *removal, const char *name)
{
	int fd = dirfd(removal->top), rc = unlink_entry(fd, name, 0);

	if (rc == -EISDIR) {
		rc = clear_directory(removal, name);
		if (!rc)
			rc = unlink_entry(fd, name, AT_REMOVEDIR);
		if (rc == -ENOTEMPTY || rc == -EEXIST)
			return 0;
	}
	if (!rc)
		removal->moved_on = true;
	return rc;
}

/* Rounds over the top until one finds nothing. */
static int empty(struct removal *removal, bool *ret_found)
{
	const struct dirent *entry;
	int rc = 0;

	*ret_found = false;
	rewinddir(removal->top);
	while (!rc && (entry = readdir(removal->top))) {
		if (is_dot(entry->d_name))
			continue;
		*ret_found = true;
		rc = remove_entry(removal, entry->d_name);
	}
	return rc;
}

static int empty_all(struct removal *removal)
{
	bool found = false;
	int rc = 0;

	do {
		removal->moved_on = false;
		rc = empty(removal, &found);
	} while (!rc && found && removal->moved_on);
	return !rc && found ? -ENOTEMPTY : rc;
}

static int complain(int rc, const char *name, struct pm_err *err)
{
	if (rc == -EXDEV || rc == -EBUSY)
		return pm_err_set(err, -EBUSY,
			"remove directory '%s': something is mounted in it, unmount it", name);
	return pm_err_sys(err, rc, "remove directory '%s'", name);
}

int pm_rmtree(int dir_fd, const char *name, struct pm_err *err)
{
	cleanup_dir DIR *top = NULL;
	struct removal removal = {0};
	int rc;

	if (!*name || is_dot(name) || strchr(name, '/'))
		return pm_err_set(err, -EINVAL, "remove directory '%s': no single name", name);
	rc = enter(dir_fd, name, &top);
	if (rc == -ENOENT)
		return 0;
	if (rc)
		return complain(rc, name, err);
	forget_project(dirfd(top));
	removal.top = top;
	rc = empty_all(&removal);
	if (!rc && unlinkat(dir_fd, name, AT_REMOVEDIR) && errno != ENOENT)
		rc = -errno;
	return rc ? complain(rc, name, err) : 0;
}
