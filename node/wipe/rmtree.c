/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/wipe/rmtree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node/wipe/takeover.h"

struct removal {
	DIR *top;
	uint64_t next_name; /* number of the next entry that is moved up */
	bool moved_on;	    /* an entry was removed or moved up in this round */
	int postponed;	    /* the errno of an entry that is left for the next round; 0: none */
};

/*
 * A directory with this flag accepts only entries of its own project: rename(2) of others into it
 * fails with EXDEV (ext4, XFS).
 */
static void forget_project(int fd)
{
	struct fsxattr attr;

	if (!ioctl(fd, FS_IOC_FSGETXATTR, &attr) && (attr.fsx_xflags & FS_XFLAG_PROJINHERIT)) {
		attr.fsx_xflags &= ~(unsigned)FS_XFLAG_PROJINHERIT;
		(void)ioctl(fd, FS_IOC_FSSETXATTR, &attr);
	}
}

static int enter(int dir_fd, const char *name, DIR **ret)
{
	cleanup_close int fd = pm_take_over(dir_fd, name);

	if (fd < 0)
		return fd;
	*ret = fdopendir(fd);
	if (!*ret)
		return -errno;
	fd = -1;
	return 0;
}

static int unlink_entry(int dir_fd, const char *name, int flags)
{
	if (!flags)
		pm_empty_file(dir_fd, name);
	if (!unlinkat(dir_fd, name, flags) || errno == ENOENT)
		return 0;
	if (errno == EPERM && pm_make_ordinary(dir_fd, name) && !unlinkat(dir_fd, name, flags))
		return 0;
	return -errno;
}

/* Moves an entry to the top, under an unused name. */
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
		if (rc == -EPERM && pm_make_ordinary(dir_fd, name))
			rc = -EEXIST;
	} while (rc == -EEXIST);
	return rc;
}

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Errors that the removal of other entries may resolve; a mount point fails in each round. */
static bool can_wait(int rc)
{
	return rc == -ENOSPC || rc == -EMLINK || rc == -EBUSY || rc == -EXDEV;
}

static int postpone(struct removal *removal, int rc)
{
	if (!can_wait(rc))
		return rc;
	removal->postponed = rc;
	return 0;
}

static int remove_any(int dir_fd, const char *name)
{
	int rc = unlink_entry(dir_fd, name, 0);

	return rc == -EISDIR ? unlink_entry(dir_fd, name, AT_REMOVEDIR) : rc;
}

/* Removes the first entry that can be removed; else *ret_down is a directory that is not empty. */
static int remove_one(DIR *dir, char ret_down[NAME_MAX + 1])
{
	const struct dirent *entry;

	*ret_down = '\0';
	while ((entry = readdir(dir))) {
		if (is_dot(entry->d_name))
			continue;
		if (!remove_any(dirfd(dir), entry->d_name))
			return 0;
		if (entry->d_type == DT_DIR)
			snprintf(ret_down, NAME_MAX + 1, "%s", entry->d_name);
	}
	return -ENOTEMPTY;
}

/* Makes room on a full file system: removes an entry at the end of a path. */
static int free_below(int dir_fd, const char *name)
{
	char down[NAME_MAX + 1];
	cleanup_dir DIR *dir = NULL;
	int rc = enter(dir_fd, name, &dir);

	if (rc)
		return rc;
	while ((rc = remove_one(dir, down)) && *down) {
		DIR *next = NULL;

		if (enter(dirfd(dir), down, &next))
			return rc;
		closedir(dir);
		dir = next;
	}
	return rc;
}

/*
 * In a directory of the second level: files are removed, directories with entries move to the top.
 */
static int clear_entry(struct removal *removal, int dir_fd, const char *name)
{
	int rc;

	do {
		rc = remove_any(dir_fd, name);
		if (rc == -ENOTEMPTY || rc == -EEXIST)
			rc = move_up(removal, dir_fd, name);
	} while (rc == -ENOSPC && !free_below(dir_fd, name));
	if (!rc)
		removal->moved_on = true;
	return postpone(removal, rc);
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

/* At the top. A directory with entries that were made meanwhile is left for the next round. */
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
	return postpone(removal, rc);
}

/* One round over the entries of the top. */
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
		removal->postponed = 0;
		rc = empty(removal, &found);
	} while (!rc && found && removal->moved_on);
	if (!rc && found)
		return removal->postponed ? removal->postponed : -ENOTEMPTY;
	return rc;
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
