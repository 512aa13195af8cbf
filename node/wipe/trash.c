/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/wipe/trash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node/wipe/detach.h"
#include "node/wipe/rmtree.h"
#include "node/wipe/takeover.h"

#define PREFIX	  "trash_"
#define MAX_TRASH 1000000

bool pm_trash_is_name(const char *name)
{
	const char *number = name + strlen(PREFIX);

	return !strncmp(name, PREFIX, strlen(PREFIX)) && *number &&
	       !number[strspn(number, "0123456789")];
}

static int rename_to_trash(int root_fd, const char *name)
{
	char trash[sizeof(PREFIX) + 12];

	for (unsigned i = 0; i < MAX_TRASH; i++) {
		snprintf(trash, sizeof(trash), PREFIX "%u", i);
		if (!renameat2(root_fd, name, root_fd, trash, RENAME_NOREPLACE))
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/*
 * Two passes: mounts that the owner makes during the first are found by the second, as the
 * directory is closed between them.
 */
static int close_to_owner(int root_fd, const char *root_path, const char *name, struct pm_err *err)
{
	cleanup_close int fd = -1;
	int rc = pm_detach(root_fd, root_path, name, err);

	fd = pm_take_over(root_fd, name);
	if (fd < 0)
		return rc ? rc : pm_err_sys(err, fd, "take directory '%s' over", name);
	return pm_detach(root_fd, root_path, name, err);
}

static bool is_there(int root_fd, const char *name)
{
	struct stat st;

	return !fstatat(root_fd, name, &st, AT_SYMLINK_NOFOLLOW) || errno != ENOENT;
}

int pm_trash_make(
	int root_fd, const char *root_path, const char *name, bool *ret_left, struct pm_err *err)
{
	struct pm_err mount_err = {0};
	int rc, name_rc;

	*ret_left = false;
	if (!is_there(root_fd, name))
		return 0;
	rc = close_to_owner(root_fd, root_path, name, &mount_err);
	if (!unlinkat(root_fd, name, AT_REMOVEDIR))
		return 0;
	*ret_left = true;
	name_rc = rename_to_trash(root_fd, name);
	if (name_rc && rc)
		return pm_err_set(err, rc, "%s", mount_err.text);
	return name_rc ? pm_err_sys(err, name_rc, "rename directory '%s'", name) : 0;
}

/* The next name of trash; NULL: there is none. */
static const char *next_of(DIR *dir)
{
	const struct dirent *entry;

	while ((entry = readdir(dir)))
		if (pm_trash_is_name(entry->d_name))
			return entry->d_name;
	return NULL;
}

static DIR *open_root(int root_fd)
{
	int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

int pm_trash_find(int root_fd, bool *ret, struct pm_err *err)
{
	cleanup_dir DIR *dir = open_root(root_fd);

	if (!dir)
		return pm_err_sys(err, -errno, "read the root of a file system");
	*ret = next_of(dir) != NULL;
	return 0;
}

int pm_trash_empty(int root_fd, const char *root_path, struct pm_err *err)
{
	cleanup_dir DIR *dir = open_root(root_fd);
	struct pm_err first = {0};
	const char *name;

	if (!dir)
		return pm_err_sys(err, -errno, "open '%s'", root_path);
	while ((name = next_of(dir))) {
		struct pm_err one;

		(void)pm_detach(root_fd, root_path, name, NULL);
		if (pm_rmtree(root_fd, name, &one) && !first.code)
			first = one;
	}
	return first.code ? pm_err_set(err, first.code, "%s: %s", root_path, first.text) : 0;
}
